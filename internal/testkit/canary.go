package testkit

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// minCanary is the shortest canary accepted, in bytes. A shorter one has
// base64 cores of so few characters that ciphertext contains them by chance.
const minCanary = 6

// Canary is a secret that a test planted and that must not come out anywhere.
type Canary struct {
	Name  string // says in a report which secret leaked; not searched for
	Value []byte
}

// Hit is one canary found in one of its forms.
type Hit struct {
	Where  string // file or stream
	Canary string // its name
	Form   string // "raw", "hex", "hex upper", "base64 +1", "base64url +2", "percent", "JSON", …
	Offset int    // in bytes
}

// String describes the hit without the secret.
func (h Hit) String() string {
	return fmt.Sprintf("%s: %s as %s at byte %d", h.Where, h.Canary, h.Form, h.Offset)
}

// Search looks for a set of canaries, each raw, in hex of both cases, in the
// percent signs of a URL, in JSON with and without escapes for HTML, and in
// standard and URL base64 at each of the three alignments it can have inside
// an encoded longer text.
type Search struct {
	needles []needle
}

// needle is one form of one canary.
type needle struct {
	canary, form string
	bytes        []byte
}

// NewSearch returns a search for the canaries. It ends the test if a canary is
// too short to be told from chance, or if the search does not find every form
// of every canary in a tree that it planted itself: a search that can't find
// anything must not be able to pass.
func NewSearch(t testing.TB, canaries ...Canary) *Search {
	t.Helper()
	if len(canaries) == 0 {
		t.Fatal("testkit: a search needs at least one canary")
	}
	s := &Search{}
	for _, c := range canaries {
		if len(c.Value) < minCanary {
			t.Fatalf("testkit: canary %q has %d bytes, want at least %d", c.Name, len(c.Value), minCanary)
		}
		s.needles = append(s.needles, forms(c)...)
	}
	s.prove(t, canaries)
	return s
}

// forms returns every form of a canary once.
func forms(c Canary) []needle {
	found := []needle{
		{c.Name, "raw", c.Value},
		{c.Name, "hex", []byte(hex.EncodeToString(c.Value))},
		{c.Name, "hex upper", []byte(strings.ToUpper(hex.EncodeToString(c.Value)))},
	}
	for shift := range 3 {
		found = append(found,
			needle{c.Name, fmt.Sprintf("base64 +%d", shift), core(base64.RawStdEncoding, c.Value, shift)},
			needle{c.Name, fmt.Sprintf("base64url +%d", shift), core(base64.RawURLEncoding, c.Value, shift)})
	}
	percent := strings.ReplaceAll(url.QueryEscape(string(c.Value)), "+", "%20")
	html, plain := inJSON(c.Value, true), inJSON(c.Value, false)
	found = append(found,
		needle{c.Name, "percent", []byte(percent)},
		needle{c.Name, "percent lower", lowerEscapes(percent)},
		needle{c.Name, "percent, plus for a blank", []byte(url.QueryEscape(string(c.Value)))},
		needle{c.Name, "JSON", html}, needle{c.Name, "JSON without HTML's escapes", plain})
	unique := found[:0]
	for _, n := range found {
		if !contains(unique, n.bytes) {
			unique = append(unique, n)
		}
	}
	return unique
}

// Forms returns every form of a canary that a [Search] looks for, by name: for a
// program of a test that can't hold a Search because it runs elsewhere.
func Forms(c Canary) map[string][]byte {
	named := map[string][]byte{}
	for _, n := range forms(c) {
		named[n.form] = n.bytes
	}
	return named
}

// inJSON is what stands between the quotes of a JSON string.
func inJSON(value []byte, html bool) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	_ = e.Encode(string(value)) // a string is always encoded
	text := bytes.TrimSpace(b.Bytes())
	return text[1 : len(text)-1]
}

// lowerEscapes writes the hex digits behind percent signs in lower case.
func lowerEscapes(text string) []byte {
	out := []byte(text)
	for i := range out {
		if out[i] == '%' && i+2 < len(out) {
			copy(out[i+1:i+3], bytes.ToLower(out[i+1:i+3]))
		}
	}
	return out
}

// core encodes value as if shift bytes stood before it and keeps the characters
// that depend on value alone.
func core(enc *base64.Encoding, value []byte, shift int) []byte {
	padded := append(make([]byte, shift), value...)
	text := enc.EncodeToString(padded)
	first := (8*shift + 5) / 6  // characters that hold a bit of the shift
	last := 8 * len(padded) / 6 // characters filled by these bytes alone
	return []byte(text[first:last])
}

// contains reports whether one of the needles has exactly these bytes.
func contains(needles []needle, b []byte) bool {
	for _, n := range needles {
		if bytes.Equal(n.bytes, b) {
			return true
		}
	}
	return false
}

// Bytes returns every canary form in data, once each. Where names the data in
// the hits.
func (s *Search) Bytes(where string, data []byte) []Hit {
	var hits []Hit
	for _, n := range s.needles {
		if at := bytes.Index(data, n.bytes); at >= 0 {
			hits = append(hits, Hit{Where: where, Canary: n.canary, Form: n.form, Offset: at})
		}
	}
	return hits
}

// Tree returns every canary form in the regular files below root, in their
// names and in the targets of symbolic links, and the number of files read.
func (s *Search) Tree(root string) (hits []Hit, files int, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		hits = append(hits, s.Bytes("name "+path, []byte(rel))...)
		switch {
		case entry.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			files++
			hits = append(hits, s.Bytes(path, data)...)
		case entry.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			hits = append(hits, s.Bytes("target of "+path, []byte(target))...)
		}
		return nil
	})
	return hits, files, err
}

// RequireClean fails the test for every canary below root. It first plants the
// canaries in a file of that very tree, wants to find them there, and removes
// the file, so that a wrong or unreadable root can't pass; a tree without any
// other file fails too. It returns the number of files searched.
func (s *Search) RequireClean(t testing.TB, root string) (files int) {
	t.Helper()
	s.plantAndFind(t, root)
	hits, files, err := s.Tree(root)
	if err != nil {
		t.Fatalf("testkit: searching %s: %v", root, err)
	}
	if files == 0 {
		t.Errorf("testkit: no file to search in %s", root)
	}
	for _, hit := range hits {
		t.Errorf("canary found: %s", hit)
	}
	return files
}

// RequireCleanBytes fails the test for every canary in data, after finding them
// in the same data with the canaries appended.
func (s *Search) RequireCleanBytes(t testing.TB, where string, data []byte) {
	t.Helper()
	s.mustLook(t)
	if planted := append(bytes.Clone(data), s.sample()...); len(s.Bytes(where, planted)) < len(s.needles) {
		t.Fatalf("testkit: the search of %s does not find planted canaries", where)
	}
	for _, hit := range s.Bytes(where, data) {
		t.Errorf("canary found: %s", hit)
	}
}

// plantAndFind puts every form into one new file below root, searches for them
// and removes the file.
func (s *Search) plantAndFind(t testing.TB, root string) {
	t.Helper()
	s.mustLook(t)
	planted, err := os.CreateTemp(root, "planted-*")
	if err != nil {
		t.Fatalf("testkit: planting a canary: %v", err)
	}
	defer os.Remove(planted.Name())
	_, err = planted.Write(s.sample())
	if closeErr := planted.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		t.Fatalf("testkit: planting a canary: %v", err)
	}
	hits, _, err := s.Tree(root)
	if err != nil {
		t.Fatalf("testkit: searching %s: %v", root, err)
	}
	found := 0
	for _, hit := range hits {
		if hit.Where == planted.Name() {
			found++
		}
	}
	if found < len(s.needles) {
		t.Fatalf("testkit: found %d of %d planted canary forms in %s", found, len(s.needles), root)
	}
}

// mustLook ends the test if the search was not made by NewSearch and so looks
// for nothing.
func (s *Search) mustLook(t testing.TB) {
	t.Helper()
	if len(s.needles) == 0 {
		t.Fatal("testkit: the search looks for nothing")
	}
}

// sample holds every needle once, apart from each other.
func (s *Search) sample() []byte {
	var b []byte
	for _, n := range s.needles {
		b = append(append(b, n.bytes...), '\n')
	}
	return b
}

// prove encodes each canary as a leak would, inside a longer text, and wants
// each found. It does not use the needles, so an error in them shows.
func (s *Search) prove(t testing.TB, canaries []Canary) {
	t.Helper()
	for _, c := range canaries {
		for lead := range 3 {
			text := append(bytes.Repeat([]byte{'.'}, lead), c.Value...)
			text = append(text, " and more"...)
			for form, leak := range map[string][]byte{
				"raw":        text,
				"hex":        []byte(hex.EncodeToString(text)),
				"hex upper":  fmt.Appendf(nil, "%X", text),
				"base64":     []byte(base64.StdEncoding.EncodeToString(text)),
				"base64 url": []byte(base64.URLEncoding.EncodeToString(text)),
				"query":      []byte(url.QueryEscape(string(text))),
				"path":       []byte(strings.ReplaceAll(url.QueryEscape(string(text)), "+", "%20")),
				"path lower": lowerEscapes(strings.ReplaceAll(url.QueryEscape(string(text)), "+", "%20")),
				"JSON":       fmt.Appendf(nil, "{\"text\":\"%s\"}", inJSON(text, true)),
				"plain JSON": fmt.Appendf(nil, "{\"text\":\"%s\"}", inJSON(text, false)),
			} {
				if len(s.Bytes("", leak)) == 0 {
					t.Fatalf("testkit: the search does not find canary %q as %s after %d bytes", c.Name, form, lead)
				}
			}
		}
	}
}
