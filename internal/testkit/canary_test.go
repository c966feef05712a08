package testkit_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/testkit"
)

// recorder is a testing.TB that notes failures and can end its own goroutine.
type recorder struct {
	testing.TB
	errors []string
	fatal  bool
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.fatal = true
	runtime.Goexit()
}

func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// record runs f with a recorder, as a test of its own goroutine.
func record(f func(testing.TB)) *recorder {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r
}

// secretText is made at run time, so that nothing secret-shaped is in the tree.
func secretText(seed byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + (seed*7+byte(i)*11)%26
	}
	return b
}

func TestSearchFindsEveryForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.SliceOfN(rapid.Byte(), 6, 80).Draw(t, "value")
		before := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "before")
		after := rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "after")
		text := bytes.Join([][]byte{before, value, after}, nil)
		leaks := map[string][]byte{
			"raw":     text,
			"hex":     []byte(hex.EncodeToString(text)),
			"HEX":     []byte(strings.ToUpper(hex.EncodeToString(text))),
			"std":     []byte(base64.StdEncoding.EncodeToString(text)),
			"url":     []byte(base64.URLEncoding.EncodeToString(text)),
			"raw std": []byte(base64.RawStdEncoding.EncodeToString(text)),
		}
		r := record(func(tb testing.TB) {
			search := testkit.NewSearch(tb, testkit.Canary{Name: "c", Value: value})
			for form, leak := range leaks {
				if len(search.Bytes(form, leak)) == 0 {
					tb.Errorf("not found as %s in %q", form, leak)
				}
			}
		})
		if len(r.errors) > 0 {
			t.Fatal(r.errors)
		}
	})
}

func TestSearchFindsNothingElse(t *testing.T) {
	search := testkit.NewSearch(t, testkit.Canary{Name: "c", Value: secretText(1, 20)})
	for seed := byte(2); seed < 20; seed++ {
		other := secretText(seed, 20)
		if bytes.Equal(other, secretText(1, 20)) {
			continue
		}
		if hits := search.Bytes("other", other); len(hits) > 0 {
			t.Errorf("found %v", hits)
		}
	}
}

func TestSearchRefusesWhatCanNotFail(t *testing.T) {
	short := record(func(tb testing.TB) { testkit.NewSearch(tb, testkit.Canary{Name: "c", Value: []byte("12345")}) })
	none := record(func(tb testing.TB) { testkit.NewSearch(tb) })
	search := testkit.NewSearch(t, testkit.Canary{Name: "c", Value: secretText(1, 12)})
	empty := record(func(tb testing.TB) { search.RequireClean(tb, t.TempDir()) })
	missing := record(func(tb testing.TB) { search.RequireClean(tb, filepath.Join(t.TempDir(), "absent")) })
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	unmade := record(func(tb testing.TB) { new(testkit.Search).RequireClean(tb, dir) })
	unmadeBytes := record(func(tb testing.TB) { new(testkit.Search).RequireCleanBytes(tb, "text", []byte("text")) })
	for name, r := range map[string]*recorder{
		"short": short, "none": none, "empty tree": empty, "missing tree": missing,
		"unmade search": unmade, "unmade search of bytes": unmadeBytes,
	} {
		if len(r.errors) == 0 {
			t.Errorf("%s passes", name)
		}
	}
}

func TestSearchProvesEachForm(t *testing.T) {
	c := testkit.Canary{Name: "c", Value: []byte("~~~>>>???\xff\xfe\xfd")} // where the two base64 alphabets differ
	for form := range testkit.Forms(c) {
		if r := record(func(tb testing.TB) { testkit.ProveWithout(tb, c, form) }); !r.fatal {
			t.Errorf("nobody misses the form %s", form)
		}
	}
}

func TestRequireClean(t *testing.T) {
	value := secretText(3, 15)
	leaks := map[string]func(dir string) error{
		"content": func(dir string) error {
			text := base64.StdEncoding.EncodeToString(append([]byte("xy"), value...))
			return os.WriteFile(filepath.Join(dir, "deep", "file"), []byte(text), 0o600)
		},
		"file name": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "deep", "a-"+string(value)), nil, 0o600)
		},
		"directory name": func(dir string) error { return os.Mkdir(filepath.Join(dir, string(value)), 0o700) },
		"link target":    func(dir string) error { return os.Symlink(string(value), filepath.Join(dir, "link")) },
	}
	search := testkit.NewSearch(t, testkit.Canary{Name: "title of an item", Value: value})
	for name, leak := range leaks {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "deep"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "harmless"), []byte("text"), 0o600); err != nil {
				t.Fatal(err)
			}
			clean := record(func(tb testing.TB) {
				if files := search.RequireClean(tb, dir); files != 1 {
					tb.Errorf("searched %d files, want 1: the planted one must be gone", files)
				}
			})
			if len(clean.errors) > 0 {
				t.Errorf("before the leak: %v", clean.errors)
			}
			if err := leak(dir); err != nil {
				t.Fatal(err)
			}
			r := record(func(tb testing.TB) { search.RequireClean(tb, dir) })
			if len(r.errors) == 0 {
				t.Fatal("leak not reported")
			}
			if !strings.Contains(r.errors[0], "title of an item") {
				t.Errorf("report does not name the canary: %s", r.errors[0])
			}
		})
	}
}

func TestRequireCleanBytes(t *testing.T) {
	value := secretText(5, 10)
	search := testkit.NewSearch(t, testkit.Canary{Name: "c", Value: value})
	search.RequireCleanBytes(t, "stdout", []byte("nothing here"))
	r := record(func(tb testing.TB) {
		search.RequireCleanBytes(tb, "stdout", fmt.Appendf(nil, "log: %X!", value))
	})
	if len(r.errors) != 1 || !strings.Contains(r.errors[0], "hex upper at byte 5") {
		t.Errorf("got %q", r.errors)
	}
}
