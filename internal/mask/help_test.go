package mask_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"warder/internal/mask"
	"warder/internal/secret"
)

func newValue(t testing.TB, b string) secret.Value {
	t.Helper()
	v, err := secret.New([]byte(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Destroy)
	return v
}

// exactly makes a set of values without other spellings.
func exactly(t testing.TB, values ...value) *mask.Set {
	t.Helper()
	return fill(t, mask.NewSet(), mask.ValueOptions{Exact: true}, values...)
}

// withForms makes a set of values with all spellings.
func withForms(t testing.TB, values ...value) *mask.Set {
	t.Helper()
	return fill(t, mask.NewSet(), mask.ValueOptions{}, values...)
}

func fill(t testing.TB, s *mask.Set, o mask.ValueOptions, values ...value) *mask.Set {
	t.Helper()
	t.Cleanup(s.Destroy)
	for _, v := range values {
		if err := s.Add(v.name, newValue(t, v.bytes), o); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// setOf makes a set of the patterns of a reference.
func setOf(t testing.TB, needles ...needle) *mask.Set {
	t.Helper()
	set := mask.NewSet()
	t.Cleanup(set.Destroy)
	for _, n := range needles {
		addTo(t, set, n)
	}
	return set
}

func addTo(t testing.TB, set *mask.Set, n needle) {
	t.Helper()
	if err := mask.AddPattern(set, n.name, []byte(n.bytes), n.folds); err != nil {
		t.Fatal(err)
	}
}

// screen is a buffer that may be read while a timer may write.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// token is n random characters of a key.
func token(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	for i := range b {
		b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[b[i]&63]
	}
	return string(b)
}

// alone is a token whose first character stands nowhere else in it: its end begins it nowhere.
func alone(n int) string {
	t := token(n)
	return "0" + strings.ReplaceAll(t[1:], "0", "1")
}

// engines are the two ways to search.
func engines() map[string]func(io.WriteCloser) {
	return map[string]func(io.WriteCloser){"scan": func(io.WriteCloser) {}, "automaton": mask.Slow}
}

// through is what comes out of a writer, its pieces written one by one.
func through(t testing.TB, set *mask.Set, prepare func(io.WriteCloser), pieces ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := mask.NewWriter(&out, set)
	prepare(w)
	for _, p := range pieces {
		if n, err := io.WriteString(w, p); n != len(p) || err != nil {
			t.Fatalf("Write(%q) = %d, %v", p, n, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// atOnce runs f, in which no time passes however long it takes: nothing is let go early.
func atOnce(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// everyCut writes a text whole, byte by byte, and in two at every place, searched in both ways.
func everyCut(t *testing.T, name string, set *mask.Set, text, want string) {
	t.Helper()
	cuts := [][]string{{text}, strings.Split(text, "")}
	for i := range len(text) {
		cuts = append(cuts, []string{text[:i], text[i:]})
	}
	for engine, prepare := range engines() {
		for _, pieces := range cuts {
			if got := through(t, set, prepare, pieces...); got != want {
				t.Errorf("%s, %s: writes %q:%s", name, engine, pieces, differ(got, want))
				break // one says it
			}
		}
	}
}

// cut cuts text at random places.
func cut(r *mathrand.Rand, text string) []string {
	var pieces []string
	for text != "" {
		n := 1 + r.IntN(min(len(text), 1+r.IntN(12)))
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

// seeded is a source of numbers whose seed is told when the test fails.
func seeded(t testing.TB) *mathrand.Rand {
	t.Helper()
	seed := mathrand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return mathrand.New(mathrand.NewPCG(seed, 0))
}

// differ is a line for each of two results.
func differ(got, want string) string { return fmt.Sprintf("\n got %q\nwant %q", got, want) }
