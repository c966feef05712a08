package seal_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
)

type boxVector struct {
	Name                           string
	Key, Nonce, AAD, Plain, Result hexBytes
}

func TestS2_09_RFC8452(t *testing.T) {
	vectors := readVectors[boxVector](t, "rfc8452.json")
	if len(vectors) != 26 {
		t.Errorf("%d vectors, want the 24 of C.2 and the 2 of C.3", len(vectors))
	}
	for _, v := range vectors {
		box := join(v.Nonce, v.Result)
		if plain, err := seal.Unwrap(v.Key, box, v.AAD); err != nil || !bytes.Equal(plain, v.Plain) {
			t.Errorf("%s: opened to %x, %v", v.Name, plain, err)
		}
		if diff := cmp.Diff(box, referenceWrap(v.Key, v.Nonce, v.Plain, v.AAD)); diff != "" {
			t.Errorf("%s: the reference of this test is wrong: %s", v.Name, diff)
		}
		seal.WithRandom(bytes.NewReader(v.Nonce), func() {
			if got, err := seal.Wrap(v.Key, v.Plain, v.AAD); err != nil || !bytes.Equal(got, box) {
				t.Errorf("%s: sealed to %x, %v", v.Name, got, err)
			}
		})
	}
}

func TestS2_09_XChaChaDraft(t *testing.T) {
	for _, v := range readVectors[boxVector](t, "xchacha.json") {
		box := join(v.Nonce, v.Result)
		plain := make([]byte, len(v.Plain))
		if err := seal.OpenContent(plain, v.Key, box, v.AAD); err != nil || !bytes.Equal(plain, v.Plain) {
			t.Errorf("%s: opened to %x, %v", v.Name, plain, err)
		}
		seal.WithRandom(bytes.NewReader(v.Nonce), func() {
			if got, err := seal.SealContent(v.Key, v.Plain, v.AAD); err != nil || !bytes.Equal(got, box) {
				t.Errorf("%s: sealed to %x, %v", v.Name, got, err)
			}
		})
	}
}

func TestS2_08_Argon2id(t *testing.T) {
	type vector struct {
		Source                 string
		Password, Salt, Result hexBytes
		Memory, Time           uint32
		Lanes                  uint8
	}
	for _, v := range readVectors[vector](t, "argon2id.json") {
		if got := seal.Stretch(v.Password, v.Salt, v.Memory, v.Time, v.Lanes); !bytes.Equal(got, v.Result) {
			t.Errorf("%s: %d KiB, %d, %d: got %x, want %x", v.Source, v.Memory, v.Time, v.Lanes, got, []byte(v.Result))
		}
	}
}

func TestS2_08_RFC5869(t *testing.T) {
	type vector struct {
		Name                    string
		IKM, Salt, Info, Result hexBytes
	}
	for _, v := range readVectors[vector](t, "rfc5869.json") {
		if got, err := seal.Derive(v.IKM, v.Salt, v.Info, len(v.Result)); err != nil || !bytes.Equal(got, v.Result) {
			t.Errorf("%s: got %x, %v", v.Name, got, err)
		}
	}
}

func TestS2_08_RFC4231(t *testing.T) {
	type vector struct {
		Name                 string
		Key, Message, Result hexBytes
	}
	for _, v := range readVectors[vector](t, "rfc4231.json") {
		for cut := range len(v.Message) + 1 {
			got := seal.Authenticate(v.Key, v.Message[:cut], v.Message[cut:])
			if !bytes.Equal(got[:], v.Result) {
				t.Fatalf("%s in two parts, cut at %d: got %x", v.Name, cut, got)
			}
		}
	}
}

func TestS2_03_RFC8032(t *testing.T) {
	type vector struct {
		Name                          string
		Seed, Public, Message, Result hexBytes
	}
	for _, v := range readVectors[vector](t, "rfc8032.json") {
		if got := seal.SignPublic(v.Seed); !bytes.Equal(got[:], v.Public) {
			t.Errorf("%s: public key %x", v.Name, got)
		}
		if got := seal.Sign(v.Seed, v.Message); !bytes.Equal(got[:], v.Result) {
			t.Errorf("%s: signature %x", v.Name, got)
		}
		if !seal.Verify([32]byte(v.Public), v.Message, v.Result) {
			t.Errorf("%s: signature refused", v.Name)
		}
	}
}
