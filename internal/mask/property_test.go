package mask_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/mask"
)

// TestC12_EqualOutputHoweverCut: in small alphabets, where everything overlaps, both ways of searching hide the union
// of all occurrences.
func TestC12_EqualOutputHoweverCut(t *testing.T) {
	r := seeded(t)
	rounds := 20_000
	if testing.Short() {
		rounds = 3000
	}
	for range rounds {
		s := newScene(r)
		want := hide(s.text, s.values)
		set := exactly(t, s.values...)
		for name, prepare := range engines() {
			for _, pieces := range [][]string{{s.text}, cut(r, s.text), cut(r, s.text)} {
				if got := through(t, set, prepare, pieces...); got != want {
					t.Fatalf("%s: values %q, writes %q:\n got %q\nwant %q", name, s.values, pieces, got, want)
				}
			}
		}
		set.Destroy()
	}
}

// TestModel: writes, idle times and new values in any order; the output after each step is what the model says.
func TestModel(t *testing.T) {
	r := seeded(t)
	rounds := 5000
	if testing.Short() {
		rounds = 1000
	}
	for range rounds {
		s := newScene(r)
		synctest.Test(t, func(t *testing.T) {
			for name, prepare := range engines() {
				var steps []string
				var out screen
				set := exactly(t)
				w := mask.NewWriter(&out, set)
				prepare(w)
				m := model{}
				waiting := s.values
				check := func() {
					t.Helper()
					if got, want := out.String(), m.out.String(); got != want {
						t.Fatalf("%s: values %q, steps %q:\n got %q\nwant %q", name, s.values, steps, got, want)
					}
				}
				for _, piece := range cut(r, s.text) {
					for len(waiting) > 0 && r.IntN(3) > 0 {
						steps = append(steps, "+"+waiting[0].name)
						fill(t, set, mask.ValueOptions{Exact: true}, waiting[0])
						m.add(waiting[0])
						waiting = waiting[1:]
					}
					steps = append(steps, piece)
					if _, err := io.WriteString(w, piece); err != nil {
						t.Fatal(err)
					}
					m.write([]byte(piece))
					check()
					if r.IntN(3) == 0 {
						steps = append(steps, "idle")
						time.Sleep(2 * mask.IdleAfter)
						synctest.Wait()
						m.idle()
						check()
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				m.close()
				check()
			}
		})
	}
}
