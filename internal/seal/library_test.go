package seal_test

import (
	"bytes"
	"testing"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"pgregory.net/rapid"

	"warder/internal/seal"
)

// TestWrapLikeTheLibrary: what one of the two wraps the other opens, whatever the
// lengths, and neither opens what was changed.
func TestWrapLikeTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key")
		plain := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "plain")
		aad := rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "aad")
		library, err := subtle.NewAESGCMSIV(key)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := seal.Wrap(key, plain, aad)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := library.Encrypt(plain, aad)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := library.Decrypt(ours, aad); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("the library opens %x, %v", got, err)
		}
		if got, err := seal.Unwrap(key, theirs, aad); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("we open %x, %v", got, err)
		}
		at := rapid.IntRange(0, len(theirs)-1).Draw(t, "at")
		theirs[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if got, err := seal.Unwrap(key, theirs, aad); err == nil {
			t.Errorf("changed at %d we open %x", at, got)
		}
	})
}
