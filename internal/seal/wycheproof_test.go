package seal_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"testing"

	"github.com/c2sp/wycheproof"

	"warder/internal/seal"
)

// Wycheproof's cases, from the module github.com/c2sp/wycheproof, aim at the
// mistakes that implementations make. Each test states how many cases it has
// run, so that a file that moved or changed its shape can't pass unread.

type wycheproofFile[C any] struct {
	TestGroups []wycheproofGroup[C]
}

type wycheproofGroup[C any] struct {
	KeySize, IVSize, TagSize int
	PublicKey                struct{ PK hexBytes }
	Tests                    []C
}

func readWycheproof[C any](t *testing.T, name string) []wycheproofGroup[C] {
	t.Helper()
	data, err := fs.ReadFile(wycheproof.TestVectors, name)
	if err != nil {
		t.Fatal(err)
	}
	var file wycheproofFile[C]
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return file.TestGroups
}

type verdict struct {
	TCID    int
	Comment string
	Result  string
}

// check compares a case's result with what happened; none of the files used
// here leaves a case open ("acceptable").
func (v verdict) check(t *testing.T, accepted bool) {
	t.Helper()
	if v.Result != "valid" && v.Result != "invalid" {
		t.Errorf("case %d: result %q", v.TCID, v.Result)
	}
	if accepted != (v.Result == "valid") {
		t.Errorf("case %d (%s): accepted %v, want %s", v.TCID, v.Comment, accepted, v.Result)
	}
}

func wantCases(t *testing.T, ran, want int) {
	t.Helper()
	if ran != want {
		t.Errorf("ran %d cases, want %d", ran, want)
	}
}

type aeadCase struct {
	verdict
	Key, IV, AAD, Msg, CT, Tag hexBytes
}

func TestS2_09_WycheproofKeyWrap(t *testing.T) {
	ran := 0
	for _, g := range readWycheproof[aeadCase](t, "aes_gcm_siv_test.json") {
		if g.KeySize != 256 {
			continue
		}
		for _, c := range g.Tests {
			ran++
			plain, err := seal.Unwrap(c.Key, join(c.IV, c.CT, c.Tag), c.AAD)
			c.check(t, err == nil && bytes.Equal(plain, c.Msg))
			if c.Result == "valid" && !bytes.Equal(referenceWrap(c.Key, c.IV, c.Msg, c.AAD), join(c.IV, c.CT, c.Tag)) {
				t.Errorf("case %d: the reference of this test is wrong", c.TCID)
			}
		}
	}
	wantCases(t, ran, 103)
}

func TestS2_09_WycheproofContent(t *testing.T) {
	ran := 0
	for _, g := range readWycheproof[aeadCase](t, "xchacha20_poly1305_test.json") {
		for _, c := range g.Tests {
			ran++
			plain := make([]byte, len(c.Msg))
			err := seal.OpenContent(plain, c.Key, join(c.IV, c.CT, c.Tag), c.AAD)
			c.check(t, err == nil && bytes.Equal(plain, c.Msg))
		}
	}
	wantCases(t, ran, 315)
}

func TestS2_03_WycheproofSignature(t *testing.T) {
	type signatureCase struct {
		verdict
		Msg, Sig hexBytes
	}
	ran := 0
	for _, g := range readWycheproof[signatureCase](t, "ed25519_test.json") {
		for _, c := range g.Tests {
			ran++
			c.check(t, seal.Verify([32]byte(g.PublicKey.PK), c.Msg, c.Sig))
		}
	}
	wantCases(t, ran, 150)
}

func TestS2_08_WycheproofDerive(t *testing.T) {
	type deriveCase struct {
		verdict
		IKM, Salt, Info, OKM hexBytes
		Size                 int
	}
	ran := 0
	for _, g := range readWycheproof[deriveCase](t, "hkdf_sha256_test.json") {
		for _, c := range g.Tests {
			ran++
			got, err := seal.Derive(c.IKM, c.Salt, c.Info, c.Size)
			c.check(t, err == nil && bytes.Equal(got, c.OKM))
		}
	}
	wantCases(t, ran, 86)
}

func TestS2_08_WycheproofAuthenticate(t *testing.T) {
	type macCase struct {
		verdict
		Key, Msg, Tag hexBytes
	}
	ran := 0
	for _, g := range readWycheproof[macCase](t, "hmac_sha256_test.json") {
		for _, c := range g.Tests {
			ran++
			got := seal.Authenticate(c.Key, c.Msg)
			c.check(t, fmt.Sprintf("%x", got[:g.TagSize/8]) == fmt.Sprintf("%x", []byte(c.Tag)))
		}
	}
	wantCases(t, ran, 174)
}
