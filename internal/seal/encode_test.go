package seal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/seal"
)

func TestEncodeIsAsF1Says(t *testing.T) {
	got := must(seal.Encode("l/v1", []byte("ab"), nil, bytes.Repeat([]byte{7}, 258)))
	want := join([]byte("l/v1\x00\x02ab\x00\x00\x01\x02"), bytes.Repeat([]byte{7}, 258))
	if !bytes.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEncodeRefusesWhatDoesNotFit(t *testing.T) {
	for size, fits := range map[int]bool{65535: true, 65536: false, 65537: false, 1 << 20: false} {
		got, err := seal.Encode("l/v1", []byte("first"), make([]byte, size))
		if fits != (err == nil) || fits != (got != nil) {
			t.Errorf("field of %d bytes: %d bytes, %v", size, len(got), err)
		}
	}
}

// TestEncodeLosesNothing reads an encoding back, so that no two lists of fields
// can share one.
func TestEncodeLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "fields")
		rest, ok := bytes.CutPrefix(must(seal.Encode("warder/test/v1", fields...)), []byte("warder/test/v1"))
		if !ok {
			t.Fatal("no label")
		}
		back := [][]byte{}
		for len(rest) > 0 {
			n := 2 + int(binary.BigEndian.Uint16(rest))
			back, rest = append(back, rest[2:n]), rest[n:]
		}
		if diff := cmp.Diff(fields, back); diff != "" {
			t.Fatal(diff)
		}
	})
}

// labels reads the constants of labels.go.
func labels(t *testing.T) (labels []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "labels.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			labels = append(labels, must(strconv.Unquote(lit.Value)))
		}
		return true
	})
	if len(labels) < 20 {
		t.Fatalf("found only %d labels", len(labels))
	}
	return labels
}

func TestS2_03_LabelsStandApart(t *testing.T) {
	all := labels(t)
	form := regexp.MustCompile(`^warder/[a-z]+(-[a-z]+)*/v1$`)
	for i, a := range all {
		if !form.MatchString(a) {
			t.Errorf("label %q is not of the form warder/NAME/v1", a)
		}
		for _, b := range all[i+1:] {
			if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
				t.Errorf("one of the labels %q and %q starts the other", a, b)
			}
		}
	}
}

func TestS2_08_NoTwoSubkeysAreEqual(t *testing.T) {
	same := count(1, 32)
	root, vk := seal.FixedRootKey(t, same), seal.FixedVaultKey(t, same)
	keys := map[string]string{string(same): "the key itself"}
	for _, label := range labels(t) {
		sub := string(root.Subkey(t, label))
		if other, ok := keys[sub]; ok {
			t.Errorf("subkey of %q is that of %q", label, other)
		}
		keys[sub] = label
		if sub != string(vk.Subkey(t, label)) {
			t.Errorf("subkey of %q depends on more than key and label", label)
		}
	}
}

func TestFingerprint(t *testing.T) {
	a, b := seal.FixedVaultKey(t, count(1, 32)), seal.FixedVaultKey(t, count(2, 32))
	one := must(seal.Fingerprint(a, value(t, []byte("one"))))
	if again := must(seal.Fingerprint(a, value(t, []byte("one")))); again != one {
		t.Error("equal values, different fingerprints")
	}
	if two := must(seal.Fingerprint(a, value(t, []byte("two")))); two == one {
		t.Error("different values, equal fingerprints")
	}
	if other := must(seal.Fingerprint(b, value(t, []byte("one")))); other == one {
		t.Error("different vaults, equal fingerprints")
	}
	for size, fits := range map[int]bool{65535: true, 65536: false} {
		_, err := seal.Fingerprint(a, value(t, make([]byte, size)))
		if fits != (err == nil) {
			t.Errorf("value of %d bytes: %v", size, err)
		}
		if errors.Is(err, seal.ErrOpen) {
			t.Error("too long a value is called a failure to open")
		}
	}
}
