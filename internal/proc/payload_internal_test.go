package proc

import (
	"bytes"
	"errors"
	"io"
	"slices"
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
		out := output(rapid.IntRange(0, 1).Draw(t, "output")) // #nosec G115 -- two of them
		env := rapid.SliceOfN(rapid.StringMatching(`[A-Z]{0,4}=?[a-z=]{0,9}`), 0, 5).Draw(t, "environment")
		if err := writePayload(&b, orders{out, env}, injections); err != nil {
			t.Fatal(err)
		}
		b.WriteByte(payloadGo)
		whole := b.Bytes()
		got, err := readPayload(bytes.NewReader(whole))
		list := got.list
		if err != nil || got.out != out || !slices.Equal(got.env, env) || len(list) != len(injections) {
			t.Fatalf("%d of %d, output %d: %v", len(list), len(injections), got.out, err)
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
	if err := writePayload(io.Discard, orders{}, []Injection{in}); err == nil {
		t.Error("no error")
	}
}

func FuzzReadPayload(f *testing.F) {
	var b bytes.Buffer
	in := Injection{Name: "N", Size: 1, Write: func(w io.Writer) error { _, err := io.WriteString(w, "v"); return err }}
	if err := writePayload(&b, orders{outputPiped, []string{"A=b", ""}}, []Injection{in, {Delivery: ByStdin, Size: 1, Write: in.Write}}); err != nil {
		f.Fatal(err)
	}
	f.Add(append(b.Bytes(), payloadGo))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readPayload(bytes.NewReader(data))
		if err != nil && (got.list != nil || !errors.Is(err, errPayload)) {
			t.Errorf("%d, %v", len(got.list), err)
		}
	})
}
