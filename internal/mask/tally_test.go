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
