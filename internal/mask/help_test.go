package mask_test

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"sync"
	"testing"

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
	return fill(t, mask.NewSet(mask.Options{}), mask.ValueOptions{Exact: true}, values...)
}

// withForms makes a set of values with all spellings.
func withForms(t testing.TB, values ...value) *mask.Set {
	t.Helper()
	return fill(t, mask.NewSet(mask.Options{}), mask.ValueOptions{}, values...)
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

// scene is a random set of values and a text that has much of them in it.
type scene struct {
	values []value
	text   string
}

func newScene(r *mathrand.Rand) scene {
	alphabet := "ab\ncdefghij"[:2+r.IntN(9)]
	some := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		return string(b)
	}
	var s scene
	longest := []int{6, 12, 20, 40}[r.IntN(4)]
	for i := range 1 + r.IntN(8) {
		b := some(mask.MinLength + r.IntN(longest))
		if i > 0 && r.IntN(2) == 0 { // a beginning, or more of one before
			before := s.values[r.IntN(i)].bytes
			b = before[:mask.MinLength+r.IntN(len(before)-mask.MinLength+1)] + some(r.IntN(5))
		}
		s.values = append(s.values, value{fmt.Sprintf("%d", i), b})
	}
	for range r.IntN(30) {
		v := s.values[r.IntN(len(s.values))].bytes
		switch r.IntN(4) {
		case 0:
			s.text += v
		case 1:
			s.text += v[:r.IntN(len(v))]
		case 2:
			s.text += v[r.IntN(len(v)):]
		default:
			s.text += some(r.IntN(6))
		}
	}
	return s
}
