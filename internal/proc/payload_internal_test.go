package proc

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// TestPayload: what goes in comes out, in order.
func TestPayload(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var injections []Injection
		var values [][]byte
		for range rapid.IntRange(0, 5).Draw(t, "count") {
			value := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "value")
			values = append(values, value)
			injections = append(injections, Injection{
				Delivery: Delivery(rapid.IntRange(0, 2).Draw(t, "delivery")), // #nosec G115 -- three of them
				Name:     rapid.StringMatching(`[A-Z_]{0,20}`).Draw(t, "name"),
				Size:     len(value),
				Write:    func(w io.Writer) error { _, err := w.Write(value); return err },
			})
		}
		var b bytes.Buffer
		if err := writePayload(&b, injections); err != nil {
			t.Fatal(err)
		}
		whole := b.Bytes()
		list, err := readPayload(bytes.NewReader(whole))
		if err != nil || len(list) != len(injections) {
			t.Fatalf("%d of %d: %v", len(list), len(injections), err)
		}
		for i := range list {
			if want := list[i].prefix() + string(values[i]); string(list[i].text) != want || list[i].name != injections[i].Name {
				t.Errorf("%q, want %q", list[i].text, want)
			}
		}
		cut := rapid.IntRange(0, len(whole)-1).Draw(t, "cut")
		if _, err := readPayload(bytes.NewReader(whole[:cut])); !errors.Is(err, errPayload) {
			t.Errorf("cut at %d of %d: %v", cut, len(whole), err)
		}
		if _, err := readPayload(io.MultiReader(bytes.NewReader(whole), bytes.NewReader([]byte{0}))); !errors.Is(err, errPayload) {
			t.Errorf("with a byte too many: %v", err)
		}
	})
}

// TestWrongSize: a value that is not as long as it was said to be fails.
func TestWrongSize(t *testing.T) {
	in := Injection{Name: "N", Size: 3, Write: func(w io.Writer) error { _, err := io.WriteString(w, "four"); return err }}
	if err := writePayload(io.Discard, []Injection{in}); err == nil {
		t.Error("no error")
	}
}

func FuzzReadPayload(f *testing.F) {
	var b bytes.Buffer
	in := Injection{Name: "N", Size: 1, Write: func(w io.Writer) error { _, err := io.WriteString(w, "v"); return err }}
	if err := writePayload(&b, []Injection{in, {Delivery: ByStdin, Size: 1, Write: in.Write}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := readPayload(bytes.NewReader(data))
		if err != nil && (list != nil || !errors.Is(err, errPayload)) {
			t.Errorf("%d, %v", len(list), err)
		}
	})
}
