package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// MovedError says that a record was made for another directory than the one that was found: the files were copied or moved,
// or a variable that names a place has changed. Going on would act on what the record names, which is not what was asked for.
type MovedError struct {
	What     string // "data", "state" or "config"
	Recorded string // the directory in the record
	Found    string // the one that the environment names now

	// StateMoved says that the record itself lies elsewhere than it says: the whole state was copied or moved.
	StateMoved bool
}

// Error implements error.
func (e *MovedError) Error() string {
	return fmt.Sprintf("warder was set up with %s as its %s directory, and here that is %s", e.Recorded, e.What, e.Found)
}

// CheckPlaces compares the record with the places that were found, and returns a [*MovedError] for the first one that is
// another directory. The socket does not count: it is recorded because its directory differs between sessions.
func (in Install) CheckPlaces(p Places) error {
	stateMoved := !samePlace(in.State, p.State.Path)
	for _, place := range []struct{ what, recorded, found string }{
		{"state", in.State, p.State.Path},
		{"data", in.Data, p.Data.Path},
		{"config", in.Config, p.Config.Path},
	} {
		if !samePlace(place.recorded, place.found) {
			return &MovedError{What: place.what, Recorded: place.recorded, Found: place.found, StateMoved: stateMoved}
		}
	}
	return nil
}

// samePlace reports whether two paths mean the same directory, however they lead there: a home may be reached through a
// link. Of a directory that is not there yet, those above it tell.
func samePlace(a, b string) bool {
	if a == b {
		return true
	}
	above, below := existing(a)
	otherAbove, otherBelow := existing(b)
	return above != nil && otherAbove != nil && os.SameFile(above, otherAbove) && slices.Equal(below, otherBelow)
}

// existing is the deepest part of path that can be looked at, and the names below it.
func existing(path string) (fs.FileInfo, []string) {
	var below []string
	for at := path; ; at = filepath.Dir(at) {
		fi, err := os.Stat(at)
		if err == nil {
			return fi, below
		}
		if at == filepath.Dir(at) || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, nil
		}
		below = append(below, filepath.Base(at))
	}
}

// LooseParent finds a directory above path in which anybody may exchange what is there: one that others can reach and write,
// without the sticky bit. It returns "" if there is none. The exchange breaks no secret (the package comment's limits) but
// lets somebody else choose which of this user's directories are used, so the user is told.
func LooseParent(path string) string {
	above := existingAbove(path) // the nearest first
	slices.Reverse(above)
	for _, dir := range above {
		fi, err := os.Stat(dir)
		switch {
		case err != nil || fi.Mode().Perm()&0o001 == 0:
			return "" // others get no further
		case fi.Mode().Perm()&0o002 != 0 && fi.Mode()&fs.ModeSticky == 0:
			return dir
		}
	}
	return ""
}

// existingAbove are the directories above path that are there, without links, the nearest first.
func existingAbove(path string) (above []string) {
	there, err := filepath.EvalSymlinks(path)
	if err != nil { // path itself is missing: the deepest one that is not is above it
		for err != nil && path != filepath.Dir(path) {
			path = filepath.Dir(path)
			there, err = filepath.EvalSymlinks(path)
		}
		if err != nil {
			return nil
		}
		above = append(above, there)
	}
	for at := there; at != filepath.Dir(at); at = filepath.Dir(at) {
		above = append(above, filepath.Dir(at))
	}
	return above
}
