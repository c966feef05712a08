package vault

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/seal"
)

// comesBack wants x to be read as it was written, and written again as the same bytes.
func comesBack[T any](t *rapid.T, x T, write func(T) []byte, read func([]byte) (T, error)) {
	t.Helper()
	text := write(x)
	got, err := read(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if diff := cmp.Diff(x, got, same()); diff != "" {
		t.Fatalf("%s: %s", text, diff)
	}
	if again := write(got); !bytes.Equal(again, text) {
		t.Fatalf("written again as\n%s, not\n%s", again, text)
	}
	if again := write(x); !bytes.Equal(again, text) {
		t.Fatalf("written a second time as\n%s, not\n%s", again, text)
	}
}

func TestItemComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		it := drawItem(t)
		defer it.Destroy()
		padded := func(it *Item) []byte {
			v, err := encodeItem(it)
			defer v.Destroy()
			var out []byte
			if err == nil {
				err = v.Use(func(b []byte) { out = bytes.Clone(b) })
			}
			return must(t, out, err)
		}
		var opened []*Item
		comesBack(t, it, padded, func(b []byte) (*Item, error) {
			got, err := decodeItem(b, true)
			opened = append(opened, got)
			return got, err
		})
		index, err := decodeItem(padded(it), false)
		if err != nil {
			t.Fatal(err)
		}
		// The index has all but fields and unknown members.
		want := it.Meta
		want.extra = nil
		if diff := cmp.Diff(want, index.Meta, same()); diff != "" || index.Fields != nil {
			t.Fatalf("read without values: %s %v", diff, index.Fields)
		}
		for _, o := range opened {
			o.Destroy()
		}
	})
}

func TestRootComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comesBack(t, drawRoot(t), func(r *root) []byte { return mustEncode(r.put) }, decodeRoot)
	})
}

func TestShardComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Byte().Draw(t, "n")
		s := shard{entries: drawEntries(t, n), extra: drawExtra(t)}
		write := func(s shard) []byte { return mustEncode(putShard(s.entries, s.extra)) }
		comesBack(t, s, write, func(b []byte) (s shard, err error) {
			s.entries, s.extra, err = decodeShard(n, b)
			return s, err
		})
		if len(s.entries) > 0 {
			if _, _, err := decodeShard(n+1, write(s)); err == nil {
				t.Fatal("entries of another shard are read")
			}
		}
	})
}

func TestSeenComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comesBack(t, drawSeen(t), func(s seen) []byte { return mustEncode(s.put) }, decodeSeen)
	})
}

func TestKeysetComesBack(t *testing.T) {
	account, key := seal.NewID(), newRootKey(t)
	rapid.Check(t, func(t *rapid.T) {
		write := func(k *keyset) []byte {
			if err := k.encode(account, key); err != nil {
				t.Fatal(err)
			}
			return k.file
		}
		comesBack(t, drawKeyset(t), write, func(b []byte) (*keyset, error) {
			k, err := parseKeyset(account, b)
			if err == nil && !k.authentic(key) {
				t.Fatal("not authentic")
			}
			return k, err
		})
	})
}

func TestCardComesBack(t *testing.T) {
	account, key := seal.NewID(), newRootKey(t)
	rapid.Check(t, func(t *rapid.T) {
		c := drawCard(t)
		write := func(c *card) []byte { file, err := encodeCard(account, key, c); return must(t, file, err) }
		comesBack(t, c, write, func(b []byte) (*card, error) { return openCard(account, c.device, key, b) })
		if _, err := openCard(account, seal.NewID(), key, write(c)); err == nil {
			t.Fatal("opened as another device's")
		}
	})
}

func TestFrameComesBack(t *testing.T) {
	kinds := []magic{magicFormat, magicKeyset, magicCard, magicHeader, magicItem, magicRoot, magicShard, magicDeviceKeys, magicSeen}
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(kinds).Draw(t, "magic")
		header := rapid.SliceOfN(rapid.Byte(), 0, 132).Draw(t, "header")
		body := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "body")
		clear := frame(m, header)
		file := append(clear, body...)
		f, err := unframe(m, "it", len(header), file)
		if err != nil || !bytes.Equal(f.header, header) || !bytes.Equal(f.body, body) || !bytes.Equal(f.clear, clear) {
			t.Fatalf("%q: %+v %v", file, f, err)
		}
		for _, other := range kinds {
			if _, err := unframe(other, "it", len(header), file); (err == nil) != (other == m) {
				t.Fatalf("%s read as %s: %v", m, other, err)
			}
		}
		if _, err := unframe(m, "it", len(header)+1, file); err == nil {
			t.Fatal("another length of the header")
		}
		if _, err := unframe(m, "it", len(header), file[:len(clear)-1]); err == nil {
			t.Fatal("a header cut off")
		}
	})
}

// TestTimeZeroIsAbsent: 0 stands for a member that is not there, in the reader too.
func TestTimeZeroIsAbsent(t *testing.T) {
	for text, zero := range map[string]bool{`0`: true, `1`: false, `-1`: false} {
		err := decode([]byte(text), func(d *decoder) {
			if got := readTime(d); got.IsZero() != zero {
				t.Errorf("%s is read as %v", text, got)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestPaddedSizes(t *testing.T) {
	for n, want := range map[int]int{
		0: 256, 1: 256, 256: 256, 257: 1024, 1024: 1024, 1025: 4096, 4096: 4096, 4097: 16384, 16384: 16384, 16385: 20480, 20480: 20480,
		20481: 25600, 25601: 32000, 32001: 40000, 40001: 50000, 50001: 62500, 62501: 78125, 78126: 97656, 97657: 122070, 122071: 152587,
		4 + maxItemJSON: 1136853,
	} {
		if got := paddedSize(n); got != want {
			t.Errorf("%d bytes are padded to %d, not %d", n, got, want)
		}
	}
	// The largest item fits into the largest file that is read.
	if n := framePrefix + itemHeaderLen + 24 + paddedSize(4+maxItemJSON) + 16; n > limitItem {
		t.Errorf("a file of %d bytes, read are %d", n, limitItem)
	}
}

// TestPaddingIsChecked: one text has one plaintext.
func TestPaddingIsChecked(t *testing.T) {
	it := &Item{Meta: Meta{Kind: KindItem, Name: "n", link: revision{lamport: 1, vec: vector{{seal.ID{1}, 1}}, writer: seal.ID{1}}}}
	v, err := encodeItem(it)
	v = must(t, v, err)
	defer v.Destroy()
	var plain []byte
	_ = v.Use(func(b []byte) { plain = bytes.Clone(b) })
	if _, err := decodeItem(plain, true); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"nothing":            func([]byte) []byte { return nil },
		"three bytes":        func(b []byte) []byte { return b[:3] },
		"cut":                func(b []byte) []byte { return b[:len(b)-1] },
		"a byte more":        func(b []byte) []byte { return append(b, 0) },
		"the next size":      func(b []byte) []byte { return append(b, make([]byte, 1024-256)...) },
		"a bit in the zeros": func(b []byte) []byte { b[len(b)-1] = 1; return b },
		"a length too short": func(b []byte) []byte { b[3]--; return b },
		"a length too long":  func(b []byte) []byte { b[3]++; return b },
		"a length beyond":    func(b []byte) []byte { b[2] = 1; return b },
		"a length of 2^31":   func(b []byte) []byte { b[0] = 0x80; return b },
		"the longest length": func(b []byte) []byte { copy(b, "\xff\xff\xff\xff"); return b },
	} {
		if _, err := decodeItem(change(bytes.Clone(plain)), true); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

// TestUnsetClientsAreLeftOut: F1 has no word for a level that nobody set.
func TestUnsetClientsAreLeftOut(t *testing.T) {
	it := &Item{Meta: Meta{Clients: map[string]Level{"a": LevelUnset}}}
	if text := mustEncode(it.put); bytes.Contains(text, []byte("clients")) {
		t.Errorf("%s", text)
	}
	it.Clients["b"] = LevelNone
	if text := mustEncode(it.put); !bytes.Contains(text, []byte(`"clients":{"b":"none"}`)) {
		t.Errorf("%s", text)
	}
	if it.Clients["a"] != LevelUnset || len(it.Clients) != 2 {
		t.Error("the caller's map was changed")
	}
}
