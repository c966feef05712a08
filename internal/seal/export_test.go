package seal

import (
	"crypto/rand"
	"io"
	"testing"

	"warder/internal/secret"
)

// The primitives, for the published vectors.
var (
	Derive       = derive
	Stretch      = stretch
	Authenticate = authenticate
	Sign         = sign
	SignPublic   = signPublic
	Verify       = verify
	Wrap         = wrap
	Unwrap       = unwrap
	SealContent  = sealContent
	OpenContent  = openContent
)

// The parts whose intermediate results tests look at.
var (
	Encode      = encode
	UseNormal   = useNormal
	UseDerived  = useDerived
	OpenRoot    = openRoot
	Commit      = commit
	WrapItemKey = wrapItemKey
)

const MaxGrowth = maxGrowth

// FixedRootKey returns a root key of known bytes.
func FixedRootKey(t testing.TB, b []byte) RootKey { return RootKey{fixed(t, b, keySize)} }

// FixedVaultKey returns a vault key of known bytes.
func FixedVaultKey(t testing.TB, b []byte) VaultKey { return VaultKey{fixed(t, b, keySize)} }

// FixedItemKey returns an item key of known bytes.
func FixedItemKey(t testing.TB, b []byte) ItemKey { return ItemKey{fixed(t, b, keySize)} }

// FixedDeviceKeys returns device keys of known bytes: signing seed, KEM key.
func FixedDeviceKeys(t testing.TB, b []byte) DeviceKeys {
	t.Helper()
	k, err := deviceKeys(fixed(t, b, deviceKeysSize).bytes)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func fixed(t testing.TB, b []byte, size int) key {
	t.Helper()
	if len(b) != size {
		t.Fatalf("key of %d bytes, want %d", len(b), size)
	}
	v, err := secret.New(append([]byte(nil), b...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Destroy)
	return key{v}
}

// Bytes copies what a key holds.
func (k key) Bytes(t testing.TB) []byte {
	t.Helper()
	var out []byte
	if err := k.use(func(b []byte) error { out = append(out, b...); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// Subkey copies the subkey that the label names.
func (k key) Subkey(t testing.TB, label string) []byte {
	t.Helper()
	var out []byte
	if err := k.subkey(label, func(b []byte) error { out = append(out, b...); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// WithRandom lets every nonce until the end of f come from r, also those that
// libraries draw. Tests that call it must not run in parallel.
func WithRandom(r io.Reader, f func()) {
	before := rand.Reader
	rand.Reader = r
	defer func() { rand.Reader = before }()
	f()
}
