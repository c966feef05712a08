package state

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"warder/internal/platform"
)

// The modes of everything that this package creates, and the widest that it
// accepts: all rights for the owner, none for anybody else.
const (
	dirMode  fs.FileMode = 0o700
	fileMode fs.FileMode = 0o600
	others   fs.FileMode = 0o077
)

// openTries bounds how often a file is opened again because its name came to
// mean another file meanwhile. A writer replaces a file in one step, so the
// second try finds the new one; only an attack needs more.
const openTries = 8

// kind is what a name is expected to be.
type kind int

const (
	regularFile kind = iota
	directory
)

// judge says whether a file or directory described by fi may be believed. It
// must be the descriptor's own description wherever the verdict matters.
func judge(path string, fi fs.FileInfo, want kind, owner uint32) error {
	if err := judgeType(path, fi.Mode().Type(), want); err != nil {
		return err
	}
	uid, _, ok := platform.Owner(fi)
	if !ok {
		return nil // no owners and modes here: the package comment's limits
	}
	if uid != owner {
		return &UnsafeError{
			Path:   path,
			Reason: fmt.Sprintf("owned by uid %d, not %d", uid, owner),
			Repair: fmt.Sprintf("run warder as the owner, or, if you trust what is in it, as root: chown %d %s", owner, quote(path)),
		}
	}
	exact := fileMode
	if want == directory {
		exact = dirMode
	}
	if perm := fi.Mode().Perm(); perm&others != 0 {
		return &UnsafeError{
			Path:   path,
			Reason: fmt.Sprintf("loose mode %04o, want %04o", perm, exact),
			Repair: fmt.Sprintf("chmod %o %s", exact, quote(path)),
		}
	}
	return nil
}

// judgeType refuses everything that is not of the wanted kind.
func judgeType(path string, is fs.FileMode, want kind) error {
	if want == regularFile && is == 0 || want == directory && is == fs.ModeDir {
		return nil
	}
	var reason string
	switch {
	case is&fs.ModeSymlink != 0:
		reason = "is a symbolic link"
	case is&fs.ModeNamedPipe != 0:
		reason = "is a FIFO"
	case is&fs.ModeSocket != 0:
		reason = "is a socket"
	case is&fs.ModeDevice != 0:
		reason = "is a device"
	case is == fs.ModeDir:
		reason = "is a directory"
	case want == directory:
		reason = "is not a directory"
	default:
		reason = "is not a regular file"
	}
	return &UnsafeError{Path: path, Reason: reason, Repair: "see what it is, then move it away: ls -ld " + quote(path)}
}

// judgeLinks refuses a file that has another name. A second name can lie where
// others may reach it, and outlives a removal. One case is innocent: a writer
// that died between giving the file its name and removing the temporary one
// leaves both in this same directory until [Dir.CleanTemp].
func judgeLinks(d *Dir, path string, fi fs.FileInfo) error {
	_, links, ok := platform.Owner(fi)
	if !ok || links <= 1 || links == 2 && hasTempTwin(d, fi) {
		return nil
	}
	return &UnsafeError{
		Path:   path,
		Reason: fmt.Sprintf("has %d hard links", links),
		Repair: fmt.Sprintf("find the other names (find / -xdev -samefile %s), or make it a file of its own: cp -p %[1]s %[1]s.new && mv %[1]s.new %[1]s", quote(path)),
	}
}

// hasTempTwin reports whether a temporary name in d is the second name of fi.
func hasTempTwin(d *Dir, fi fs.FileInfo) bool {
	temps, err := tempNames(d)
	if err != nil {
		return false
	}
	for _, name := range temps {
		if twin, err := d.root.Lstat(name); err == nil && os.SameFile(twin, fi) {
			return true
		}
	}
	return false
}

// openFile opens the regular file called name in d and judges it. os.Root
// follows a link that stays inside, whatever flags it is given, and has to be
// asked twice: name was a regular file when it was looked at, and the file that
// got opened is that one. The look also keeps devices from being opened at all.
func openFile(d *Dir, name string, flag int) (*os.File, fs.FileInfo, error) {
	path := filepath.Join(d.path, name)
	for range openTries {
		f, fi, err := openFileOnce(d, name, path, flag)
		if f != nil || err != nil {
			return f, fi, err
		}
	}
	return nil, nil, changing(path)
}

// openFileOnce returns nil, nil, nil if name came to mean another file between
// the look and the open.
func openFileOnce(d *Dir, name, path string, flag int) (*os.File, fs.FileInfo, error) {
	before, err := d.root.Lstat(name)
	if err != nil {
		return nil, nil, withPath(err, path)
	}
	if err := judge(path, before, regularFile, d.owner); err != nil {
		return nil, nil, err
	}
	if err := d.hooks.reached(stepOpen); err != nil {
		return nil, nil, err
	}
	f, err := d.root.OpenFile(name, flag|platform.NoFollow|platform.NonBlock, 0)
	if err != nil {
		return nil, nil, withPath(err, path)
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, fi):
		f.Close()
		return nil, nil, nil
	default:
		if err = judge(path, fi, regularFile, d.owner); err == nil {
			err = judgeLinks(d, path, fi)
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

func changing(path string) error {
	return &UnsafeError{
		Path:   path,
		Reason: "was exchanged while it was being opened",
		Repair: "find out which program writes there, then try again",
	}
}

// checkName refuses everything but one plain element that is not a temporary
// name, so that no caller can be talked into leaving the directory.
func checkName(d *Dir, name string) error {
	if name == "" || name == "." || !filepath.IsLocal(name) || filepath.Base(name) != name ||
		strings.ContainsRune(name, 0) || isTemp(name) {
		return &fs.PathError{Op: "open", Path: filepath.Join(d.path, name), Err: fs.ErrInvalid}
	}
	return nil
}
