package vault

import (
	"errors"
	"io/fs"
	"maps"
	"strings"

	"warder/internal/seal"
)

// examine reads and judges the whole account as load does, and the files of the history too. Those are many times as many as the items,
// so a start leaves them alone.
func (c *core) examine() error {
	if err := c.load(); err != nil {
		return err
	}
	for _, s := range c.vaults {
		if err := checkHistory(s); err != nil {
			return err
		}
	}
	return c.judgeAll()
}

const objectRevision = "revision "

func revisionObject(id seal.ID, rev seal.Hash) string {
	return objectRevision + rev.String()[:16] + " of " + itemObject(id)
}

// revisionPath is the file, below its vault, of which a finding about a revision tells.
func revisionPath(object string) (path string, ok bool) {
	text, ok := strings.CutPrefix(object, objectRevision)
	rev, digits, _ := strings.Cut(text, " of item ")
	id, err := seal.ParseID(digits)
	return itemFolder(shardOf(id)) + "/" + id.String() + "-" + rev, ok && err == nil
}

// checkHistory looks for older revisions that are listed and were changed. That one is not there is no fault.
func checkHistory(s *shelf) error {
	maps.DeleteFunc(s.problems, func(object string, _ Finding) bool { return strings.HasPrefix(object, objectRevision) })
	folders := map[uint8][]seal.ID{}
	for id, m := range s.index {
		if len(m.link.history) > 0 {
			folders[shardOf(id)] = append(folders[shardOf(id)], id)
		}
	}
	for n, ids := range folders {
		err := s.c.shared.in(vaultPath(s.id, itemFolder(n)), func(d folder) error {
			for _, id := range ids {
				checkRevisions(reader{s, d, false}, id)
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func checkRevisions(r reader, id seal.ID) {
	heads := map[seal.Hash]bool{}
	for _, h := range r.s.heads[id] {
		heads[h.rev] = true
	}
	for _, rev := range r.s.revisions(id) {
		if heads[rev] {
			continue // was read
		}
		file, err := r.d.Read(itemFile(id, rev), limitItem)
		if errors.Is(err, fs.ErrNotExist) || err == nil && seal.HashOf(file) == rev {
			continue
		}
		object := revisionObject(id, rev)
		r.s.problems.set(alarm, FindTampered, object, "the file of "+object+" "+r.fault(id, rev))
	}
}

// isReadable says whether a file can be read, whatever is in it.
func isReadable(s *shelf, path string) bool {
	dir, name := splitPath(path)
	return s.c.shared.in(vaultPath(s.id, dir), func(d folder) error { _, err := d.Read(name, limitItem); return err }) == nil
}
