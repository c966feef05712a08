package state

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"warder/internal/platform"
)

// tempPrefix begins the name of every file that is still being written. No
// other file may have it.
const tempPrefix = ".tmp-"

// The steps of an operation, named for what comes next.
const (
	stepOpen   step = "open"
	stepRead   step = "read"
	stepCreate step = "create"
	stepWrite  step = "write"
	stepSync   step = "sync"
	stepRename step = "rename"
	stepUnlink step = "unlink" // only where a rename without replacing is missing
	stepDir    step = "sync directory"
	stepDone   step = "done"
)

// WriteNew writes a new file called name, mode 0600, durably. It fails with
// fs.ErrExist, and changes nothing, if the name is taken by anything at all.
// After any other error there is no file of that name.
func (d *Dir) WriteNew(name string, data []byte) error {
	temp, err := writeTemp(d, name, data, syncFile)
	if err != nil {
		return err
	}
	if err := renameNew(d, temp, name); err != nil {
		return writing(d, name, err)
	}
	if err := finishWrite(d); err != nil {
		return writing(d, name, errors.Join(err, d.root.Remove(name)))
	}
	return nil
}

// Replace writes the file called name, mode 0600, durably, in the place of
// whatever has that name; a link is replaced, not followed. After an error the
// old content is entire, with one exception: if the directory could not be
// synced at the very end, the new content is entire but may not survive a power
// cut, and the error says so.
func (d *Dir) Replace(name string, data []byte) error {
	if err := replace(d, name, data, syncFile); err != nil {
		return err
	}
	if err := finishWrite(d); err != nil {
		return writing(d, name, fmt.Errorf("written, but perhaps not durably: %w", err))
	}
	return nil
}

// ReplaceSoon is [Dir.Replace] for a file that means nothing after a power cut, such as
// one about running processes: it waits for no disk. What it wrote may be gone or
// in part then, which the reader must see.
func ReplaceSoon(d *Dir, name string, data []byte) error {
	return replace(d, name, data, func(*Dir, *os.File) error { return nil })
}

// replace puts a new file in the place of whatever has the name.
func replace(d *Dir, name string, data []byte, sync func(*Dir, *os.File) error) error {
	temp, err := writeTemp(d, name, data, sync)
	if err != nil {
		return err
	}
	err = d.hooks.reached(stepRename)
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		return writing(d, name, discard(d, temp, err))
	}
	return nil
}

// Remove removes the file called name, or the empty subdirectory. It is no error if
// there is none. The removal is not synced: after a power cut the file may be
// back, which no caller may mind.
func (d *Dir) Remove(name string) error {
	if err := checkName(d, name); err != nil {
		return err
	}
	if err := d.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return withPath(err, filepath.Join(d.path, name))
	}
	return nil
}

// CleanTemp removes what writers that died have left: temporary files last
// written before the given time. It can't tell a dead writer's file from one
// that is being written, so the time must be before any write that may still be
// going on; under a lock that all writers of this directory take, any will do.
func (d *Dir) CleanTemp(before time.Time) error {
	temps, err := tempNames(d)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range temps {
		fi, err := d.root.Lstat(name)
		if err == nil && fi.ModTime().Before(before) {
			err = d.root.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, withPath(err, filepath.Join(d.path, name)))
		}
	}
	return errors.Join(errs...)
}

// writeTemp writes data to a temporary file in d and syncs it with sync. It returns the
// file's name; after an error there is no such file, if it could be removed.
// name is the file that is to be written, for checks and messages.
func writeTemp(d *Dir, name string, data []byte, sync func(*Dir, *os.File) error) (temp string, err error) {
	if err := checkName(d, name); err != nil {
		return "", err
	}
	if err := d.hooks.reached(stepCreate); err != nil {
		return "", writing(d, name, err)
	}
	temp, f, err := createTemp(d)
	if err != nil {
		return "", writing(d, name, err)
	}
	err = fillTemp(d, f, data, sync)
	if closeErr := f.Close(); err == nil {
		err = closeErr // some network file systems report a full disk only here
	}
	if err != nil {
		return "", writing(d, name, discard(d, temp, err))
	}
	return temp, nil
}

// createTemp creates an empty file of its own in d.
func createTemp(d *Dir) (string, *os.File, error) {
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return "", nil, fmt.Errorf("naming a temporary file: %w", err)
	}
	name := tempPrefix + hex.EncodeToString(random[:])
	// O_EXCL follows no link and opens nothing that is there already. A regular
	// file never blocks: see openSelf.
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|platform.NonBlock, fileMode)
	if err != nil {
		return "", nil, withPath(err, filepath.Join(d.path, name))
	}
	return name, f, nil
}

// fillTemp gives the new file f its exact mode and its content, and syncs it.
// Then it looks at what the file system has made of that, before a name points
// to it: some keep no modes, and one that kept nothing must not report success.
func fillTemp(d *Dir, f *os.File, data []byte, sync func(*Dir, *os.File) error) error {
	if err := f.Chmod(fileMode); err != nil {
		return err
	}
	if err := d.hooks.reached(stepWrite); err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := d.hooks.reached(stepSync); err != nil {
		return err
	}
	if err := sync(d, f); err != nil {
		return err
	}
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if fi.Size() != int64(len(data)) {
		return fmt.Errorf("the file system kept %d of %d bytes", fi.Size(), len(data))
	}
	return judge(filepath.Join(d.path, fi.Name()), fi, regularFile, d.owner)
}

func syncFile(d *Dir, f *os.File) error {
	if d.hooks != nil && d.hooks.sync != nil {
		return d.hooks.sync(f, false)
	}
	return f.Sync()
}

// renameNew gives the temporary file its name, unless that is taken. It removes
// the temporary file if it fails.
func renameNew(d *Dir, temp, name string) error {
	if err := d.hooks.reached(stepRename); err != nil {
		return discard(d, temp, err)
	}
	rename := platform.RenameNoReplace
	if d.hooks != nil && d.hooks.rename != nil {
		rename = d.hooks.rename
	}
	err := rename(d.file, temp, name)
	if errors.Is(err, platform.ErrUnsupported) {
		return linkNew(d, temp, name)
	}
	if err != nil {
		return discard(d, temp, err)
	}
	return nil
}

// linkNew is renameNew in two steps, for file systems that lack the one. A
// crash between them leaves two names for the same file, which Read bears with
// and CleanTemp heals; a second name that can't be removed is the same.
func linkNew(d *Dir, temp, name string) error {
	if err := d.root.Link(temp, name); err != nil {
		return discard(d, temp, err)
	}
	if err := d.hooks.reached(stepUnlink); err != nil {
		return errors.Join(err, d.root.Remove(name), d.root.Remove(temp))
	}
	_ = d.root.Remove(temp)
	return nil
}

// finishWrite makes a rename durable.
func finishWrite(d *Dir) error {
	if err := d.hooks.reached(stepDir); err != nil {
		return err
	}
	if err := syncDir(d, d.file); err != nil {
		return err
	}
	return d.hooks.reached(stepDone)
}

// discard removes the temporary file of a failed write, so that a full disk
// gets its room back, and returns the error that mattered.
func discard(d *Dir, temp string, err error) error {
	_ = d.root.Remove(temp)
	return err
}

func writing(d *Dir, name string, err error) error {
	return fmt.Errorf("writing %s: %w", filepath.Join(d.path, name), err)
}

func isTemp(name string) bool { return strings.HasPrefix(name, tempPrefix) }

// tempNames returns the names of the temporary files in d.
func tempNames(d *Dir) ([]string, error) {
	entries, err := readEntries(d)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if isTemp(e.Name()) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
