package mask_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/mask"
)

// TestFailsClosed_atEachCall: whichever call of the writer behind fails, and how, nothing more comes out, also when it has
// recovered.
func TestFailsClosed_atEachCall(t *testing.T) {
	broken := errors.New("broken pipe")
	key := alone(40)
	n := needle{value: value{"K", key}, folds: true}
	writes := []string{"one\x1b[1m", key[:7] + "\n", key[7:20] + "\x1b[2m", key[20:] + "two", key[:5], "three\x1b[", key, key[:6]}
	run := func(t *testing.T, dst io.Writer) (failed error) {
		t.Helper()
		w := mask.NewWriter(dst, setOf(t, n))
		for _, p := range writes {
			if _, err := io.WriteString(w, p); failed == nil {
				failed = err
			} else if !errors.Is(err, failed) {
				t.Errorf("%v, then %v", failed, err)
			}
			time.Sleep(2 * mask.IdleAfter)
			synctest.Wait()
		}
		if err := w.Close(); failed == nil {
			failed = err
		} else if !errors.Is(err, failed) {
			t.Errorf("%v, at Close %v", failed, err)
		}
		return failed
	}
	synctest.Test(t, func(t *testing.T) {
		good := &calls{}
		if err := run(t, good); err != nil || len(good.got) < 8 {
			t.Fatalf("%d calls, %v", len(good.got), err)
		}
		for kind, fail := range map[string]func(p []byte) (int, error){
			"error":       func([]byte) (int, error) { return 0, broken },
			"short write": func(p []byte) (int, error) { return len(p) / 2, nil },
			"half of it":  func(p []byte) (int, error) { return len(p) / 2, broken },
		} {
			for after := range good.got {
				dst := &failing{after: after}
				dst.fail = func(p []byte) (int, error) {
					dst.after = 1 << 30
					return fail(p)
				}
				failed := run(t, dst)
				if got, want := dst.out.String(), string(bytes.Join(good.got[:after], nil)); failed == nil || got != want {
					t.Errorf("%s at call %d: %v\n got %q\nwant %q", kind, after, failed, got, want)
				}
			}
		}
	})
}

// stuck blocks in each write until it is let go.
type stuck struct{ entered, gate chan struct{} }

func (s *stuck) Write(p []byte) (int, error) {
	s.entered <- struct{}{}
	<-s.gate
	return len(p), nil
}

// TestStuckReader: a reader that hangs, whatever is on the way to it, holds up neither other writers of its set, nor who
// adds to it, nor who destroys it.
func TestStuckReader(t *testing.T) {
	key := alone(30)
	for name, prepare := range engines() {
		for _, text := range []string{"plain", key, "\x1b[1m" + key[:9] + "\x1b[2m" + key[9:] + "\x1b["} {
			set := setOf(t, needle{value: value{"K", key}, folds: true})
			dst := &stuck{make(chan struct{}), make(chan struct{})}
			w := mask.NewWriter(dst, set)
			prepare(w)
			done := make(chan error)
			go func() {
				_, err := io.WriteString(w, text)
				done <- err
			}()
			<-dst.entered
			addTo(t, set, needle{value: value{"L", "hunter22"}})
			if got := through(t, set, prepare, key+"hunter22"); got != "****(K)****(L)" {
				t.Errorf("%s: the other writer: %q", name, got)
			}
			set.Destroy()
			dst.gate <- struct{}{}
			if err := <-done; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			go func() { done <- w.Close() }()
			select {
			case <-dst.entered:
				t.Errorf("%s: after %q something came out at Close", name, text)
				dst.gate <- struct{}{}
				<-done
			case <-done:
			}
		}
	}
}

// TestManyAtOnce_interrupted: writers share a set that grows with patterns that fold, while they write text with all
// kinds of sequences. Run it with -race.
func TestManyAtOnce_interrupted(t *testing.T) {
	r := seeded(t)
	first := needle{value: value{"K", token(40)}, folds: true}
	var parts []string
	for i := range 40 {
		part := scenes{Rand: r, folds: true, marks: true}.interrupt(first.bytes)
		parts = append(parts, fmt.Sprintf("%d<%s>", i, part))
	}
	text := strings.Join(parts, "\n")
	want := hideAll(text, first)
	atOnce(t, func(t *testing.T) {
		set := setOf(t, first)
		var wg sync.WaitGroup
		wg.Go(func() {
			for i := range 100 {
				addTo(t, set, needle{value: value{fmt.Sprint(i), token(50)}, folds: i%2 == 0})
			}
		})
		for i := range 4 {
			wg.Go(func() {
				if got := piecewise(t, set, text, i%2 == 0); got != want {
					at := firstDifference(got, want)
					t.Errorf("got %q\nwant %q", excerpt(got, at), excerpt(want, at))
				}
			})
		}
		wg.Wait()
	})
}

// TestDestroyWhileWriting: what comes out before is right, and nothing comes out after.
func TestDestroyWhileWriting(t *testing.T) {
	n := needle{value: value{"K", token(40)}, folds: true}
	text := strings.Repeat("x\x1b[1m"+n.bytes[:20]+"\n"+n.bytes[20:]+"y", 300)
	for range 20 {
		atOnce(t, func(t *testing.T) {
			set := setOf(t, n)
			var wg sync.WaitGroup
			begun := make(chan struct{}, 4)
			for i := range 4 {
				var out bytes.Buffer
				w := mask.NewWriter(&out, set)
				if i%2 == 0 {
					mask.Slow(w)
				}
				wg.Go(func() {
					whole := untilDestroyed(t, w, text, begun)
					if got, want := out.String(), hideAll(text, n); !strings.HasPrefix(want, got) || whole && got != want {
						at := firstDifference(got, want)
						t.Errorf("got %q\nwant %q", excerpt(got, at), excerpt(want, at))
					}
				})
			}
			<-begun
			set.Destroy()
			wg.Wait()
		})
	}
}

// untilDestroyed writes text until its set is destroyed, and tells when it is on the way. It reports whether all of it is
// written.
func untilDestroyed(t *testing.T, w io.WriteCloser, text string, begun chan<- struct{}) (whole bool) {
	t.Helper()
	var failed error
	for i, p := range chunks(text, 13) {
		if i == 100 {
			begun <- struct{}{}
		}
		if _, failed = io.WriteString(w, p); failed != nil {
			break
		}
	}
	err := w.Close()
	if failed != nil && (!errors.Is(failed, mask.ErrNoSet) || !errors.Is(err, mask.ErrNoSet)) {
		t.Errorf("%v, Close: %v", failed, err)
	}
	return failed == nil && err == nil
}

// TestWritesAtOnce: a writer takes whole writes, in some order.
func TestWritesAtOnce(t *testing.T) {
	key := token(30)
	atOnce(t, func(t *testing.T) {
		var out bytes.Buffer
		w := mask.NewWriter(&out, setOf(t, needle{value: value{"K", key}, folds: true}))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 100 {
					if _, err := io.WriteString(w, "<"+key[:9]+"\x1b[1m\r\n"+key[9:]+">"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, want := out.String(), strings.Repeat("<****(K)>", 800); got != want {
			t.Errorf("got %.200q…", got)
		}
	})
}

// TestU_29_BoundedMemory: whatever a program prints, and however long, no more is held than the longest occurrence that
// there can be: its characters, and between each two the most that may stand there.
func TestU_29_BoundedMemory(t *testing.T) {
	v := token(40)
	n := needle{value: value{"K", v}, folds: true}
	run := "\x1b[" + strings.Repeat("0", maxGap-3) + "m"
	between := run + "\r" + run + "\r" + run + "\n" + run
	most := len(v) + (len(v)-1)*len(between)
	perCharacter := strings.Join(strings.Split(v, ""), between)
	for _, c := range []struct {
		name, begin, again string
		times              int
	}{
		{"colours", v[:20], "\x1b[1m", 5000},
		{"breaks", v[:20], "\n", 5000},
		{"carriage returns", v[:20], "\r", 5000},
		{"breaks and colours", v[:20], "\r\n\x1b[1m", 5000},
		{"a sequence without end", v[:20] + "\x1b[", "0", 20000},
		{"a title without end", v[:20] + "\x1b]0;", "title", 5000},
		{"ESC over and over", v[:20], "\x1b", 20000},
		{"in no value", "", "\x1b]", 5000},
		{"first characters", "", v[:1], 5000},
		{"first characters, a line each", "", v[:1] + "\n", 5000},
		{"halves", "", v[:20] + "\n" + v[20:39], 500},
		{"the longest ones", "", perCharacter[:len(perCharacter)-1], 10},
		{"the longest ones, whole", "", perCharacter, 10},
	} {
		for name, prepare := range engines() {
			w := mask.NewWriter(io.Discard, setOf(t, n))
			prepare(w)
			longest := 0
			for _, p := range append(chunks(c.begin, 100), slices.Repeat(chunks(c.again, 100), c.times)...) {
				if _, err := io.WriteString(w, p); err != nil {
					t.Fatal(err)
				}
				longest = max(longest, mask.Held(w))
			}
			if longest > most {
				t.Errorf("%s, %s: %d bytes held, want at most %d", c.name, name, longest, most)
			}
			if longest < most-100 && strings.HasPrefix(c.name, "the longest") {
				t.Errorf("%s, %s: only %d of %d bytes held", c.name, name, longest, most)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
