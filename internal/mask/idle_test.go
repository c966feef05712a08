package mask_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/mask"
)

// TestEarlyRelease: after a while without output a few bytes of what is held back show, and what follows is hidden all
// the same.
func TestEarlyRelease(t *testing.T) {
	long, mid, short := "abcdefghijklmnopqrstuvwxyz0123456789", "mnopqrstuvwxyz01", "xyzxyzxyzxyzxyz"
	for _, c := range []struct {
		name   string
		values []value
		writes []string // with a pause behind each
		want   []string // what is out after that pause
		end    string
	}{
		{"four bytes", []value{{"L", long}}, []string{"> abcdefgh", "ijkl", long[12:]}, []string{"> abcd", "> abcd", "> abcd****(L)"}, "> abcd****(L)"},
		{"it was none", []value{{"L", long}}, []string{"abcdef", "!"}, []string{"abcd", "abcdef!"}, "abcdef!"},
		{"an eighth", []value{{"M", mid}}, []string{mid[:7], mid[7:]}, []string{"mn", "mn****(M)"}, "mn****(M)"},
		{"none of 15", []value{{"S", short}}, []string{short[:7], short[7:]}, []string{"", "****(S)"}, "****(S)"},
		{"none where a short one may begin too", []value{{"L", long}, {"S", long[:15]}}, []string{"abc", "!"}, []string{"", "abc!"}, "abc!"},
		{"up to where a short one may begin", []value{{"L", long}, {"S", "cdefghijX"}}, []string{"abcde", "fghijX"}, []string{"ab", "ab****(S)"}, "ab****(S)"},
		{"byte by byte", []value{{"L", long}}, []string{"a", "b", "c", "d", "e", "f"}, []string{"a", "ab", "abc", "abcd", "abcd", "abcd"}, "abcdef"},
		{"a value that may be longer", []value{{"S", long[:20]}, {"L", long}}, []string{"> " + long[:20], long[20:]}, []string{"> ****(S)", "> ****(S)"}, "> ****(S)"},
		{"a value that may be longer and isn't", []value{{"S", long[:20]}, {"L", long}}, []string{long[:22], "."}, []string{"****(S)", "****(S)" + long[20:22] + "."}, "****(S)" + long[20:22] + "."},
		{"a prompt", []value{{"L", long}}, []string{"Password: ", "ok"}, []string{"Password: ", "Password: ok"}, "Password: ok"},
	} {
		for name, prepare := range engines() {
			synctest.Test(t, func(t *testing.T) {
				var out screen
				w := mask.NewWriter(&out, exactly(t, c.values...))
				prepare(w)
				for i, p := range c.writes {
					if _, err := io.WriteString(w, p); err != nil {
						t.Fatal(err)
					}
					time.Sleep(mask.IdleAfter * 3 / 2)
					synctest.Wait()
					if out.String() != c.want[i] {
						t.Errorf("%s, %s: after %q: %q, want %q", c.name, name, c.writes[:i+1], out.String(), c.want[i])
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if out.String() != c.end {
					t.Errorf("%s, %s: at the end %q, want %q", c.name, name, out.String(), c.end)
				}
			})
		}
	}
}

// TestEarlyRelease_views: breaks and sequences count for nothing, and go out before what must stay.
func TestEarlyRelease_views(t *testing.T) {
	const long, short = "abcdefghijklmnopqrstuvwxyz0123456789", "mnopqrstuvwxyz0"
	for _, c := range []struct {
		name    string
		needles []needle
		writes  []string // with a pause behind each
		want    []string // what is out after that pause
	}{
		{"folded", like("/" + long), []string{"a\nb\r\n", "cdefgh", long[8:]}, []string{"a\nb\r\n", "a\nb\r\ncd", "a\nb\r\ncd****(A)"}},
		{"a break before what stays", like("/" + long), []string{"abcd\nef", long[6:]}, []string{"abcd\n", "abcd\n****(A)"}},
		{"half a break", like("/" + long), []string{"abcd\r", "\nefgh", long[8:]}, []string{"abcd\r", "abcd\r\n", "abcd\r\n****(A)"}},
		{"half a break that goes on otherwise", like("/" + long), []string{"abcd\r", "efgh"}, []string{"abcd\r", "abcd\refgh"}},
		{"half a break behind what stays", like("/" + long), []string{"abcde\r", "\nfgh", long[8:]}, []string{"abcd", "abcd", "abcd****(A)"}},
		{"colour before what stays", like(long), []string{"ab\x1b[1mcd\x1b[2mef\x1b[3m", long[6:]}, []string{"ab\x1b[1mcd\x1b[2m", "ab\x1b[1mcd\x1b[2m****(A)"}},
		{"half a sequence", like(long), []string{"abcd\x1b[", "1mefgh", long[8:]}, []string{"abcd\x1b[", "abcd\x1b[1m", "abcd\x1b[1m****(A)"}},
		{"half a sequence behind what stays", like(long), []string{"abcde\x1b[", "1mfgh", long[8:]}, []string{"abcd", "abcd", "abcd****(A)"}},
		{"it was none", like(long), []string{"abcde\x1b[1mf", "!"}, []string{"abcd", "abcde\x1b[1mf!"}},
		{"none of 15", like("/" + short), []string{"m\nn\x1b[1m", "\n", "\n"}, []string{"", "", "m\nn\x1b[1m\n\n"}},
		{"up to where a short one begins", like(long, "/"+short), []string{"a\x1b[1mb", "\n", "\x1b[2mm\n"}, []string{"a\x1b[1mb", "a\x1b[1mb\n", "a\x1b[1mb\n\x1b[2m"}},
		{"an eighth", like("/" + short + "1"), []string{"m\nn\no\np"}, []string{"m\nn\n"}},
		{"one view lets out less", like("ab\x1b[1mcdefghijklmnop", long), []string{"ab\x1b[1mcd"}, []string{"ab"}},
		{"a longer one begins with a hidden one", like(long[:20], long), []string{"abcdef\x1b[1m" + long[6:20], "."}, []string{"****(A)", "****(A)."}},
	} {
		for name, prepare := range engines() {
			synctest.Test(t, func(t *testing.T) {
				p := newPlay(t, prepare)
				for _, n := range c.needles {
					p.add(n)
				}
				for i, text := range c.writes {
					p.write(text)
					p.pause()
					if said := p.says.out.String(); said != c.want[i] {
						t.Errorf("%s: after %q: the reference: %q, want %q", c.name, c.writes[:i+1], said, c.want[i])
					}
				}
				if p.close(); p.wrong != "" {
					t.Errorf("%s, %s: %q: %s", c.name, name, p.done, p.wrong)
				}
			})
		}
	}
}

// TestEarlyRelease_ofForms: what counts is the value too, where a spelling of it is longer.
func TestEarlyRelease_ofForms(t *testing.T) {
	for _, c := range []struct{ value, want string }{
		{"xyzwvutsrqponml", ""}, // 15 bytes, 30 digits
		{"xyzwvutsrqponmlk", "7879"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out screen
			w := mask.NewWriter(&out, withForms(t, value{"V", c.value}))
			spelt := fmt.Sprintf("%x", c.value)
			for _, p := range []string{spelt[:20], spelt[20:]} {
				if _, err := io.WriteString(w, p); err != nil {
					t.Fatal(err)
				}
				time.Sleep(mask.IdleAfter * 3 / 2)
				synctest.Wait()
				if p == spelt[:20] && out.String() != c.want {
					t.Errorf("%d bytes: %q is out, want %q", len(c.value), out.String(), c.want)
				}
			}
			if err := w.Close(); err != nil || out.String() != c.want+"****(V)" {
				t.Errorf("%d bytes: %q came out, %v", len(c.value), out.String(), err)
			}
		})
	}
}

// TestEarlyRelease_statedMost: however a value is cut and interrupted, and whatever pauses there are, no more of its
// beginning is out than is stated.
func TestEarlyRelease_statedMost(t *testing.T) {
	r := seeded(t)
	for range 300 {
		n := needle{value: value{"V", token(mask.MinLength + r.IntN(60))}, folds: r.IntN(2) == 0}
		text := scenes{Rand: r, folds: n.folds, marks: true}.interrupt(n.bytes)
		if hideAll("<"+text+">", n) == "<"+text+">" {
			continue // interrupted by more than may be
		}
		synctest.Test(t, func(t *testing.T) {
			var out screen
			w := mask.NewWriter(&out, setOf(t, n))
			for _, p := range cut(r, "<"+text+">") {
				if _, err := io.WriteString(w, p); err != nil {
					t.Fatal(err)
				}
				time.Sleep(mask.IdleAfter * 3 / 2)
				synctest.Wait()
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			before, _, hidden := strings.Cut(out.String(), "****(V)")
			shown := strings.NewReplacer("\r", "", "\n", "", "<", "").Replace(strip(before))
			if !hidden || len(shown) > n.early() {
				t.Errorf("%s as %q: %q came out, which shows %q", n, text, out.String(), shown)
			}
		})
	}
}

// TestEarlyRelease_notBefore: a program that goes on printing shows nothing early, however slow it is.
func TestEarlyRelease_notBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := token(40)
		var out screen
		w := mask.NewWriter(&out, exactly(t, value{"K", key}))
		for i := range len(key) {
			if _, err := io.WriteString(w, key[i:i+1]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(mask.IdleAfter - 1)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != "****(K)" {
			t.Errorf("got %q", out.String())
		}
	})
}

// TestEarlyRelease_leavesNothingBehind: no goroutine and no timer outlives Close; synctest fails on one that waits.
func TestEarlyRelease_leavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := token(40)
		for _, wait := range []time.Duration{0, mask.IdleAfter - 1, mask.IdleAfter, mask.IdleAfter + 1} {
			dst := &calls{}
			w := mask.NewWriter(dst, exactly(t, value{"K", key}))
			if _, err := io.WriteString(w, key[:10]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(wait)
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			before := len(dst.got)
			time.Sleep(time.Hour)
			synctest.Wait()
			if len(dst.got) != before {
				t.Errorf("after %v: %q came after Close", wait, dst.got[before:])
			}
		}
	})
}

// gated lets writes through when it is told.
type gated struct {
	entered, gate chan struct{}
	out           bytes.Buffer
}

func (g *gated) Write(p []byte) (int, error) {
	g.entered <- struct{}{}
	<-g.gate
	return g.out.Write(p)
}

// TestEarlyRelease_inOrder: what a timer lets go never overtakes a write, and Close waits for it. The timer is a true
// one: who waits for a mutex would hold up synctest's time.
func TestEarlyRelease_inOrder(t *testing.T) {
	key := token(40)
	dst := &gated{entered: make(chan struct{}), gate: make(chan struct{})}
	w := mask.NewWriter(dst, exactly(t, value{"K", key}))
	if _, err := io.WriteString(w, key[:10]); err != nil {
		t.Fatal(err)
	}
	<-dst.entered // the timer's goroutine is in there
	var let atomic.Bool
	closed := make(chan error)
	go func() {
		err := w.Close()
		if !let.Load() {
			err = errors.New("Close didn't wait")
		}
		closed <- err
	}()
	for range 1000 {
		runtime.Gosched()
	}
	let.Store(true)
	dst.gate <- struct{}{}
	<-dst.entered
	dst.gate <- struct{}{}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	if dst.out.String() != key[:10] {
		t.Errorf("got %q, want %q", dst.out.String(), key[:10])
	}
}

// TestEarlyRelease_error stays for the next call.
func TestEarlyRelease_error(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken pipe")
		key := token(40)
		dst := &failing{fail: func([]byte) (int, error) { return 0, broken }}
		w := mask.NewWriter(dst, exactly(t, value{"K", key}))
		if _, err := io.WriteString(w, key[:10]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * mask.IdleAfter)
		synctest.Wait()
		if _, err := io.WriteString(w, "!"); !errors.Is(err, broken) {
			t.Errorf("Write: %v", err)
		}
		if err := w.Close(); !errors.Is(err, broken) {
			t.Errorf("Close: %v", err)
		}
	})
}

// TestIdleThenGrown: a value that is added when its bytes are out already, as the beginning of a longer one, takes nothing of that one's
// mark.
func TestIdleThenGrown(t *testing.T) {
	const long = "abcdefghijklmnopqrstuvwxyz0123456789"
	for name, prepare := range engines() {
		synctest.Test(t, func(t *testing.T) {
			set := exactly(t)
			fill(t, set, mask.ValueOptions{Exact: true}, value{"long", long})
			var out screen
			w := mask.NewWriter(&out, set)
			prepare(w)
			for _, piece := range []string{long[:8], long[8:20], long[20:] + "."} {
				if _, err := io.WriteString(w, piece); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * mask.IdleAfter)
				synctest.Wait()
				if piece == long[:8] {
					fill(t, set, mask.ValueOptions{Exact: true}, value{"short", long[:4]})
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if got, want := out.String(), "abcd****(long)."; got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		})
	}
}
