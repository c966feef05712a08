package mask_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"warder/internal/mask"
	"warder/internal/secret"
)

// weakSpot is values and a text that make a search by samples slow.
type weakSpot struct {
	name   string
	values []value
	text   string
	alike  bool // the automaton must take over
}

func weakSpots() []weakSpot {
	as := strings.Repeat("a", 40)
	stairs := make([]value, 44)
	for i := range stairs {
		stairs[i] = value{fmt.Sprint(i), strings.Repeat("a", i+4) + "b"}
	}
	start := token(48)
	end := token(24)
	common, both := make([]value, 200), make([]value, 200)
	near, between := "", ""
	for i := range common {
		own := token(16)
		common[i] = value{fmt.Sprint(i), start + own}
		both[i] = value{fmt.Sprint(i), start + own + end}
		near += start + own[:15] + " "
		between += start + own[:15] + "*" + end + " "
	}
	text := strings.Repeat("a", 1<<14)
	return []weakSpot{
		{"a40b", []value{{"V", as + "b"}}, text, false},
		{"a40", []value{{"V", as}}, text, false},
		{"stairs", stairs, text, true},
		{"a40b and hits", []value{{"V", as + "b"}}, strings.Repeat(text[:100]+"b", 100), false},
		{"common start", common, near, false},
		{"common start and end", both, between, false},
	}
}

// TestWeakSpots: what is slow to compare goes to the automaton, and the output is the same.
func TestWeakSpots(t *testing.T) {
	for _, c := range weakSpots() {
		text := c.text[:min(len(c.text), 1500)] // the model is slow
		want := hide(text, c.values)
		for name, prepare := range engines() {
			if got := through(t, exactly(t, c.values...), prepare, text); got != want {
				t.Errorf("%s, %s:\n got %q\nwant %q", c.name, name, got, want)
			}
		}
		w := mask.NewWriter(io.Discard, exactly(t, c.values...))
		slow := false
		for range 1 + 1<<18/len(c.text) {
			if _, err := io.WriteString(w, c.text); err != nil {
				t.Fatal(err)
			}
			slow = slow || mask.IsSlow(w)
		}
		if slow != c.alike {
			t.Errorf("%s: automaton %v, want %v", c.name, slow, c.alike)
		}
	}
}

// TestWeakSpots_byteByByte: a long value that comes byte by byte is not searched anew for each.
func TestWeakSpots_byteByByte(t *testing.T) {
	v := value{"LONG", token(20_000)}
	var out bytes.Buffer
	w := mask.NewWriter(&out, exactly(t, v))
	slow := 0
	for i := range len(v.bytes) {
		if _, err := io.WriteString(w, v.bytes[i:i+1]); err != nil {
			t.Fatal(err)
		}
		if mask.IsSlow(w) {
			slow++
		}
	}
	if slow < len(v.bytes)/2 {
		t.Errorf("the automaton took %d of %d bytes", slow, len(v.bytes))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "****(LONG)" {
		t.Errorf("got %q", got)
	}
}

// TestWeakSpots_usualOutput never needs the automaton.
func TestWeakSpots_usualOutput(t *testing.T) {
	values := keys(100)
	w := mask.NewWriter(io.Discard, withForms(t, values...))
	for line := range bytes.Lines(logText(values, 200)[:1<<20]) {
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
		if mask.IsSlow(w) {
			t.Fatal("the automaton is at work")
		}
	}
}

// TestLongValue: a value of a mebibyte that comes in usual pieces, whole and but for its last byte.
func TestLongValue(t *testing.T) {
	v := value{"LONG", strings.Repeat(token(997), 1052)[:1<<20]}
	set := exactly(t, v, value{"KEY", token(30)})
	for _, c := range []struct{ text, want string }{
		{"<" + v.bytes + ">", "<****(LONG)>"},
		{"<" + v.bytes[:len(v.bytes)-1] + ">", "<" + v.bytes[:len(v.bytes)-1] + ">"},
	} {
		var pieces []string
		for text := c.text; text != ""; text = text[min(chunk, len(text)):] {
			pieces = append(pieces, text[:min(chunk, len(text))])
		}
		if got := through(t, set, func(io.WriteCloser) {}, pieces...); got != c.want {
			t.Errorf("%d bytes came out as %d", len(c.text), len(got))
		}
	}
}

// TestTooLarge: more values than fit are refused before anything is shown.
func TestTooLarge(t *testing.T) {
	set := exactly(t, value{"A", strings.Repeat("a", 9<<20)}, value{"B", strings.Repeat("b", 9<<20)})
	var out bytes.Buffer
	w := mask.NewWriter(&out, set)
	if _, err := io.WriteString(w, "text"); !errors.Is(err, secret.ErrTooLarge) {
		t.Errorf("Write: %v", err)
	}
	if err := w.Close(); !errors.Is(err, secret.ErrTooLarge) || out.Len() > 0 {
		t.Errorf("Close: %v, %q came out", err, out.String())
	}
}
