package vault

import (
	"bytes"
	"runtime/metrics"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

// The fuzz targets want three things of each reader: no panic, memory in proportion to the input, and that what is read and written again
// is read as the same thing and written as the same bytes from then on.

// allocated is how many bytes this process has taken from the heap so far.
func allocated() uint64 {
	sample := [1]metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// frugal wants a reader to take no more memory than some hundred times its input. The constant covers what runs beside it.
func frugal(t *testing.T, in int, read func()) {
	t.Helper()
	before := allocated()
	read()
	if used := allocated() - before; used > 4<<20+1000*uint64(in) { // #nosec G115 -- a length
		t.Errorf("%d bytes of input took %d", in, used)
	}
}

// stable wants read and write to agree on what they make of in.
func stable[T any](t *testing.T, in []byte, read func([]byte) (T, error), write func(T) ([]byte, error)) {
	t.Helper()
	var x T
	var err error
	frugal(t, len(in), func() { x, err = read(bytes.Clone(in)) })
	if err != nil {
		return
	}
	first, err := write(x)
	if err != nil {
		t.Fatalf("%q is read, and not written again: %v", in, err)
	}
	y, err := read(bytes.Clone(first))
	if err != nil {
		t.Fatalf("%q is written again as %q, and not read: %v", in, first, err)
	}
	second, err := write(y)
	if err != nil || !bytes.Equal(first, second) {
		t.Fatalf("%q is written again as\n%q and then as\n%q (%v)", in, first, second, err)
	}
}

func written(put func(*encoder)) ([]byte, error) { return encode(put) }

func FuzzDecodeJSON(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		frugal(t, len(in), func() { checkCanonical(t, in) })
	})
}

func FuzzDecodeItem(f *testing.F) {
	write := func(it *Item) ([]byte, error) {
		defer it.Destroy()
		v, err := encodeItem(it)
		if err != nil {
			return nil, err
		}
		defer v.Destroy()
		var out []byte
		err = v.Use(func(b []byte) { out = bytes.Clone(b) })
		return out, err
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		stable(t, in, func(b []byte) (*Item, error) { return decodeItem(b, true) }, write)
		// The text alone, so that mutations need not get length and padding right.
		if len(in) <= maxItemJSON {
			padded := make([]byte, paddedSize(4+len(in)))
			copy(padded[4:], in)
			padded[0], padded[1], padded[2], padded[3] = byte(len(in)>>24), byte(len(in)>>16), byte(len(in)>>8), byte(len(in))
			stable(t, padded, func(b []byte) (*Item, error) { return decodeItem(b, true) }, write)
			index, err := decodeItem(padded, false)
			full, fullErr := decodeItem(padded, true)
			switch {
			case err != nil && fullErr == nil:
				t.Errorf("%q: read with values, and without: %v", in, err)
			case err == nil && index.Fields != nil:
				t.Errorf("%q: fields without values", in)
			}
			if full != nil {
				full.Destroy()
			}
		}
	})
}

func FuzzDecodeRoot(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		stable(t, in, decodeRoot, func(r *root) ([]byte, error) { return written(r.put) })
	})
}

func FuzzDecodeShard(f *testing.F) {
	f.Fuzz(func(t *testing.T, n uint8, in []byte) {
		read := func(b []byte) (s shard, err error) {
			s.entries, s.extra, err = decodeShard(n, b)
			return s, err
		}
		stable(t, in, read, func(s shard) ([]byte, error) {
			for id, e := range s.entries {
				if shardOf(id) != n || len(e.vec) == 0 || e.dead.IsZero() == (e.rev == seal.Hash{}) {
					t.Errorf("entry %s: %+v", id, e)
				}
			}
			return written(putShard(s.entries, s.extra))
		})
	})
}

func FuzzDecodeSeen(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		stable(t, in, decodeSeen, func(s seen) ([]byte, error) { return written(s.put) })
	})
}

func FuzzParseKeyset(f *testing.F) {
	root := newRootKey(f)
	f.Fuzz(func(t *testing.T, in []byte) {
		var account seal.ID
		if len(in) >= framePrefix+16 {
			account = seal.ID(in[framePrefix:])
		}
		stable(t, in, func(b []byte) (*keyset, error) { return parseKeyset(account, b) }, func(k *keyset) ([]byte, error) {
			err := k.encode(account, root)
			return k.file, err
		})
		if k, err := parseKeyset(account, in); err == nil && k.authentic(root) {
			t.Error("a keyset that nobody made is authentic")
		}
		if k, err := parseKeyset(seal.ID{1, 2, 3}, in); err == nil && account != (seal.ID{1, 2, 3}) {
			t.Errorf("another account's keyset is read: %+v", k)
		}
	})
}

func FuzzParseCode(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, n := range []int{deviceSecretLen, recoveryCodeLen} {
			stable(t, in, func(b []byte) (secret.Value, error) {
				text, err := secret.New(b)
				if err != nil {
					t.Fatal(err)
				}
				defer text.Destroy()
				return parseCode(text, n)
			}, func(raw secret.Value) ([]byte, error) {
				defer raw.Destroy()
				if raw.Len() != n {
					t.Errorf("%d bytes", raw.Len())
				}
				text, err := codeText(raw)
				if err != nil {
					return nil, err
				}
				defer text.Destroy()
				var out []byte
				err = text.Use(func(b []byte) { out = bytes.Clone(b) })
				return out, err
			})
		}
	})
}

func FuzzUnframe(f *testing.F) {
	kinds := []magic{magicFormat, magicKeyset, magicCard, magicHeader, magicItem, magicRoot, magicShard, magicDeviceKeys, magicSeen}
	f.Fuzz(func(t *testing.T, in []byte, headerLen uint8) {
		readers := 0
		for _, m := range kinds {
			parts, err := unframe(m, "it", int(headerLen), in)
			if err != nil {
				continue
			}
			readers++
			if again := append(frame(m, parts.header), parts.body...); !bytes.Equal(again, in) || len(parts.header) != int(headerLen) {
				t.Errorf("%q as %s: %+v", in, m, parts)
			}
			if !bytes.Equal(parts.clear, in[:len(in)-len(parts.body)]) {
				t.Errorf("%q as %s: clear part %q", in, m, parts.clear)
			}
		}
		if readers > 1 {
			t.Errorf("%q is of %d kinds", in, readers)
		}
	})
}
