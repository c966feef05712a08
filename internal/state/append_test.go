package state_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"warder/internal/state"
	"warder/internal/testkit"
)

// openings are the ways to hold a file open.
func openings() map[string]func(*state.Dir, string) (*os.File, error) {
	return map[string]func(*state.Dir, string) (*os.File, error){
		"OpenAppend": (*state.Dir).OpenAppend,
		"OpenRead":   (*state.Dir).OpenRead,
	}
}

func TestOpenAppendWritesAtTheEnd(t *testing.T) {
	d := newDir(t)
	must(t, d.WriteNew("f", []byte("one ")))
	f, err := d.OpenAppend("f")
	must(t, err)
	defer f.Close()
	other, err := d.OpenAppend("f")
	must(t, err)
	defer other.Close()
	for _, step := range []struct {
		f    *os.File
		text string
	}{{f, "two "}, {other, "three "}, {f, "four"}} {
		_, err := step.f.WriteString(step.text)
		must(t, err)
	}
	must(t, f.Sync())
	r, err := d.OpenRead("f")
	must(t, err)
	defer r.Close()
	got, err := io.ReadAll(r)
	must(t, err)
	if string(got) != "one two three four" {
		t.Errorf("got %q", got)
	}
	if _, err := r.WriteString("x"); err == nil {
		t.Error("what was opened to read could be written")
	}
	// A caller takes back a part that did not become durable, and goes on at
	// the new end.
	must(t, f.Truncate(4))
	_, err = f.WriteString("five")
	must(t, err)
	got, err = d.Read("f", 100)
	must(t, err)
	if string(got) != "one five" {
		t.Errorf("after truncating: %q", got)
	}
}

// TestOpenAppendJudges plants what is no file of our own. Nothing is opened,
// made or followed.
func TestOpenAppendJudges(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	for _, p := range []struct {
		name, reason string
		plant        func(t *testing.T, d *state.Dir, path string)
	}{
		{"link", "is a symbolic link", func(t *testing.T, d *state.Dir, path string) {
			must(t, d.WriteNew("good", []byte("x")))
			must(t, os.Symlink("good", path))
		}},
		{"link to nothing", "is a symbolic link", func(t *testing.T, _ *state.Dir, path string) {
			must(t, os.Symlink("created", path))
		}},
		{"second name", "has 2 hard links", func(t *testing.T, d *state.Dir, path string) {
			must(t, d.WriteNew("good", []byte("x")))
			must(t, os.Link(filepath.Join(d.Path(), "good"), path))
		}},
		{"FIFO", "is a FIFO", func(t *testing.T, _ *state.Dir, path string) { makeFIFO(t, path) }},
		{"loose", "loose mode 0644, want 0600", mode(0o644)},
	} {
		for name, open := range openings() {
			t.Run(p.name+" "+name, func(t *testing.T) {
				d := newDir(t)
				p.plant(t, d, filepath.Join(d.Path(), "f"))
				before := snapshot(t, d.Path())
				f, err := open(d, "f")
				if f != nil {
					f.Close()
				}
				wantUnsafe(t, err, p.reason)
				if after := snapshot(t, d.Path()); len(after) != len(before) {
					t.Errorf("the directory changed: %v, then %v", before, after)
				}
			})
		}
	}
}

func TestOpenAppendNames(t *testing.T) {
	d := newDir(t)
	for name, open := range openings() {
		if _, err := open(d, "absent"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of a missing file: %v", name, err)
		}
		for _, bad := range []string{"", ".", "..", "../f", "a/b", ".tmp-1", "a\x00b"} {
			if f, err := open(d, bad); err == nil {
				f.Close()
				t.Errorf("%s opened %q", name, bad)
			}
		}
	}
	names, err := d.List()
	must(t, err)
	if len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}
