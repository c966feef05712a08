package vault_test

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/vault"
)

// TestFailedAtEachStep lets each step of every write fail as a full disk does, once or from then on, in a process that lives on. The
// account goes on, the error keeps its cause and is right about what became of the change, and the next start has nothing to complain about.
func TestFailedAtEachStep(t *testing.T) {
	for _, a := range acts() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			c := crash{act: a, base: newScene(t)}
			a.prepare(t, c.base)
			c.before = c.content(t, c.base.copy(t))
			whole := c.base.copy(t)
			must(t, a.do(t, whole, &life{on: func(cfg vault.Config) vault.Config { return cfg }, begin: func() {}, spare: func() {}}))
			c.after = c.content(t, whole)
			failures, stride := 0, 1
			switch {
			case testing.Short() && vault.RaceDetector:
				stride = 10 // a sample: the full table is for the plain run
			case testing.Short() && a.long:
				stride = 5
			}
			for step := 1; c.failAt(t, step, &failures); step += stride {
			}
			if failures == 0 {
				t.Error("nothing failed")
			}
		})
	}
}

// failAt runs the act with a failure at one step. It reports whether there is such a step.
func (c *crash) failAt(t *testing.T, step int, failures *int) bool {
	t.Helper()
	s := c.base.copy(t)
	f := &fault{step: step, lasting: step%2 == 0}
	err := c.do(t, s, &life{on: f.over, begin: f.begin, spare: f.end})
	f.end()
	if f.where == "" {
		must(t, err)
		return false
	}
	*failures++
	if err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the cause is lost: %v", err)
	}
	got := c.judge(t, s)
	switch {
	case got != c.before && got != c.after:
		t.Errorf("neither the old nor the new content (-old +found):\n%s", cmp.Diff(c.before, got))
	case c.partly:
	case got == c.before && tells(err) == changed:
		t.Errorf("it says that something has changed, and nothing has: %v", err)
	case got == c.after && tells(err) == unchanged:
		t.Errorf("it says that nothing has changed, and all has: %v", err)
	}
	if t.Failed() {
		t.Fatalf("failed at step %d, %s, for good: %v", step, f.where, f.lasting)
	}
	return true
}

// What an error says of a change.
const (
	unsaid = iota
	changed
	unchanged
)

func tells(err error) int {
	switch {
	case err == nil:
		return changed
	case strings.Contains(err.Error(), "not finished"):
		return unchanged
	case strings.Contains(err.Error(), "in force"):
		return changed
	case strings.Contains(err.Error(), "is unchanged"):
		return unchanged
	}
	return unsaid
}

// fault makes one step fail, or that and all writing after it.
type fault struct {
	step    int
	lasting bool
	mu      sync.Mutex
	on      bool
	at      int
	where   string // what failed first
}

func (f *fault) over(cfg vault.Config) vault.Config {
	cfg.Wrap(func(path string, d vault.Folder) vault.Folder { return failing{d, f, path} })
	return cfg
}

func (f *fault) begin() { f.turn(true) }
func (f *fault) end()   { f.turn(false) }

func (f *fault) turn(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.on = on
}

// pass counts a step and says whether it fails.
func (f *fault) pass(operation, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.on {
		return nil
	}
	f.at++
	if f.at != f.step && !(f.lasting && f.at > f.step && operation != "remove") {
		return nil
	}
	if f.where == "" {
		f.where = operation + " " + path
	}
	return &fs.PathError{Op: operation, Path: path, Err: syscall.ENOSPC}
}

// failing is a folder with a fault.
type failing struct {
	vault.Folder
	f    *fault
	path string
}

func (d failing) WriteNew(name string, data []byte) error {
	if err := d.f.pass("write", d.path+"/"+name); err != nil {
		return err
	}
	return d.Folder.WriteNew(name, data)
}

func (d failing) Replace(name string, data []byte) error {
	if err := d.f.pass("replace", d.path+"/"+name); err != nil {
		return err
	}
	return d.Folder.Replace(name, data)
}

func (d failing) Remove(name string) error {
	if err := d.f.pass("remove", d.path+"/"+name); err != nil {
		return err
	}
	return d.Folder.Remove(name)
}
