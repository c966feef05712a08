package seal_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/seal"
)

func TestParseIDReadsOnlyWhatStringWrites(t *testing.T) {
	const good = "00112233445566778899aabbccddeeff"
	got, err := seal.ParseID(good)
	if err != nil || got.String() != good {
		t.Fatalf("read %v, %v", got, err)
	}
	for _, bad := range []string{
		"", good[:31], good[:30], good + "0", good + "00", strings.ToUpper(good), "A" + good[1:], " " + good[1:], good[:31] + "\n",
		"0x" + good[2:], good[:31] + "g", good[:30] + "é", strings.Repeat("/", 32), good[:16] + "-" + good[17:], strings.Repeat("\x00", 32),
	} {
		if id, err := seal.ParseID(bad); err == nil || !id.IsZero() {
			t.Errorf("%q read as %v, %v", bad, id, err)
		}
	}
}

func TestIDsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := seal.ID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		back, err := seal.ParseID(id.String())
		if err != nil || back != id {
			t.Fatalf("%v came back as %v, %v", id, back, err)
		}
	})
}

func TestNewIDsDiffer(t *testing.T) {
	seen := map[seal.ID]bool{{}: true}
	for range 1000 {
		id := seal.NewID()
		if seen[id] {
			t.Fatalf("%v twice or zero", id)
		}
		seen[id] = true
	}
	if !(seal.ID{}).IsZero() || id(1).IsZero() {
		t.Error("IsZero is wrong")
	}
}

func TestHashOf(t *testing.T) {
	data := []byte("abc")
	if got, want := seal.HashOf(data).String(), fmt.Sprintf("%x", sha256.Sum256(data)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestParseHashReadsOnlyWhatStringWrites(t *testing.T) {
	h := seal.HashOf([]byte("abc"))
	good := h.String()
	if got, err := seal.ParseHash(good); err != nil || got != h {
		t.Fatalf("read %v, %v", got, err)
	}
	for _, bad := range []string{
		"", good[:63], good[:62], good[:32], good + "0", good + "00", strings.ToUpper(good), "B" + good[1:], " " + good[1:],
		"0x" + good[2:], good[:63] + "g", good[:62] + "é", strings.Repeat("\x00", 64),
	} {
		if got, err := seal.ParseHash(bad); err == nil || got != (seal.Hash{}) {
			t.Errorf("%q read as %v, %v", bad, got, err)
		}
	}
}
