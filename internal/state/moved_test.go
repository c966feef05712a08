package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"warder/internal/state"
)

// recorded is a record of places below home, and the places.
func recorded(home string) (state.Install, state.Places) {
	p := state.Places{
		Data:   state.Place{Path: filepath.Join(home, "data")},
		State:  state.Place{Path: filepath.Join(home, "state")},
		Config: state.Place{Path: filepath.Join(home, "config")},
	}
	in := installed()
	in.Data, in.State, in.Config = p.Data.Path, p.State.Path, p.Config.Path
	return in, p
}

// TestCheckPlaces: a copy, a move and a changed variable are told; another way to the same directory is none of them.
func TestCheckPlaces(t *testing.T) {
	top := t.TempDir()
	home, link, copied := filepath.Join(top, "home"), filepath.Join(top, "link"), filepath.Join(top, "copy")
	for _, dir := range []string{"home/data", "home/state", "copy/data", "copy/state"} {
		must(t, os.MkdirAll(filepath.Join(top, dir), 0o700))
	}
	must(t, os.Symlink(home, link))
	in, here := recorded(home)
	_, linked := recorded(link)
	_, there := recorded(copied)
	otherConfig := here
	otherConfig.Config.Path = filepath.Join(copied, "config")
	otherData := here
	otherData.Data.Path = there.Data.Path
	for _, row := range []struct {
		name       string
		in         state.Install
		places     state.Places
		what       string // "" where it is the same
		stateMoved bool
	}{
		{"as recorded", in, here, "", false},
		{"through a link, with a config directory that is not there", in, linked, "", false},
		{"copied", in, there, "state", true},
		{"another data directory", in, otherData, "data", false},
		{"another config directory, which is not there", in, otherConfig, "config", false},
		{"moved, so that the recorded one is gone", func() state.Install { gone, _ := recorded(filepath.Join(top, "gone")); return gone }(), here, "state", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var moved *state.MovedError
			err := row.in.CheckPlaces(row.places)
			if row.what == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.As(err, &moved) || moved.What != row.what || moved.StateMoved != row.stateMoved {
				t.Errorf("got %+v", err)
			}
		})
	}
}

// TestLooseParent: a directory that anybody may exchange is told, wherever it is above, but not one that nobody else reaches.
func TestLooseParent(t *testing.T) {
	needModes(t)
	top := t.TempDir() // below directories of the system, of which none is loose
	mode := func(perm os.FileMode, parts ...string) string {
		path := filepath.Join(append([]string{top}, parts...)...)
		must(t, os.MkdirAll(path, 0o700))
		must(t, os.Chmod(path, perm))
		return path
	}
	open := func(path string) { must(t, os.Chmod(path, 0o755)) }
	open(filepath.Dir(top)) // else nobody gets as far as here
	open(top)
	for at := top; at != "/"; at = filepath.Dir(at) {
		fi, err := os.Stat(at)
		must(t, err)
		if fi.Mode().Perm()&0o001 == 0 {
			t.Skipf("others do not get as far as %s", at)
		}
	}
	mode(0o777, "loose")
	mode(0o755, "loose", "mine")
	mode(0o777|os.ModeSticky, "sticky")
	mode(0o700, "closed")
	mode(0o777, "closed", "loose")
	must(t, os.Symlink(filepath.Join(top, "loose"), filepath.Join(top, "link")))
	for path, want := range map[string]string{
		"loose/mine/data":   "loose",
		"loose/data":        "loose",
		"loose/not/there":   "loose",
		"link/mine":         "loose",
		"sticky/data":       "",
		"closed/loose/data": "",
		"data":              "",
	} {
		if want != "" {
			want = filepath.Join(top, want)
		}
		if got := state.LooseParent(filepath.Join(top, path)); got != want {
			t.Errorf("above %s: %q, want %q", path, got, want)
		}
	}
}
