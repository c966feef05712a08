package mask_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/mask"
)

// calls keeps each write that it gets.
type calls struct {
	got  [][]byte
	same []byte // to be told whether a write is part of it
	all  bool   // every write was
}

func (c *calls) Write(p []byte) (int, error) {
	c.got = append(c.got, bytes.Clone(p))
	c.all = len(c.same) > 0 && len(p) > 0 && &c.same[0] == &p[0]
	return len(p), nil
}

// TestU_28_ByteIdentity: what matches nothing is handed on as the caller's own slice, in one call.
func TestU_28_ByteIdentity(t *testing.T) {
	binary := make([]byte, 1<<20)
	_, _ = rand.Read(binary)
	binary[len(binary)-1] = 0 // begins no value
	dst := &calls{same: binary}
	w := mask.NewWriter(dst, withForms(t, keys(10)...))
	if _, err := w.Write(binary); err != nil {
		t.Fatal(err)
	}
	if len(dst.got) != 1 || !dst.all || !bytes.Equal(dst.got[0], binary) {
		t.Errorf("%d calls, of the same slice: %v", len(dst.got), dst.all)
	}
	if err := w.Close(); err != nil || len(dst.got) != 1 {
		t.Errorf("Close: %v, %d calls", err, len(dst.got))
	}
}

// TestOneCallEach: a write with values in it is one call too, and one that is all held back none.
func TestOneCallEach(t *testing.T) {
	key := alone(24)
	dst := &calls{}
	w := mask.NewWriter(dst, exactly(t, value{"A", key}))
	for _, p := range []string{"a" + key + "b" + key + "c", key[:5], key[5:] + "d", ""} {
		if _, err := io.WriteString(w, p); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprintf("%q", dst.got); got != `["a****(A)b****(A)c" "****(A)d"]` {
		t.Error(got)
	}
}

// TestTheCallersSliceStays as it is.
func TestTheCallersSliceStays(t *testing.T) {
	key := token(24)
	p := []byte("a" + key + "b" + key[:10])
	before := bytes.Clone(p)
	w := mask.NewWriter(io.Discard, exactly(t, value{"A", key}))
	for range 3 {
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(p, before) {
		t.Errorf("%q became %q", before, p)
	}
}

// failing fails at its n-th write, in the way that it is told.
type failing struct {
	out   bytes.Buffer
	after int
	fail  func(p []byte) (int, error)
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return f.fail(p)
	}
	return f.out.Write(p)
}

// TestFailsClosed: after an error nothing more comes out, also at Close and when the writer behind has recovered.
func TestFailsClosed(t *testing.T) {
	broken := errors.New("broken pipe")
	key := token(24)
	for _, c := range []struct {
		name string
		fail func(p []byte) (int, error)
		want error
	}{
		{"error", func([]byte) (int, error) { return 0, broken }, broken},
		{"part and error", func(p []byte) (int, error) { return len(p) - 1, broken }, broken},
		{"short write", func(p []byte) (int, error) { return len(p) - 1, nil }, io.ErrShortWrite},
		{"more than given", func(p []byte) (int, error) { return len(p) + 1, nil }, io.ErrShortWrite},
	} {
		dst := &failing{after: 1, fail: c.fail}
		w := mask.NewWriter(dst, exactly(t, value{"A", key}))
		if _, err := io.WriteString(w, "one"+key[:4]); err != nil {
			t.Fatal(err)
		}
		if n, err := io.WriteString(w, key[4:]); n != 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
		dst.after = 100
		if n, err := io.WriteString(w, "three"); n != 0 || !errors.Is(err, c.want) {
			t.Errorf("%s: then %d, %v", c.name, n, err)
		}
		if err := w.Close(); !errors.Is(err, c.want) {
			t.Errorf("%s: Close: %v", c.name, err)
		}
		if got := dst.out.String(); got != "one" {
			t.Errorf("%s: %q came out", c.name, got)
		}
	}
}

// TestClosed writers take nothing more; closing again changes nothing.
func TestClosed(t *testing.T) {
	var out bytes.Buffer
	w := mask.NewWriter(&out, exactly(t, value{"A", "abcdefgh"}))
	_, _ = io.WriteString(w, "abc")
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := io.WriteString(w, "x"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Write: %v", err)
	}
	if out.String() != "abc" {
		t.Errorf("got %q", out.String())
	}
}

// TestWithoutASet nothing passes: neither without one, nor when it is destroyed while a value is held back.
func TestWithoutASet(t *testing.T) {
	var out bytes.Buffer
	w := mask.NewWriter(&out, nil)
	if _, err := io.WriteString(w, "text"); !errors.Is(err, mask.ErrNoSet) {
		t.Errorf("without a set: %v", err)
	}
	set := exactly(t, value{"A", "abcdefgh"})
	w = mask.NewWriter(&out, set)
	if _, err := io.WriteString(w, "abc"); err != nil {
		t.Fatal(err)
	}
	set.Destroy()
	if err := w.Close(); !errors.Is(err, mask.ErrNoSet) {
		t.Errorf("Close: %v", err)
	}
	if err := set.Add("B", newValue(t, "ijklmnop"), mask.ValueOptions{}); !errors.Is(err, mask.ErrNoSet) {
		t.Errorf("Add: %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("%q came out", out.String())
	}
}

// TestAddedValueIsACopy: the caller destroys his when he likes, and the set hides it on.
func TestAddedValueIsACopy(t *testing.T) {
	var set mask.Set
	v := newValue(t, "abcdefgh")
	if err := set.Add("A", v, mask.ValueOptions{}); err != nil {
		t.Fatal(err)
	}
	v.Destroy()
	defer set.Destroy()
	if err := set.Add("B", v, mask.ValueOptions{}); err == nil {
		t.Error("a destroyed value was added")
	}
	if got := through(t, &set, func(io.WriteCloser) {}, "abcdefgh"); got != "****(A)" {
		t.Errorf("got %q", got)
	}
}

// TestGrowingSet: what is held back is judged by a value that came meanwhile; what was out early needs no mark.
func TestGrowingSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, prepare := range engines() {
			var out screen
			long := "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
			set := exactly(t, value{"LONG", long})
			w := mask.NewWriter(&out, set)
			prepare(w)
			step := func(p, want string) {
				t.Helper()
				if _, err := io.WriteString(w, p); err != nil {
					t.Fatal(err)
				}
				if out.String() != want {
					t.Errorf("%s: after %q: %q, want %q", name, p, out.String(), want)
				}
			}
			step("abcdefg", "")
			time.Sleep(2 * mask.IdleAfter)
			synctest.Wait()
			fill(t, set, mask.ValueOptions{Exact: true}, value{"OUT", "abcd"}, value{"IN", "defg"})
			step("hX", "abcd****(OUT)hX")
			fill(t, set, mask.ValueOptions{Exact: true}, value{"Y", "YYYYYY"})
			step("YYYY", "abcd****(OUT)hX")
			step("YY", "abcd****(OUT)hX****(Y)")
			w.Close()
			set.Destroy()
		}
	})
}

// piecewise is what comes out when text is written in small pieces.
func piecewise(t *testing.T, set *mask.Set, text string, slow bool) string {
	var out screen
	w := mask.NewWriter(&out, set)
	if slow {
		mask.Slow(w)
	}
	for piece := range slices.Chunk([]byte(text), 7) {
		if _, err := w.Write(piece); err != nil {
			t.Error(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	return out.String()
}

// TestGrowingSet_outAlready: what was let go early needs no mark when it turns out to have been a value.
func TestGrowingSet_outAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out screen
		set := exactly(t, value{"LONG", "abcdefghijklmnopqrstuvwxyzabcdefghijkl"})
		w := mask.NewWriter(&out, set)
		_, _ = io.WriteString(w, "abcdef")
		time.Sleep(2 * mask.IdleAfter)
		synctest.Wait()
		fill(t, set, mask.ValueOptions{Exact: true}, value{"OUT", "abcd"})
		_, _ = io.WriteString(w, "!")
		if err := w.Close(); err != nil || out.String() != "abcdef!" {
			t.Errorf("got %q, %v", out.String(), err)
		}
	})
}

// TestManyAtOnce: writers share a set that grows. Run it with -race.
func TestManyAtOnce(t *testing.T) {
	values := keys(40)
	set := exactly(t, values[0])
	var wg sync.WaitGroup
	wg.Go(func() {
		for _, v := range values[1:] {
			if err := set.Add(v.name, newValue(t, v.bytes), mask.ValueOptions{}); err != nil {
				t.Error(err)
			}
		}
	})
	text := strings.Repeat("x"+strings.Repeat(values[0].bytes+",", 3), 200)
	want := strings.Repeat("x"+strings.Repeat("****(KEY0),", 3), 200)
	for i := range 4 {
		wg.Go(func() {
			if got := piecewise(t, set, text, i%2 == 0); got != want {
				t.Errorf("got %.100q…", got)
			}
		})
	}
	wg.Wait()
}
