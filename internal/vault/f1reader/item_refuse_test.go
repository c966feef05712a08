package f1reader

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// TestF1_5_PaddedSizes checks the sizes that items are padded to.
func TestF1_5_PaddedSizes(t *testing.T) {
	for n, want := range map[int]int{
		1: 256, 256: 256, 257: 1024, 1024: 1024, 1025: 4096, 4097: 16384, 16384: 16384,
		16385: 20480, 20481: 25600, 25601: 32000, 32001: 40000, 40001: 50000, 50001: 62500, 62501: 78125, 78126: 97656,
	} {
		if got := paddedSize(n); got != want {
			t.Errorf("%d bytes are padded to %d, want %d", n, got, want)
		}
	}
}

// TestF1_5_ItemRefusals seals wrong plaintexts under right keys.
func TestF1_5_ItemRefusals(t *testing.T) {
	f := newForge(t)
	v := f.vaultNamed("personal")
	name, item := v.itemNamed("login")
	good := item.shown.json
	text := writeCanonical(good)
	field := func(pairs ...any) []byte {
		return pad(writeCanonical(with(good, "fields", []any{with(object{"name": "a"}, pairs...)})))
	}
	spoiled := func(spoil func(padded []byte) []byte) []byte { return spoil(pad(text)) }
	for what, c := range map[string]struct {
		plaintext []byte
		opens     bool
	}{
		"as it was":              {pad(text), true},
		"unknown members":        {pad(writeCanonical(with(good, "colour", object{"a": 1}))), true},
		"a large value":          {field("value", b64(make([]byte, 65535))), true},
		"too large a value":      {field("value", b64(make([]byte, 65536))), false},
		"no base64":              {field("value", "a"), false},
		"base64 with loose bits": {field("value", "AB=="), false},
		"base64 with a line":     {field("value", "AA==\n"), false},
		"a field without name":   {field("name", nil), false},
		"a field's other type":   {field("concealed", 1), false},
		"a negative score":       {field("score", -1), false},
		"the largest JSON":       {pad(textOf(good, maxItem)), true},
		"too large a JSON":       {pad(textOf(good, maxItem+1)), false},
		"no padding":             {pad(text)[:4+len(text)], false},
		"more padding":           {spoiled(func(p []byte) []byte { return append(p, make([]byte, 4096-len(p))...) }), false},
		"padding with a byte":    {spoiled(func(p []byte) []byte { p[len(p)-1] = 1; return p }), false},
		"a shorter length":       {spoiled(func(p []byte) []byte { binary.BigEndian.PutUint32(p, uint32(len(text)-1)); return p }), false},
		"a longer length":        {spoiled(func(p []byte) []byte { binary.BigEndian.PutUint32(p, uint32(len(text)+1)); return p }), false},
		"a far longer length":    {spoiled(func(p []byte) []byte { binary.BigEndian.PutUint32(p, 1<<31); return p }), false},
		"nothing":                {nil, false},
		"white space":            {pad(append(slices.Clone(text), ' ')), false},
		"no object":              {pad([]byte("[]")), false},
		"no kind":                {pad(writeCanonical(with(good, "kind", nil))), false},
		"no name":                {pad(writeCanonical(with(good, "name", nil))), false},
		"no lamport":             {pad(writeCanonical(with(good, "lamport", nil))), false},
		"no vector":              {pad(writeCanonical(with(good, "vector", nil))), false},
		"no writer":              {pad(writeCanonical(with(good, "writer", nil))), false},
		"upper-case id":          {pad(writeCanonical(with(good, "writer", strings.Repeat("AB", 16)))), false},
		"a short hash":           {pad(writeCanonical(with(good, "parents", []any{"ab"}))), false},
	} {
		_, err := readRevision(sealItem(v.keys[1], v.id, name, c.plaintext), v.keys, v.id, name)
		if (err == nil) != c.opens {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// textOf is JSON of n bytes, all but a few of them in an unknown member.
func textOf(o object, n int) []byte {
	empty := len(writeCanonical(with(o, "padding", "")))
	return writeCanonical(with(o, "padding", strings.Repeat("x", n-empty)))
}

// TestF1_5_ItemsElsewhere checks that an item's file opens in its own place only.
func TestF1_5_ItemsElsewhere(t *testing.T) {
	f := newForge(t)
	v, other := f.vaultNamed("personal"), f.vaultNamed("Büro – 仕事")
	name, item := v.itemNamed("login")
	file := f.read(v.dir() + itemName(name, item.shown.hash))
	if _, err := readRevision(file, v.keys, v.id, name); err != nil {
		t.Fatal(err)
	}
	for what, read := range map[string]func() error{
		"another item":  func() error { _, err := readRevision(file, v.keys, v.id, id{1}); return err },
		"another vault": func() error { _, err := readRevision(file, v.keys, other.id, name); return err },
		"another key":   func() error { _, err := readRevision(file, other.keys, v.id, name); return err },
		"no key":        func() error { _, err := readRevision(file, nil, v.id, name); return err },
		"moved there": func() error {
			moved := slices.Clone(file)
			copy(moved[12:], other.id[:])
			_, err := readRevision(moved, other.keys, other.id, name)
			return err
		},
	} {
		if read() == nil {
			t.Errorf("%s: opened", what)
		}
	}
}

// TestF1_4_VaultHeaders checks that a header opens in its own place only.
func TestF1_4_VaultHeaders(t *testing.T) {
	f := newForge(t)
	v, other := f.vaultNamed("personal"), f.vaultNamed("Büro – 仕事")
	file := f.read(v.dir() + "header-0000000000000001")
	f.write(v.dir()+"header-0000000000000002", file)
	f.write(other.dir()+"header-0000000000000002", file)
	f.finds("tampered", "tampered")
	if _, _, err := vaultHeader(append(file, 0), f.ark, f.id, v.id); err == nil {
		t.Error("a header with a body passes")
	}
}
