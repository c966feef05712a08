package secret_test

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"warder/internal/secret"
)

// TestMakeDerived: a table is zeroed, larger than any secret may be, and gone when it was destroyed.
func TestMakeDerived(t *testing.T) {
	for _, n := range []int{0, 1, 5000, secret.MaxSize + 1} {
		v, err := secret.MakeDerived(n, func(b []byte) error {
			if !bytes.Equal(b, make([]byte, n)) {
				t.Errorf("%d bytes: not zeroed, or not that many", n)
			}
			for i := range b {
				b[i] = byte(i)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Use(func(b []byte) {
			if n > 0 && b[n-1] != byte(n-1) {
				t.Errorf("%d bytes: other ones are there", n)
			}
		}); err != nil {
			t.Error(err)
		}
		v.Destroy()
		if err := v.Use(func([]byte) {}); !errors.Is(err, secret.ErrDestroyed) {
			t.Errorf("%d bytes: a use after all: %v", n, err)
		}
	}
}

// TestMakeDerived_refuses what can't be, and says nothing of the memory of secrets.
func TestMakeDerived_refuses(t *testing.T) {
	kind := secret.MemoryKind()
	failed := errors.New("failed")
	if _, err := secret.MakeDerived(10, func([]byte) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a fill that failed: %v", err)
	}
	for _, n := range []int{-1, secret.MaxDerived + 1} {
		if _, err := secret.MakeDerived(n, nil); !errors.Is(err, secret.ErrTooLarge) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	if got := secret.MemoryKind(); got != kind {
		t.Errorf("memory kind %s became %s", kind, got)
	}
}

// TestDestroyWaits: no Use runs when Destroy has returned, and none begins after; who is inside sees the bytes to the end.
func TestDestroyWaits(t *testing.T) {
	for range 200 {
		v, err := secret.New([]byte("0123456789"))
		if err != nil {
			t.Fatal(err)
		}
		var users sync.WaitGroup
		begun := make(chan struct{}, 8)
		for range cap(begun) {
			users.Go(func() { useToTheEnd(t, v, begun) })
		}
		<-begun
		users.Go(v.Destroy)
		v.Destroy()
		if err := v.Use(func([]byte) { t.Error("a use after Destroy") }); !errors.Is(err, secret.ErrDestroyed) {
			t.Error(err)
		}
		users.Wait()
	}
}

// useToTheEnd uses v until it is gone, and says so when it has begun.
func useToTheEnd(t *testing.T, v secret.Value, begun chan<- struct{}) {
	for first := true; ; first = false {
		err := v.Use(func(b []byte) {
			if string(b) != "0123456789" {
				t.Errorf("inside: %q", b)
			}
			if first {
				begun <- struct{}{}
			}
		})
		if errors.Is(err, secret.ErrDestroyed) {
			return
		}
		if err != nil {
			t.Error(err)
		}
	}
}

// TestRetire: who holds a Value has its bytes until he lets go, and nobody else gets them any more.
func TestRetire(t *testing.T) {
	for _, holders := range []int{0, 1, 2} {
		v, err := secret.MakeDerived(100, func(b []byte) error {
			copy(b, "0123456789")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for range holders {
			if _, err := secret.Hold(v); err != nil {
				t.Fatal(err)
			}
		}
		secret.Retire(v)
		secret.Retire(v)
		if _, err := secret.Hold(v); !errors.Is(err, secret.ErrDestroyed) {
			t.Errorf("Hold of what is retired: %v", err)
		}
		for n := range holders {
			if v.Wiped() {
				t.Errorf("wiped with %d of %d holders left", holders-n, holders)
			}
			secret.Release(v)
		}
		if !v.Wiped() {
			t.Errorf("%d holders: not wiped in the end", holders)
		}
		v.Destroy()
	}
}
