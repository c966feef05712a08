package vault

import (
	"strings"

	"warder/internal/state"
)

// folder is what the vault needs of a directory. state.Dir is the real one; the crash tests have one that ends their process.
type folder interface {
	Read(name string, limit int64) ([]byte, error)
	WriteNew(name string, data []byte) error
	Replace(name string, data []byte) error
	Remove(name string) error
	List() ([]string, error)
}

// tree reaches the folders below one directory of warder's own. Each element on the way is checked for links, owner and mode.
type tree struct {
	top  *state.Dir
	wrap func(path string, f folder) folder // nil outside tests
}

// in calls f with an existing folder; path has forward slashes, "" is the top.
func (t tree) in(path string, f func(folder) error) error {
	return t.walk(path, (*state.Dir).Open, f)
}

// make is in, creating what is not there.
func (t tree) make(path string, f func(folder) error) error {
	return t.walk(path, (*state.Dir).Create, f)
}

func (t tree) walk(path string, step func(*state.Dir, string) (*state.Dir, error), f func(folder) error) error {
	dir := t.top
	if path != "" {
		for name := range strings.SplitSeq(path, "/") {
			next, err := step(dir, name)
			if dir != t.top {
				_ = dir.Close()
			}
			if err != nil {
				return err
			}
			dir = next
		}
		defer dir.Close() //nolint:errcheck // opened for reading names; nothing is lost
	}
	if t.wrap != nil {
		return f(t.wrap(path, dir))
	}
	return f(dir)
}

// splitPath cuts a path below a vault into folder and name. The folder is "" for the vault's own.
func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
