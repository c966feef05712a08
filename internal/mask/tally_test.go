package mask_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"warder/internal/mask"
)

// TestTally: outputs over one set are counted apart, and what their maker was lent is no guess.
func TestTally(t *testing.T) {
	set := exactly(t, value{"A", "aaaabbbb"}, value{"B", "ccccdddd"}, value{"C", "eeeeffff"})
	defer set.Destroy()
	known := func(value int) bool { return value == 1 }
	for _, row := range []struct {
		text         string
		all, unknown int
		fails        bool
	}{
		{"nothing", 0, 0, false},
		{"aaaabbbb and aaaabbbb", 1, 1, false},
		{"aaaabbbb and ccccdddd", 2, 1, false},
		{"aaaabbbb and eeeeffff", 2, 2, true},
	} {
		tally := &mask.Tally{Most: 1, Known: known}
		var out, beside bytes.Buffer
		w, other := mask.NewCountedWriter(&out, set, tally), mask.NewCountedWriter(&beside, set, tally)
		_, err := io.WriteString(w, row.text)
		err = errors.Join(err, w.Close())
		if errors.Is(err, mask.ErrTooMany) != row.fails {
			t.Errorf("%q: %v", row.text, err)
		}
		if all, unknown := tally.Hidden(); all != row.all || unknown != row.unknown {
			t.Errorf("%q: %d hidden, %d unknown", row.text, all, unknown)
		}
		_, err = io.WriteString(other, "aaaabbbb")
		if err = errors.Join(err, other.Close()); errors.Is(err, mask.ErrTooMany) != row.fails {
			t.Errorf("beside %q: %v", row.text, err)
		}
	}
}

// TestTooManyValues: who prints many different values is testing guesses. It counts over all writers of an output, the same
// ones count once, and the output ends before the mark that is one too many.
func TestTooManyValues(t *testing.T) {
	values := keys(22)
	set := exactly(t, values...)
	tally := &mask.Tally{Most: 20}
	var out, other bytes.Buffer
	stdout, stderr := mask.NewCountedWriter(&out, set, tally), mask.NewCountedWriter(&other, set, tally)
	for range 3 {
		for _, v := range values[:19] {
			if _, err := io.WriteString(stdout, v.bytes+"\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := io.WriteString(stderr, values[19].bytes+"\n"); err != nil {
		t.Fatalf("the twentieth: %v", err)
	}
	before := out.String()
	for _, w := range []io.Writer{stdout, stderr, stdout} {
		if _, err := io.WriteString(w, "text "+values[20].bytes); !errors.Is(err, mask.ErrTooMany) {
			t.Errorf("one more: %v", err)
		}
	}
	if out.String() != before || other.String() != "****(KEY19)\n" {
		t.Errorf("came out: %q, %q", out.String()[len(before):], other.String())
	}
	if err := stdout.Close(); !errors.Is(err, mask.ErrTooMany) {
		t.Errorf("Close: %v", err)
	}
}
