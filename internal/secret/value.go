package secret

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// MaxSize is the most bytes that one Value holds: 16 MiB, the limit of the largest thing that is ever opened as a
// whole, a manifest part (F1).
const MaxSize = 16 << 20

var (
	// ErrDestroyed says that the bytes are gone: the Value was destroyed before.
	ErrDestroyed = errors.New("secret was destroyed")
	// ErrTooLarge says that there are more bytes than the caller or MaxSize allows.
	ErrTooLarge = errors.New("secret is too large")
)

// Value is a handle to bytes in locked memory. It is passed by value, and copies share the bytes: destroying one
// destroys all. The zero Value is empty, needs no Destroy and can be used. A Value is safe for concurrent use.
//
// Whoever makes a Value destroys it. One that is forgotten is wiped when the collector finds it unreachable, which is
// a net against leaks and comes at no certain time.
type Value struct {
	_ [0]func() // makes == a compile error: it would compare handles, and not in constant time
	c *cell
}

// New copies b into locked memory and wipes b, whether it succeeds or not. It fails with ErrTooLarge beyond MaxSize
// and when there is no memory.
func New(b []byte) (Value, error) {
	defer Wipe(b)
	return copyOf(b)
}

func copyOf(b []byte) (Value, error) {
	return Make(len(b), func(dst []byte) error {
		copy(dst, b)
		return nil
	})
}

// Make allocates n zeroed bytes (0 to MaxSize) and lets fill write them in place, so that no copy lies elsewhere.
// When fill fails the bytes are wiped and its error is returned as it is. fill must not keep its argument.
func Make(n int, fill func([]byte) error) (Value, error) {
	if n < 0 || n > MaxSize {
		return Value{}, fmt.Errorf("making a secret of %d bytes: %w", n, ErrTooLarge)
	}
	c, err := newCell(n)
	if err != nil {
		return Value{}, err
	}
	if err := fill(c.bytes()); err != nil {
		c.destroy()
		return Value{}, err
	}
	return Value{c: c}, nil
}

// MaxDerived is the most bytes that MakeDerived makes: 1 GiB.
const MaxDerived = 1 << 30

// MakeDerived is Make for large tables that are computed from secrets and are none themselves: of hashes, of marks which
// bytes occur. Their memory is locked and left out of core dumps, and MakeDerived takes up to MaxDerived bytes, but they
// never lie in memory that is hidden from the kernel: each page of that costs some 70 µs, against 0.3 µs here. Nor do they
// count in MemoryKind, which tells of the secrets.
func MakeDerived(n int, fill func([]byte) error) (Value, error) {
	if n < 0 || n > MaxDerived {
		return Value{}, fmt.Errorf("making a table of %d bytes: %w", n, ErrTooLarge)
	}
	at, err := process.allocDerived(n)
	if err != nil {
		return Value{}, err
	}
	c := cellAt(at, n)
	if err := fill(c.bytes()); err != nil {
		c.destroy()
		return Value{}, err
	}
	return Value{c: c}, nil
}

// Random makes n bytes from the system's generator.
func Random(n int) (Value, error) {
	return Make(n, func(b []byte) error {
		_, err := rand.Read(b)
		return err
	})
}

// firstRead is the room that Read starts with: a page, which holds any password, token or key.
const firstRead = 4096

// Read reads r to its end straight into locked memory. It fails with ErrTooLarge if there are more than limit bytes
// (at most MaxSize), and with the reader's error; nothing stays then.
func Read(r io.Reader, limit int) (Value, error) {
	if limit < 0 || limit > MaxSize {
		return Value{}, fmt.Errorf("reading a secret of up to %d bytes: %w", limit, ErrTooLarge)
	}
	// One byte of room above the limit tells an input that ends there from one that goes on.
	c, err := newCell(min(firstRead, limit+1))
	if err != nil {
		return Value{}, err
	}
	n := 0
	for {
		m, err := readFull(r, c.bytes()[n:])
		n += m
		switch {
		case n > limit:
			c.destroy()
			return Value{}, fmt.Errorf("reading a secret of up to %d bytes: %w", limit, ErrTooLarge)
		case errors.Is(err, io.EOF):
			c, err = c.resized(n, n)
			return Value{c: c}, err
		case err != nil:
			c.destroy()
			return Value{}, fmt.Errorf("reading a secret: %w", err)
		}
		if c, err = c.resized(min(2*n, limit+1), n); err != nil {
			return Value{}, err
		}
	}
}

// readFull fills b unless r ends or fails before; unlike io.ReadFull it says io.EOF for any end.
func readFull(r io.Reader, b []byte) (int, error) {
	n, err := io.ReadFull(r, b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// Use lends the bytes to f while it runs. f must not keep, append to or write them. Several Use may run at once, also
// of the same Value inside one another. After Destroy it returns ErrDestroyed and doesn't call f; that is its only
// error.
func (v Value) Use(f func(b []byte)) error {
	if v.c == nil {
		f(nil)
		return nil
	}
	b, err := v.c.enter()
	if err != nil {
		return err
	}
	defer v.c.leave()
	f(b)
	return nil
}

// Len is the number of bytes, also after Destroy.
func (v Value) Len() int {
	if v.c == nil {
		return 0
	}
	return v.c.size
}

// IsZero says that v is the zero Value: nothing was ever put in. A Value made of no bytes is empty, but not zero.
func (v Value) IsZero() bool { return v.c == nil }

// Clone copies the bytes into a Value of their own, which lives on when v is destroyed.
func (v Value) Clone() (Value, error) {
	var c Value
	var err error
	if used := v.Use(func(b []byte) { c, err = copyOf(b) }); used != nil {
		return Value{}, used
	}
	return c, err
}

// Equal compares the bytes; the time it takes depends on the lengths only. A destroyed Value equals nothing.
func (v Value) Equal(o Value) bool {
	equal := false
	used := v.Use(func(a []byte) {
		if o.Use(func(b []byte) { equal = subtle.ConstantTimeCompare(a, b) == 1 }) != nil {
			equal = false
		}
	})
	return used == nil && equal
}

// Destroy wipes the bytes and gives their memory back. From its call on no new Use begins; it returns when those that
// run have ended and the bytes are gone, so it must not be called inside a Use of the same Value. Calling it again, or
// on the zero Value, does nothing.
func (v Value) Destroy() {
	if v.c != nil {
		v.c.destroy()
	}
}

// Wipe overwrites b with zeros and is not optimised away. It can't reach copies made elsewhere: by append, by a string
// conversion or by a stack that moved.
//
//go:noinline
func Wipe(b []byte) {
	clear(b)
	runtime.KeepAlive(b)
}
