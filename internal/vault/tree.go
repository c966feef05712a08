package vault

import (
	"strings"
	"sync"

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
	held *heldFolders
	wrap func(path string, f folder) folder // nil outside tests
}

func newTree(top *state.Dir, wrap func(string, folder) folder) tree {
	return tree{top: top, held: &heldFolders{dirs: map[string]*state.Dir{}}, wrap: wrap}
}

// heldFolders are folders on the way to others, kept open while this process is the only writer: one write reaches into the same few
// again and again. They are not held any longer, because a sync client may put another folder in the place of one. It may do so
// meanwhile too: then making a file in the one that is gone fails, and the write with it.
type heldFolders struct {
	mu   sync.Mutex // the folders of items are read side by side
	on   bool
	dirs map[string]*state.Dir // by path
}

// maxHeld bounds the descriptors: enough for the folders of some vaults, whose item folders are not among them.
const maxHeld = 24

// hold begins to keep folders open.
func (t tree) hold() {
	t.held.mu.Lock()
	defer t.held.mu.Unlock()
	t.held.on = true
}

// release closes them.
func (t tree) release() {
	t.forget()
	t.held.mu.Lock()
	defer t.held.mu.Unlock()
	t.held.on = false
}

// forget closes the folders that are open, for whoever removes folders.
func (t tree) forget() {
	t.held.mu.Lock()
	defer t.held.mu.Unlock()
	for path, dir := range t.held.dirs {
		_ = dir.Close() // opened for reaching names; nothing is lost
		delete(t.held.dirs, path)
	}
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
	dir, mine := t.top, false // mine: this walk closes it
	for end := 0; end < len(path); end++ {
		start := end
		if i := strings.IndexByte(path[start:], '/'); i >= 0 {
			end += i
		} else {
			end = len(path)
		}
		next, held := t.held.get(path[:end])
		if !held {
			var err error
			if next, err = step(dir, path[start:end]); err != nil {
				closeIf(mine, dir)
				return err
			}
			held = t.held.take(path[:end], next)
		}
		closeIf(mine, dir)
		dir, mine = next, !held
	}
	defer closeIf(mine, dir)
	if t.wrap != nil {
		return f(t.wrap(path, dir))
	}
	return f(dir)
}

func (h *heldFolders) get(path string) (dir *state.Dir, held bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	dir, held = h.dirs[path]
	return dir, held
}

// take keeps an open folder if folders are kept, and says whether it did. Of two that were opened side by side it keeps the first.
func (h *heldFolders) take(path string, dir *state.Dir) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, held := h.dirs[path]; !held && h.on && len(h.dirs) < maxHeld {
		h.dirs[path] = dir
		return true
	}
	return false
}

// closeIf closes a folder that was opened for reaching names: nothing is lost with an error.
func closeIf(mine bool, dir *state.Dir) {
	if mine {
		_ = dir.Close()
	}
}

// splitPath cuts a path below a vault into folder and name. The folder is "" for the vault's own.
func splitPath(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}
