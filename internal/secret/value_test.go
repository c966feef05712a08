package secret_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"warder/internal/secret"
)

// sizes straddles each border: unit, page, slab, first room of Read.
var sizes = []int{0, 1, 15, 16, 17, 31, 32, 33, 4095, 4096, 4097, 65535, 65536, 65537, 200_000}

func random(t testing.TB, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		t.Fatal(err)
	}
	return b
}

func newValue(t testing.TB, b []byte) secret.Value {
	t.Helper()
	v, err := secret.New(bytes.Clone(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Destroy)
	return v
}

// reveal copies the bytes out, which only a test may do.
func reveal(t testing.TB, v secret.Value) []byte {
	t.Helper()
	var got []byte
	if err := v.Use(func(b []byte) { got = bytes.Clone(b) }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestNew_holdsTheBytesAndWipesTheSource(t *testing.T) {
	for _, n := range sizes {
		want := random(t, n)
		source := bytes.Clone(want)
		v, err := secret.New(source)
		if err != nil {
			t.Fatalf("New of %d bytes: %v", n, err)
		}
		if got := reveal(t, v); !bytes.Equal(got, want) {
			t.Errorf("New of %d bytes holds others", n)
		}
		if v.Len() != n || v.IsZero() {
			t.Errorf("New of %d bytes: Len %d, IsZero %v", n, v.Len(), v.IsZero())
		}
		if len(bytes.Trim(source, "\x00")) != 0 {
			t.Errorf("New of %d bytes left the source", n)
		}
		v.Destroy()
	}
}

func TestNew_tooLargeWipesAllTheSame(t *testing.T) {
	source := bytes.Repeat([]byte{1}, secret.MaxSize+1)
	if v, err := secret.New(source); !errors.Is(err, secret.ErrTooLarge) || !v.IsZero() {
		t.Errorf("New of MaxSize+1 bytes = %v, %v; want ErrTooLarge", v, err)
	}
	if len(bytes.Trim(source, "\x00")) != 0 {
		t.Error("the source stays")
	}
	if v, err := secret.Make(-1, nil); !errors.Is(err, secret.ErrTooLarge) || !v.IsZero() {
		t.Errorf("Make(-1) = %v, %v; want ErrTooLarge", v, err)
	}
}

func TestMake_fillsInPlace(t *testing.T) {
	var kept []byte
	v, err := secret.Make(100, func(b []byte) error {
		if len(b) != 100 || cap(b) != 100 || len(bytes.Trim(b, "\x00")) != 0 {
			t.Errorf("fill gets %d bytes of %d: % x", len(b), cap(b), b)
		}
		b[99] = 7
		kept = b
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Destroy()
	_ = v.Use(func(b []byte) {
		if b[99] != 7 || &b[0] != &kept[0] || cap(b) != 100 {
			t.Error("the bytes were moved, or an append could reach the neighbour")
		}
	})
}

func TestMake_nothingStaysAfterAnError(t *testing.T) {
	first := newValue(t, random(t, 32)) // holds the slab
	broken := errors.New("broken")
	var kept []byte
	v, err := secret.Make(32, func(b []byte) error {
		copy(b, "half of a secret")
		kept = b
		return broken
	})
	if !errors.Is(err, broken) || !v.IsZero() {
		t.Errorf("Make = %v, %v; want the error of fill", v, err)
	}
	if len(bytes.Trim(kept, "\x00")) != 0 {
		t.Error("the bytes stay")
	}
	runtime.KeepAlive(first)
}

func TestRandom_differs(t *testing.T) {
	a, errA := secret.Random(32)
	b, errB := secret.Random(32)
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	defer a.Destroy()
	defer b.Destroy()
	if a.Len() != 32 || a.Equal(b) {
		t.Error("two random secrets are equal")
	}
}

func TestRead_toTheEnd(t *testing.T) {
	for _, n := range sizes {
		want := random(t, n)
		for name, r := range map[string]io.Reader{
			"whole":         bytes.NewReader(want),
			"byte by byte":  iotest.OneByteReader(bytes.NewReader(want)),
			"end with data": iotest.DataErrReader(bytes.NewReader(want)),
		} {
			v, err := secret.Read(r, n)
			if err != nil {
				t.Fatalf("%s, %d bytes: %v", name, n, err)
			}
			if got := reveal(t, v); !bytes.Equal(got, want) || v.Len() != n {
				t.Errorf("%s, %d bytes: read %d others", name, n, v.Len())
			}
			v.Destroy()
		}
	}
}

func TestRead_refuses(t *testing.T) {
	before := mappings()
	for _, limit := range []int{0, 1, 4095, 4096, 65536} {
		for _, more := range []int{1, 2, 100_000} {
			v, err := secret.Read(bytes.NewReader(random(t, limit+more)), limit)
			if !errors.Is(err, secret.ErrTooLarge) || !v.IsZero() {
				t.Errorf("%d bytes with limit %d: %v, %v; want ErrTooLarge", limit+more, limit, v, err)
			}
		}
	}
	for _, limit := range []int{-1, secret.MaxSize + 1} {
		if _, err := secret.Read(strings.NewReader(""), limit); !errors.Is(err, secret.ErrTooLarge) {
			t.Errorf("limit %d: %v; want ErrTooLarge", limit, err)
		}
	}
	broken := errors.New("broken")
	for _, n := range []int{0, 10, 4096, 5000, 200_000} {
		r := io.MultiReader(bytes.NewReader(random(t, n)), iotest.ErrReader(broken))
		if v, err := secret.Read(r, secret.MaxSize); !errors.Is(err, broken) || !v.IsZero() {
			t.Errorf("reader that breaks after %d bytes: %v, %v", n, v, err)
		}
	}
	if after := mappings(); after != before {
		t.Errorf("mappings %v, before %v: something stays", after, before)
	}
}

func TestRead_atTheMost(t *testing.T) {
	v, err := secret.Read(io.LimitReader(zeros{}, secret.MaxSize), secret.MaxSize)
	if err != nil || v.Len() != secret.MaxSize {
		t.Fatalf("reading MaxSize bytes: %d, %v", v.Len(), err)
	}
	v.Destroy()
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestUse_afterDestroy(t *testing.T) {
	v := newValue(t, []byte("x"))
	same := v
	same.Destroy()
	v.Destroy() // again: nothing
	if err := v.Use(func([]byte) { t.Error("f was called") }); !errors.Is(err, secret.ErrDestroyed) {
		t.Errorf("Use = %v, want ErrDestroyed", err)
	}
	if _, err := v.Clone(); !errors.Is(err, secret.ErrDestroyed) {
		t.Errorf("Clone = %v, want ErrDestroyed", err)
	}
	if v.Len() != 1 || v.IsZero() {
		t.Errorf("Len %d, IsZero %v; want 1, false", v.Len(), v.IsZero())
	}
}

func TestValue_zero(t *testing.T) {
	var v secret.Value
	called := false
	if err := v.Use(func(b []byte) { called = len(b) == 0 }); err != nil || !called {
		t.Errorf("Use = %v, called with nothing: %v", err, called)
	}
	c, err := v.Clone()
	if err != nil || c.Len() != 0 {
		t.Errorf("Clone = %d bytes, %v", c.Len(), err)
	}
	if !v.IsZero() || v.Len() != 0 || !v.Equal(c) {
		t.Errorf("IsZero %v, Len %d", v.IsZero(), v.Len())
	}
	v.Destroy()
	v.Destroy()
}

func TestEqual(t *testing.T) {
	a, same, other, longer := newValue(t, []byte("abc")), newValue(t, []byte("abc")), newValue(t, []byte("abd")), newValue(t, []byte("abcd"))
	gone := newValue(t, []byte("abc"))
	gone.Destroy()
	for _, c := range []struct {
		name string
		a, b secret.Value
		want bool
	}{
		{"itself", a, a, true},
		{"same bytes", a, same, true},
		{"last byte differs", a, other, false},
		{"longer", a, longer, false},
		{"empty", a, secret.Value{}, false},
		{"destroyed right", a, gone, false},
		{"destroyed left", gone, a, false},
		{"destroyed both", gone, gone, false},
	} {
		if got := c.a.Equal(c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestClone_livesOn(t *testing.T) {
	want := random(t, 40)
	v := newValue(t, want)
	c, err := v.Clone()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Destroy()
	v.Destroy()
	if got := reveal(t, c); !bytes.Equal(got, want) {
		t.Error("the clone lost its bytes")
	}
}

func TestDestroy_waitsForRunningUse(t *testing.T) {
	v := newValue(t, []byte("still needed"))
	keeper := newValue(t, []byte("keeps the slab mapped"))
	destroyed := make(chan struct{})
	var kept []byte
	err := v.Use(func(b []byte) {
		kept = b
		go func() { v.Destroy(); close(destroyed) }()
		for !v.Waiting() {
			runtime.Gosched()
		}
		// A second Use inside must neither run nor hang, and the outer one keeps its bytes.
		if err := v.Use(func([]byte) { t.Error("a Use began after Destroy") }); !errors.Is(err, secret.ErrDestroyed) {
			t.Errorf("Use while Destroy waits: %v, want ErrDestroyed", err)
		}
		if string(b) != "still needed" {
			t.Errorf("bytes changed under a running Use: %q", b)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	<-destroyed
	if len(bytes.Trim(kept, "\x00")) != 0 {
		t.Error("the bytes stay after Destroy")
	}
	runtime.KeepAlive(keeper)
}

func TestUse_panicEndsTheUse(t *testing.T) {
	v := newValue(t, []byte("x"))
	func() {
		defer func() { _ = recover() }()
		_ = v.Use(func([]byte) { panic("in the middle") })
	}()
	v.Destroy() // would hang if the Use counted on
}

func TestValue_manyAtOnce(t *testing.T) {
	shared := newValue(t, bytes.Repeat([]byte{0xa5}, 64))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 300 {
				churn(t, byte(i), 1+i*700)
				_ = shared.Use(func(b []byte) {
					if b[0] != 0xa5 {
						t.Error("wiped under a running Use")
					}
				})
			}
		})
	}
	all.Go(func() {
		for range 100 {
			runtime.Gosched()
		}
		shared.Destroy()
	})
	all.Wait()
}

// churn makes a secret of n equal bytes, looks whether they are its own, and destroys it from two sides.
func churn(t *testing.T, fill byte, n int) {
	v, err := secret.New(bytes.Repeat([]byte{fill}, n))
	if err != nil {
		t.Error(err)
		return
	}
	err = v.Use(func(b []byte) {
		if len(bytes.Trim(b, string([]byte{fill}))) != 0 {
			t.Error("bytes of another secret")
		}
	})
	if err != nil {
		t.Error(err)
	}
	go v.Destroy()
	v.Destroy()
}

func TestWipe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "b")
		part := rapid.IntRange(0, len(b)).Draw(t, "part")
		rest := bytes.Clone(b[part:])
		secret.Wipe(b[:part])
		if len(bytes.Trim(b[:part], "\x00")) != 0 || !bytes.Equal(b[part:], rest) {
			t.Errorf("%d of %d wiped: %s", part, len(b), hex.EncodeToString(b))
		}
	})
}
