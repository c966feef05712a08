package proc

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"warder/internal/platform"
)

// A PlaceError says that a value can't be given as a file: not as one in memory alone, and there is no other place for it.
type PlaceError struct {
	Memory error // why not in memory alone
	Places error // why not in Spec.Places
}

func (e *PlaceError) Error() string {
	return fmt.Sprintf("no file can hold a value here: %v; and no directory in memory is this user's own: %v", e.Memory, e.Places)
}

// Unwrap gives both reasons.
func (e *PlaceError) Unwrap() []error { return []error{e.Memory, e.Places} }

const (
	// scratchPrefix begins the name of a scratch directory. What follows is random: nobody can be there first.
	scratchPrefix = "warder-run-"
	scratchTries  = 4
)

// scratch is a directory of one run, for files with values where none can be in memory alone. It is locked as long as the run
// lives, so that another run can tell one that was left behind.
type scratch struct {
	parent *os.Root
	own    *os.Root
	lock   *os.File // own itself
	name   string
}

// openScratch makes one in the first place that is good enough.
func openScratch(places []string) (*scratch, error) {
	var errs []error
	for _, path := range places {
		parent, err := openPlace(path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s, err := makeScratch(parent)
		if err == nil {
			return s, nil
		}
		errs = append(errs, err, parent.Close())
	}
	return nil, errors.Join(append(errs, errNoPlace)...)
}

var errNoPlace = errors.New("there is none")

// openPlace opens a directory if a value may be below it: in memory, and either closed to others or, as /dev/shm is, one in which
// nobody can rename or remove what is another's.
func openPlace(path string) (*os.Root, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%q is no absolute path", path)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	if err := checkPlace(root); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), root.Close())
	}
	return root, nil
}

func checkPlace(root *os.Root) error {
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	fi, err := dir.Stat()
	if err != nil {
		return err
	}
	owner, _, _ := platform.Owner(fi)
	private := owner == uint32(os.Geteuid()) && fi.Mode().Perm()&0o077 == 0 // #nosec G115 -- a user id
	shared := owner == 0 && fi.Mode()&os.ModeSticky != 0
	if !private && !shared {
		return errors.New("others may change what is in it")
	}
	inMemory, err := platform.IsInMemory(dir)
	if err == nil && !inMemory {
		err = errors.New("it is on a disk")
	}
	return err
}

// makeScratch makes and locks a directory. Between the two another run may take it for one that was left behind.
func makeScratch(parent *os.Root) (*scratch, error) {
	for range scratchTries {
		s := &scratch{parent: parent, name: scratchPrefix + strings.ToLower(rand.Text())}
		if err := parent.Mkdir(s.name, 0o700); err != nil {
			return nil, err
		}
		_ = parent.Chmod(s.name, 0o700) // whatever the umask says
		locked, err := s.open()
		if err == nil && locked && s.isThere() {
			return s, nil
		}
		s.close()
		if err != nil {
			return nil, errors.Join(err, parent.Remove(s.name))
		}
	}
	return nil, errors.New("what is made in it is removed at once")
}

// open opens the directory and takes its lock, if nobody has it.
func (s *scratch) open() (locked bool, err error) {
	if s.own, err = s.parent.OpenRoot(s.name); err != nil {
		return false, err
	}
	if s.lock, err = s.own.Open("."); err != nil {
		return false, err
	}
	return platform.TryLockFile(s.lock)
}

// isThere reports whether the name is still that of the directory, and this user's.
func (s *scratch) isThere() bool {
	named, err := s.parent.Lstat(s.name)
	if err != nil {
		return false
	}
	opened, err := s.lock.Stat()
	if err != nil || !os.SameFile(named, opened) {
		return false
	}
	owner, _, known := platform.Owner(opened)
	return known && owner == uint32(os.Geteuid()) // #nosec G115 -- a user id
}

func (s *scratch) close() {
	if s.lock != nil {
		_ = s.lock.Close()
	}
	if s.own != nil {
		_ = s.own.Close()
	}
}

// remove removes the directory with all that is in it.
func (s *scratch) remove() error {
	err := s.parent.RemoveAll(s.name)
	s.close()
	return err
}

// put writes a value into a new file, and returns its path.
func (s *scratch) put(name string, in *Injection) (string, error) {
	f, err := s.own.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	if err = f.Chmod(0o600); err == nil { // whatever the umask says
		err = writeExactly(f, in)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	return filepath.Join(s.own.Name(), name), nil
}

// sweep removes what runs that were killed have left in a place.
func sweep(path string) {
	parent, err := openPlace(path)
	if err != nil {
		return
	}
	defer parent.Close()
	dir, err := parent.Open(".")
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, scratchPrefix) {
			continue
		}
		s := &scratch{parent: parent, name: name}
		if fi, err := parent.Lstat(name); err != nil || !fi.IsDir() {
			continue
		}
		if locked, err := s.open(); err == nil && locked && s.isThere() {
			_ = s.remove()
			continue
		}
		s.close()
	}
}

// placeFiles gives the values that are to be files a place. Where they can be in memory alone, that is the stage's doing.
func (c *Child) placeFiles(spec *Spec, taken <-chan struct{}) error {
	if !slices.ContainsFunc(spec.Inject, func(in Injection) bool { return in.Delivery == ByFile }) {
		return nil
	}
	refused := checkLending(spec)
	if refused == nil {
		return nil
	}
	<-taken // a signal that ended this process would leave the files
	s, err := openScratch(spec.Places)
	if err != nil {
		return &PlaceError{Memory: refused, Places: err}
	}
	c.scratch = s
	list := slices.Clone(spec.Inject)
	for i := range list {
		if list[i].Delivery != ByFile {
			continue
		}
		path, err := s.put(strconv.Itoa(i), &list[i])
		if err != nil {
			return fmt.Errorf("writing the file of %s: %w", list[i].Name, err)
		}
		list[i] = Injection{Delivery: ByEnv, Name: list[i].Name, Size: len(path), Write: func(w io.Writer) error {
			_, err := io.WriteString(w, path)
			return err
		}}
	}
	spec.Inject = list
	return nil
}

// checkLending says why the program can't open a file that is in memory alone.
func checkLending(spec *Spec) error {
	if spec.noMemory != nil {
		return spec.noMemory
	}
	if err := platform.CheckLending(); err != nil {
		return err
	}
	// The kernel hides the descriptors of a program that its user may run and not read, from that program too.
	f, err := os.Open(spec.Path)
	if err != nil {
		return err
	}
	return f.Close()
}
