package mask_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/mask"
)

// fuzzedValues reads values parted by bars.
func fuzzedValues(data []byte) []value {
	var values []value
	for i, b := range bytes.Split(data, []byte("|")) {
		if len(b) >= mask.MinLength && len(values) < 50 {
			values = append(values, value{fmt.Sprint(i), string(b)})
		}
	}
	return values
}

// FuzzSplits: whatever the values, the text and the places where it is cut, both ways of searching hide the union of all
// occurrences and nothing else.
func FuzzSplits(f *testing.F) {
	f.Add([]byte("abcd|abcdefgh"), []byte("xabcdefghabcd"), []byte{3, 200, 1})
	f.Fuzz(func(t *testing.T, data, text, cuts []byte) {
		values := fuzzedValues(data)
		if len(values) == 0 || len(text) > 2000 {
			return
		}
		var pieces []string
		rest := string(text)
		for _, n := range cuts {
			n := min(int(n), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		pieces = append(pieces, rest)
		want := hideMarked(string(text), values)
		set := exactly(t, values...)
		for name, prepare := range engines() {
			if got := through(t, set, prepare, pieces...); got != want {
				t.Errorf("%s: values %q, writes %q:\n got %q\nwant %q", name, values, pieces, got, want)
			}
		}
	})
}

// hideMarked is hide with the marks that contain no value.
func hideMarked(text string, values []value) string {
	marked := make([]value, len(values))
	for i, v := range values {
		for _, mark := range []string{"****(" + v.name + ")", "****", "***"} {
			marked[i] = value{mark, v.bytes}
			inside := false
			for _, o := range values {
				inside = inside || strings.Contains(mark, o.bytes)
			}
			if !inside {
				break
			}
		}
	}
	m := model{plain: true}
	for _, v := range marked {
		m.add(v)
	}
	m.write([]byte(text))
	m.close()
	return m.out.String()
}

// FuzzSteps: writes, pauses and values that come later, in any order, against the model after each step.
func FuzzSteps(f *testing.F) {
	f.Add([]byte("abcdefghijklmnopqrst|cdefgh"), []byte("+abcd~+efghij~klmnopqrst"))
	f.Fuzz(func(t *testing.T, data, steps []byte) {
		values := fuzzedValues(data)
		if len(steps) > 500 || bytes.ContainsAny(data, "*()+~") {
			return // marks and steps have characters of their own
		}
		for i := range values { // names of one capital letter, which are in no value: they are too short
			values[i].name = string(rune('A' + i%26))
		}
		synctest.Test(t, func(t *testing.T) {
			for name, prepare := range engines() {
				var out screen
				set := exactly(t)
				w := mask.NewWriter(&out, set)
				prepare(w)
				m, waiting := model{}, values
				for i, step := range bytes.SplitAfter(steps, nil) {
					switch {
					case step[0] == '+' && len(waiting) > 0:
						fill(t, set, mask.ValueOptions{Exact: true}, waiting[0])
						m.add(waiting[0])
						waiting = waiting[1:]
					case step[0] == '~':
						time.Sleep(2 * mask.IdleAfter)
						synctest.Wait()
						m.idle()
					default:
						if _, err := w.Write(step); err != nil {
							t.Fatal(err)
						}
						m.write(step)
					}
					if got, want := out.String(), m.out.String(); got != want {
						t.Fatalf("%s: values %q, steps %q:\n got %q\nwant %q", name, values, steps[:i+1], got, want)
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if m.close(); out.String() != m.out.String() {
					t.Fatalf("%s: values %q, steps %q, closed:\n got %q\nwant %q", name, values, steps, out.String(), m.out.String())
				}
			}
		})
	})
}

// FuzzForms: every spelling of a value is hidden where it is printed, however long it is.
func FuzzForms(f *testing.F) {
	f.Add([]byte("a\nline of twelve\r\nanother line\\nof some length\n"))
	f.Fuzz(func(t *testing.T, v []byte) {
		if len(v) < mask.MinLength || len(v) > 5000 {
			return
		}
		set := withForms(t, value{"", string(v)})
		spellings := []string{string(v)}
		for _, s := range mask.Spelling(v) {
			spellings = append(spellings, s...)
		}
		for _, s := range spellings {
			if len(s) < mask.MinLength {
				continue
			}
			got := through(t, set, func(io.WriteCloser) {}, s)
			if len(got) > 0 && strings.Trim(got, "*") != "" {
				t.Errorf("%q: %q came out as %q", v, s, got)
			}
		}
	})
}
