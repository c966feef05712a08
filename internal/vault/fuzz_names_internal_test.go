package vault

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"warder/internal/seal"
)

// FuzzDecodeCard reads the text of device cards.
func FuzzDecodeCard(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		stable(t, in, decodeCard, func(c *card) ([]byte, error) { return written(c.put) })
	})
}

// FuzzDecodeAttempts: whatever the file says, it is never an error, and the wait is never longer than the longest.
func FuzzDecodeAttempts(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		var a attempts
		frugal(t, len(in), func() { a = decodeAttempts(bytes.Clone(in)) })
		if a.failures < 0 {
			t.Errorf("%q: %d failures", in, a.failures)
		}
		if w := a.wait(a.last); w < 0 || w > maxWait || w == 0 && a.failures > 0 {
			t.Errorf("%q: a wait of %s after %d failures", in, w, a.failures)
		}
		text, err := encode(a.put)
		if err != nil {
			t.Fatalf("%q is read, and not written again: %v", in, err)
		}
		if again := decodeAttempts(text); again.failures != a.failures || !again.last.Equal(a.last) {
			t.Errorf("%q: %+v, and then %+v", in, a, again)
		}
	})
}

// FuzzParseMarker reads device/creating.
func FuzzParseMarker(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		id, err := parseMarker(in)
		if err == nil && strings.TrimSpace(string(in)) != id.String() {
			t.Errorf("%q is %s", in, id)
		}
	})
}

// FuzzFileNames: what a name is taken for, it is, letter by letter, and it is taken for one thing only.
func FuzzFileNames(f *testing.F) {
	f.Fuzz(func(t *testing.T, name string) {
		if epoch, ok := keysetEpoch(name); ok && fmt.Sprintf("%016x", epoch) != name[:16] {
			t.Errorf("%q is of keyset %d", name, epoch)
		}
		if epoch, ok := headerEpoch(name); ok && headerName(epoch) != name {
			t.Errorf("%q is the header of epoch %d", name, epoch)
		}
		if n, ok := parseShardName(name); ok && shardName(n) != name {
			t.Errorf("%q is shard %d", name, n)
		}
		if isItemName(name) {
			id, err := seal.ParseID(name[:32])
			if err != nil || !strings.HasPrefix(name, id.String()+"-") || len(name) != 49 {
				t.Errorf("%q is an item's", name)
			}
		}
		kinds := 0
		_, isKeyset := keysetEpoch(name)
		_, isHeader := headerEpoch(name)
		_, isShard := parseShardName(name)
		for _, is := range []bool{isKeyset, isHeader, isShard, isItemName(name), isTopName(name), isManifestName(name) || isVaultFolder(name), isItemFolder(name)} {
			if is {
				kinds++
			}
		}
		if kinds > 1 {
			t.Errorf("%q is of %d kinds", name, kinds)
		}
		if kinds > 0 && isDriveName(name) {
			t.Errorf("%q is a cloud drive's", name)
		}
	})
}
