package seal_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

// hexBytes is a byte string that JSON shows as hex.
type hexBytes []byte

func (h *hexBytes) UnmarshalText(text []byte) (err error) {
	*h, err = hex.DecodeString(string(text))
	return err
}

func (h hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

// readVectors reads a file of published vectors. It fails on a file without a
// source or without vectors, so that no test passes by finding nothing to do.
func readVectors[V any](t *testing.T, name string) []V {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Source  string
		Vectors []V
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if file.Source == "" || len(file.Vectors) == 0 {
		t.Fatalf("%s: no source or no vectors", name)
	}
	return file.Vectors
}

// count returns n bytes that count up from first: keys and ids whose place in a
// dump is easy to see.
func count(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

func id(first byte) seal.ID { return seal.ID(count(first, 16)) }

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// value puts b into locked memory for the length of a test.
func value(t testing.TB, b []byte) secret.Value {
	t.Helper()
	v, err := secret.New(join(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Destroy)
	return v
}

// reveal copies what v holds.
func reveal(t testing.TB, v secret.Value) []byte {
	t.Helper()
	var out []byte
	if err := v.Use(func(b []byte) { out = append(out, b...) }); err != nil {
		t.Fatal(err)
	}
	return out
}

// must returns v. It panics on an error: for calls that fail only if the test is
// wrong or the function broken.
func must[V any](v V, err error) V {
	if err != nil {
		panic(err)
	}
	return v
}

// refused fails the test unless err is ErrOpen and nothing else.
func refused(t *testing.T, what string, err error) {
	t.Helper()
	if err != seal.ErrOpen { //nolint:errorlint // the error must be the same for all, not one that wraps it
		t.Errorf("%s: error %v, want exactly ErrOpen", what, err)
	}
}

// opened fails the test unless err is nil.
func opened(t *testing.T, what string, err error) {
	t.Helper()
	if errors.Is(err, seal.ErrOpen) {
		t.Fatalf("%s does not open at its own place, so the test shows nothing", what)
	}
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
