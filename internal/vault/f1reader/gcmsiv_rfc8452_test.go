package f1reader

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// hexBytes is JSON text in hex.
type hexBytes []byte

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *hexBytes) UnmarshalText(text []byte) error {
	decoded, err := hex.DecodeString(string(text))
	*h = decoded
	return err
}

// TestGCMSIV_RFC8452 checks the vectors of RFC 8452, appendix C.2 and C.3, and
// that no changed byte of a sealed text or of its associated data passes.
func TestGCMSIV_RFC8452(t *testing.T) {
	text, err := os.ReadFile("testdata/vectors/rfc8452-aes256.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ Key, Nonce, AAD, Plaintext, Result hexBytes }
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 26 { // 24 in C.2 and 2 in C.3
		t.Fatalf("%d vectors, want 26", len(vectors))
	}
	for i, v := range vectors {
		if sealed := sivSeal(v.Key, v.Nonce, v.Plaintext, v.AAD); !bytes.Equal(sealed, v.Result) {
			t.Errorf("vector %d: sealed %x, want %x", i, sealed, v.Result)
		}
		opened, err := sivOpen(v.Key, v.Nonce, v.Result, v.AAD)
		if err != nil || !bytes.Equal(opened, v.Plaintext) {
			t.Errorf("vector %d: opened %x, %v", i, opened, err)
		}
		for _, part := range []hexBytes{v.Result, v.AAD} {
			for at := range part {
				part[at] ^= 1
				if _, err := sivOpen(v.Key, v.Nonce, v.Result, v.AAD); err == nil {
					t.Errorf("vector %d: opened with byte %d changed", i, at)
				}
				part[at] ^= 1
			}
		}
	}
}

// TestPOLYVAL_RFC8452 checks the example of RFC 8452, appendix A.
func TestPOLYVAL_RFC8452(t *testing.T) {
	key, _ := hex.DecodeString("25629347589242761d31f826ba4b757b")
	input, _ := hex.DecodeString("4f4f95668c83dfb6401762bb2d01a262d1a24ddd2721d006bbe45f20d3c9f362")
	if sum := polyval(key, input); hex.EncodeToString(sum[:]) != "f7a3b47b846119fae5b7866cf5e5b77e" {
		t.Errorf("POLYVAL = %x", sum)
	}
}
