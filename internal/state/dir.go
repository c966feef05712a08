package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"warder/internal/platform"
)

// Dir is one directory of warder's own, held open. Nothing below it can lead
// outside, and moving or exchanging the directory does not change what an open
// Dir means. It is safe for use by several goroutines, and must be closed.
type Dir struct {
	root  *os.Root
	file  *os.File // the directory itself, to sync it and to rename in it
	path  string
	owner uint32 // whose files are believed: this process's user
	hooks *hooks // nil but in this package's own tests
}

// hooks lets this package's tests stand between two steps, or in the place of a
// missing feature. A nil function is not called.
type hooks struct {
	at     func(step) error
	lock   func(*os.File) error
	rename func(dir *os.File, oldName, newName string) error
	sync   func(f *os.File, dir bool) error
}

// step is a point in an operation after which a crash is simulated.
type step string

// reached runs the test hook of a step. An error stands for a failure of that
// step.
func (h *hooks) reached(s step) error {
	if h == nil || h.at == nil {
		return nil
	}
	return h.at(s)
}

// OpenDir opens an existing directory. Its last element must be a real
// directory, no link, owned by this user, with no right for group or others;
// otherwise it returns an [*UnsafeError]. A missing one is fs.ErrNotExist.
func OpenDir(path string) (*Dir, error) { return openDir(path, nil) }

// CreateDir is [OpenDir] for a directory that may be missing: it makes it, and
// the missing directories above it, with mode 0700 whatever the umask, durably.
// One that exists is checked and not changed.
func CreateDir(path string) (*Dir, error) {
	path, err := absolute(path)
	if err != nil {
		return nil, err
	}
	base, missing, err := splitMissing(path)
	if err != nil {
		return nil, err
	}
	if len(missing) == 0 {
		return OpenDir(path)
	}
	root, err := os.OpenRoot(base + string(filepath.Separator))
	if err != nil {
		return nil, withPath(err, base)
	}
	// The base is not ours to judge; it only lends its descriptor.
	parent := &Dir{root: root, path: base, owner: currentUser()}
	for _, name := range missing {
		child, err := createIn(parent, name)
		if closeErr := parent.Close(); err == nil && closeErr != nil {
			err = errors.Join(closeErr, child.Close())
		}
		if err != nil {
			return nil, err
		}
		parent = child
	}
	return parent, nil
}

// Open opens the subdirectory called name, one element, after the checks of
// [OpenDir]. The caller closes it; it does not depend on d being open.
func (d *Dir) Open(name string) (*Dir, error) {
	if err := checkName(d, name); err != nil {
		return nil, err
	}
	return openIn(d, name)
}

// Create is [Dir.Open] for a subdirectory that may be missing: it makes it with
// mode 0700 whatever the umask and syncs d. One that exists is checked and not
// changed.
func (d *Dir) Create(name string) (*Dir, error) {
	if err := checkName(d, name); err != nil {
		return nil, err
	}
	return createIn(d, name)
}

// List returns the names in the directory, sorted, subdirectories with a
// trailing "/". Temporary files of writers, alive or dead, are not listed.
// Nothing is judged: whatever is listed is refused when it is opened, if it
// must be.
func (d *Dir) List() ([]string, error) {
	entries, err := readEntries(d)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		switch {
		case isTemp(e.Name()):
		case e.IsDir():
			names = append(names, e.Name()+"/")
		default:
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

// Path returns the absolute path under which the directory was opened, for
// messages. It proves nothing: do not open files by it.
func (d *Dir) Path() string { return d.path }

// Close gives up the directory. Locks and subdirectories opened from it live on.
func (d *Dir) Close() error {
	var err error
	if d.file != nil {
		err = d.file.Close()
	}
	return errors.Join(err, d.root.Close())
}

// openDir is OpenDir with test hooks.
func openDir(path string, h *hooks) (*Dir, error) {
	path, err := absolute(path)
	if err != nil {
		return nil, err
	}
	before, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{path: path, owner: currentUser(), hooks: h}
	if err := judge(path, before, directory, d.owner); err != nil {
		return nil, err
	}
	if err := d.hooks.reached(stepOpen); err != nil {
		return nil, err
	}
	// The separator makes the kernel insist on a directory: without it a FIFO
	// put there since the look would hang the open.
	d.root, err = os.OpenRoot(path + string(filepath.Separator))
	if err != nil {
		return nil, withPath(err, path)
	}
	return newDir(d, before)
}

// openIn opens the subdirectory name of parent and judges it.
func openIn(parent *Dir, name string) (*Dir, error) {
	path := filepath.Join(parent.path, name)
	before, err := parent.root.Lstat(name)
	if err != nil {
		return nil, withPath(err, path)
	}
	if err := judge(path, before, directory, parent.owner); err != nil {
		return nil, err
	}
	if err := parent.hooks.reached(stepOpen); err != nil {
		return nil, err
	}
	// As in openDir: "name/." is opened as a directory or not at all, where the
	// bare name of a FIFO would hang.
	root, err := parent.root.OpenRoot(name + "/.")
	if err != nil {
		return nil, withPath(err, path)
	}
	return newDir(&Dir{root: root, path: path, owner: parent.owner, hooks: parent.hooks}, before)
}

// newDir completes d, whose root is open, and judges it by its descriptor. It
// must be the directory that before described, which was no link.
func newDir(d *Dir, before fs.FileInfo) (*Dir, error) {
	file, err := openSelf(d)
	if err != nil {
		return nil, errors.Join(withPath(err, d.path), d.root.Close())
	}
	d.file = file
	fi, err := file.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, fi):
		err = changing(d.path)
	default:
		err = judge(d.path, fi, directory, d.owner)
	}
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// createIn makes the subdirectory name of parent if it is missing, and opens it.
func createIn(parent *Dir, name string) (*Dir, error) {
	path := filepath.Join(parent.path, name)
	err := parent.root.Mkdir(name, dirMode)
	if errors.Is(err, fs.ErrExist) {
		return openIn(parent, name)
	}
	if err != nil {
		return nil, withPath(err, path)
	}
	d, err := openIn(parent, name)
	if errors.Is(err, fs.ErrPermission) {
		// The umask took rights from the owner himself.
		if err := parent.root.Chmod(name, dirMode); err != nil {
			return nil, withPath(err, path)
		}
		d, err = openIn(parent, name)
	}
	if err != nil {
		return nil, err
	}
	if err := finishDir(parent, d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// finishDir gives the new directory d its exact mode and makes it durable.
func finishDir(parent, d *Dir) error {
	if err := d.file.Chmod(dirMode); err != nil {
		return withPath(err, d.path)
	}
	file, err := openSelf(parent)
	if err != nil {
		return withPath(err, parent.path)
	}
	defer file.Close()
	return syncDir(parent, file)
}

// openSelf opens the directory itself. Package os tries to make what it opens
// non-blocking, so that it can wait for it, and undoes that where it can't, as
// for everything here: saying so at once saves four system calls an open.
func openSelf(d *Dir) (*os.File, error) {
	return d.root.OpenFile(".", os.O_RDONLY|platform.NonBlock, 0)
}

// syncDir makes the names in file, which is d, durable where the system can.
// Where it can't, there is nothing better to do than to go on: the renames
// themselves are still whole.
func syncDir(d *Dir, file *os.File) error {
	var err error
	if d.hooks != nil && d.hooks.sync != nil {
		err = d.hooks.sync(file, true)
	} else {
		err = platform.SyncDir(file)
	}
	if err == nil || errors.Is(err, platform.ErrUnsupported) {
		return nil
	}
	return withPath(err, d.path)
}

// readEntries reads the directory anew, through a descriptor of its own: a
// directory's read position is part of the open file.
func readEntries(d *Dir) ([]fs.DirEntry, error) {
	file, err := openSelf(d)
	if err != nil {
		return nil, withPath(err, d.path)
	}
	defer file.Close()
	entries, err := file.ReadDir(-1)
	if err != nil {
		return nil, fmt.Errorf("listing: %w", withPath(err, d.path))
	}
	return entries, nil
}

// splitMissing returns the deepest part of path that exists and the elements
// below it that don't.
func splitMissing(path string) (base string, missing []string, err error) {
	for base = path; ; base = filepath.Dir(base) {
		_, err := os.Lstat(base)
		if err == nil {
			slices.Reverse(missing)
			return base, missing, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(base) == base {
			return "", nil, err
		}
		missing = append(missing, filepath.Base(base))
	}
}

// absolute cleans path and makes it absolute. An empty path would mean the
// working directory, which nobody meant.
func absolute(path string) (string, error) {
	if path == "" {
		return "", errors.New("opening a directory: the path is empty")
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("opening directory %s: %w", path, err)
	}
	return abs, nil
}

// currentUser is the user whose files this process creates and believes.
func currentUser() uint32 { return uint32(os.Geteuid()) }
