package vault

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"warder/internal/seal"
	"warder/internal/state"
)

// refresh reads the roots that changed, their changed shards, and the items these name. A full refresh trusts nothing it knows and
// also looks for files that nobody lists.
func (s *shelf) refresh(full bool) error {
	r := &refresh{shelf: s, full: full, touched: map[uint8]bool{}, left: leftovers(s)}
	if len(s.keys) == 0 {
		return nil // its header is the finding
	}
	if err := r.readRoots(); err != nil {
		return err
	}
	if full {
		if err := r.touchAll(); err != nil {
			return err
		}
		clearOrphans(s)
		if err := r.findShardOrphans(); err != nil {
			return err
		}
	}
	return r.readItems()
}

// touchAll has every folder of items read that is there or held something.
func (r *refresh) touchAll() error {
	names, err := r.c.list(vaultPath(r.id, "items"))
	for _, name := range names {
		if isItemFolder(name) {
			n, _ := parseShardName(strings.TrimSuffix(name, "/"))
			r.touched[n] = true
		}
	}
	for id := range r.heads {
		r.touched[shardOf(id)] = true
	}
	for _, stated := range r.roots {
		for n := range stated.shards { // an earlier pass may have read them and have come no further
			r.touched[n] = true
		}
	}
	return err
}

// refresh is one pass over a vault's files.
type refresh struct {
	*shelf
	full    bool
	touched map[uint8]bool  // shard numbers whose items must be looked at again
	left    map[string]bool // left-over files
}

func (s *shelf) rootObject(device seal.ID) string {
	return "manifest of device " + device.String() + " in vault " + s.id.String()
}

// readRoots reads each root file whose bytes are not the ones known.
func (r *refresh) readRoots() error {
	names, err := r.c.list(vaultPath(r.id, "man"))
	if err != nil {
		return err
	}
	for dev, stated := range r.roots {
		r.absent[dev] = !slices.Contains(names, dev.String())
		if _, listed := r.c.keyset.roster[dev]; r.absent[dev] && !listed {
			for n := range stated.shards {
				r.touched[n] = true
			}
			forgetDevice(r.shelf, dev) // it was retired
		}
	}
	for dev := range r.unread {
		if !slices.Contains(names, dev.String()) {
			delete(r.unread, dev)
			r.problems.clear(r.rootObject(dev))
		}
	}
	for _, name := range names {
		dev, err := seal.ParseID(name)
		if err != nil {
			continue // a shard folder, or a cloud drive's conflicted copy
		}
		if err := r.lookAt(dev); err != nil {
			return err
		}
	}
	return nil
}

// lookAt reads one device's root if it is not the one known.
func (r *refresh) lookAt(dev seal.ID) error {
	file, err := r.c.readRootFile(r.id, dev)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if isUnfit(err) && r.isJunk(dev, err) {
		file, err = nil, nil // judged as what is no manifest
	}
	if err != nil {
		return err
	}
	if known := r.roots[dev]; r.full || known == nil || r.unread[dev] || known.mark.hash != seal.HashOf(file) {
		return r.readRoot(dev, file)
	}
	return nil
}

// isJunk says whether a root that is not to be read was not this account's in the first place: too large for one, or off the roster.
func (r *refresh) isJunk(dev seal.ID, err error) bool {
	_, listed := r.c.keyset.roster[dev]
	return !listed || errors.Is(err, state.ErrTooLarge)
}

// forgetDevice drops what a device stated.
func forgetDevice(s *shelf, dev seal.ID) {
	if stated := s.roots[dev]; stated != nil {
		for n := range stated.root.shards {
			s.problems.clear(s.shardObject(dev, n))
		}
	}
	delete(s.roots, dev)
	delete(s.absent, dev)
	s.problems.clear(s.rootObject(dev))
}

// readRoot takes one device's root. A bad one leaves the last good one in force and is a finding.
func (r *refresh) readRoot(dev seal.ID, file []byte) error {
	object := r.rootObject(dev)
	r.problems.clear(object)
	r.unread[dev] = true
	signer, ok := r.c.signer(dev)
	if !ok {
		if _, listed := r.c.keyset.roster[dev]; listed {
			return nil // that its card is not here, or was changed, is a finding of its own
		}
		r.problems.set(pending, FindBehind, object, object+" is here, but the device is not on the roster")
		return nil
	}
	place := seal.ManifestPlace{Account: r.c.account, Vault: r.id, Device: dev, Part: rootPart}
	plain, seq, err := openPart(r.keys, signer, place, file)
	var stated *root
	if err == nil {
		if stated, err = decodeRoot(plain); err == nil && stated.seq != seq {
			err = seal.ErrOpen
		}
	}
	if isNewer(err) {
		return err
	}
	if err != nil {
		r.problems.set(alarm, FindTampered, object, object+" was changed or is not the device's own")
		return nil
	}
	now := &deviceRoot{root: stated, mark: mark{stated.seq, seal.HashOf(file)}, shards: map[uint8]shard{}}
	if err := r.readShards(dev, r.roots[dev], now); err != nil {
		return err
	}
	delete(r.unread, dev)
	r.roots[dev] = now // with all its shards: a root without them would say that what they list is gone
	return nil
}

// readShards fills now's shards, taking over from was what did not change, and notes which numbers did.
func (r *refresh) readShards(dev seal.ID, was, now *deviceRoot) error {
	if was == nil {
		was = &deviceRoot{}
	}
	for n := range was.shards {
		if _, still := now.root.shards[n]; !still {
			r.touched[n] = true
			r.problems.clear(r.shardObject(dev, n))
		}
	}
	read := func(d folder) error {
		for n, want := range now.root.shards {
			old := was.shards[n]
			if old.hash == want && !old.broken && !r.full {
				now.shards[n] = old
				continue
			}
			r.touched[n] = true
			s, err := r.readShard(d, dev, n, want)
			if err != nil {
				return err
			}
			if s.broken {
				s.entries, s.extra = old.entries, old.extra // the last good copy: what is absent is not deleted
			}
			now.shards[n] = s
		}
		return nil
	}
	err := r.c.shared.in(vaultPath(r.id, "man/"+dev.String()+".d"), read)
	if errors.Is(err, fs.ErrNotExist) {
		return read(nowhere{})
	}
	return err
}

func (s *shelf) shardObject(dev seal.ID, n uint8) string {
	return "shard " + shardName(n) + " of device " + dev.String() + " in vault " + s.id.String()
}

func shardFile(n uint8, hash seal.Hash) string { return shardName(n) + "-" + hash.String()[:8] }

func (r *refresh) readShard(d folder, dev seal.ID, n uint8, want seal.Hash) (shard, error) {
	object := r.shardObject(dev, n)
	r.problems.clear(object)
	s := shard{hash: want, broken: true}
	file, err := d.Read(shardFile(n, want), limitManifest)
	if errors.Is(err, fs.ErrNotExist) {
		r.problems.set(pending, FindMissing, object, object+" is not there")
		return s, nil
	}
	if err != nil && !errors.Is(err, state.ErrTooLarge) {
		return s, err
	}
	if err == nil && seal.HashOf(file) == want {
		place := seal.ManifestPlace{Account: r.c.account, Vault: r.id, Device: dev, Part: uint16(n)}
		signer, _ := r.c.signer(dev)
		plain, _, err := openPart(r.keys, signer, place, file)
		if err == nil {
			s.entries, s.extra, err = decodeShard(n, plain)
		}
		if err == nil {
			s.broken = false
			return s, nil
		}
		if isNewer(err) {
			return s, err
		}
	}
	s.entries, s.extra = nil, nil
	r.problems.set(alarm, FindTampered, object, object+" was changed")
	return s, nil
}

// mergeHeads works out, for the items of one shard number, the entries that no other entry has seen.
func mergeHeads(roots map[seal.ID]*deviceRoot, n uint8) map[seal.ID][]entry {
	heads := map[seal.ID][]entry{}
	for _, r := range roots {
		for id, e := range r.shards[n].entries {
			heads[id] = addHead(heads[id], e)
		}
	}
	return heads
}

func addHead(heads []entry, e entry) []entry {
	for _, h := range heads {
		switch e.vec.compare(h.vec) {
		case before:
			return heads
		case equal:
			if h.rev == e.rev {
				return heads
			}
		case after, concurrent:
		}
	}
	heads = slices.DeleteFunc(heads, func(h entry) bool { return h.vec.compare(e.vec) == before })
	return append(heads, e)
}

// readItems brings heads and index up to date for the shard numbers that changed. Folders are read side by side, since opening an item
// is arithmetic; the vault's maps are only written afterwards.
func (r *refresh) readItems() error {
	readers := make([]folderReader, 0, len(r.touched))
	for _, n := range slices.Sorted(maps.Keys(r.touched)) {
		readers = append(readers, folderReader{v: r.shelf, n: n, full: r.full, left: r.left})
	}
	jobs := make(chan *folderReader)
	errs := make([]error, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			for b := range jobs {
				errs[i] = errors.Join(errs[i], b.read())
			}
		})
	}
	for i := range readers {
		jobs <- &readers[i]
	}
	close(jobs)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	now := make(map[uint8]*folderReader, len(readers))
	for i := range readers {
		now[readers[i].n] = &readers[i]
	}
	for id := range r.heads {
		if b := now[shardOf(id)]; b != nil && b.heads[id] == nil {
			delete(r.heads, id)
			r.unindex(id)
		}
	}
	for i := range readers {
		readers[i].merge()
	}
	return nil
}

// folderReader reads the items of one folder. It only reads the vault's maps; merge writes them.
type folderReader struct {
	v        *shelf
	n        uint8
	full     bool
	left     map[string]bool
	heads    map[seal.ID][]entry
	metas    map[seal.ID]*Meta // shown revisions, read or known
	names    []string
	problems problems
}

func itemObject(id seal.ID) string { return "item " + id.String() }

func itemFile(id seal.ID, rev seal.Hash) string { return id.String() + "-" + rev.String()[:16] }

func itemFolder(n uint8) string { return "items/" + shardName(n) }

func (b *folderReader) read() error {
	heads := mergeHeads(b.v.roots, b.n)
	b.heads, b.metas, b.problems = heads, map[seal.ID]*Meta{}, problems{}
	if len(heads) == 0 && !b.full {
		return nil
	}
	err := b.v.c.shared.in(vaultPath(b.v.id, itemFolder(b.n)), func(d folder) error {
		for id, list := range heads {
			if err := b.show(d, id, list); err != nil {
				return err
			}
		}
		if !b.full {
			return nil
		}
		names, err := d.List()
		b.names = names
		return err
	})
	if isUnfit(err) && len(heads) == 0 {
		path := itemFolder(b.n)
		b.problems.set(said, FindOrphan, "file "+b.v.id.String()+"/"+path, "nothing lists "+path+" of vault "+b.v.id.String()+": "+err.Error())
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for id, list := range heads {
		if err := b.show(nowhere{}, id, list); err != nil {
			return err
		}
	}
	return nil
}

// show decides which head of an item is shown and reads it, unless it is known.
func (b *folderReader) show(d folder, id seal.ID, list []entry) error {
	metas := make([]*Meta, len(list))
	for i, h := range list {
		if !h.dead.IsZero() {
			continue
		}
		if known := b.v.index[id]; known != nil && known.link.rev == h.rev && !b.full && known.State == StateOK {
			list[i].absent, metas[i] = false, known
			continue
		}
		r := reader{b.v, d, false}
		it, st, err := r.head(id, h)
		if err != nil {
			return err
		}
		b.note(r, id, st, h.rev)
		list[i].absent = st == StateMissing
		metas[i] = stub(id, it, st, h)
		if it == nil && id == b.v.id {
			metas[i].Kind = KindVault
		}
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(x, y int) int { return shownFirst(metas[x], metas[y]) })
	sorted := make([]entry, len(list))
	for i, at := range order {
		sorted[i] = list[at]
	}
	b.heads[id] = sorted
	if first := metas[order[0]]; first != nil {
		shown := *first
		shown.Conflict = len(list) > 1
		for _, at := range order[1:] {
			shown.link.addHistory(metas[at])
		}
		b.metas[id] = &shown
	}
	return nil
}

// addHistory lists what another head of the item lists: its files are kept until a write has followed both.
func (r *revision) addHistory(other *Meta) {
	if other == nil {
		return
	}
	r.history = slices.Clone(r.history)
	for _, rev := range other.link.history {
		if !slices.Contains(r.history, rev) {
			r.history = append(r.history, rev)
		}
	}
}

// shownFirst orders heads: an edit beats a deletion, then the higher lamport, then the higher writer.
func shownFirst(a, b *Meta) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Or(-cmp.Compare(a.link.lamport, b.link.lamport), -compareIDs(a.link.writer, b.link.writer))
}

// stub is the index entry for what was read, or for an item of which nothing can be read.
func stub(id seal.ID, it *Item, st ItemState, h entry) *Meta {
	m := &Meta{ID: id, Kind: KindItem, Name: id.String()}
	if it != nil {
		m = &it.Meta
	}
	if it != nil && st != StateOK {
		// What is served stays listed until a write has followed it.
		m.link.history = append([]seal.Hash{m.link.rev}, m.link.history...)
	}
	m.State, m.link.rev, m.link.vec = st, h.rev, h.vec
	return m
}

func (b *folderReader) note(r reader, id seal.ID, st ItemState, rev seal.Hash) {
	object := itemObject(id)
	switch st {
	case StateOK:
	case StateMissing:
		b.problems.set(pending, FindMissing, object, "the file of "+object+" is not there")
	case StateDamaged:
		b.problems.set(alarm, FindTampered, object, "the file of "+object+" "+r.fault(id, rev))
	}
}

// merge puts what was read into the vault.
func (b *folderReader) merge() {
	v := b.v
	for id, list := range b.heads {
		v.heads[id] = list
		v.problems.clear(itemObject(id))
		if m := b.metas[id]; m != nil {
			v.indexItem(m)
		} else {
			v.unindex(id)
		}
	}
	for _, f := range b.problems {
		v.problems.set(f.weight, f.Kind, f.Object, f.Text)
	}
	b.findOrphans()
}

// findOrphans names item files that neither a head nor its history lists. What an unfinished or just finished write of ours left is
// known from the seen state and is none.
func (b *folderReader) findOrphans() {
	if len(b.names) == 0 {
		return
	}
	listed := map[string]bool{}
	for id, list := range b.heads {
		for _, h := range list {
			listed[itemFile(id, h.rev)] = true
		}
		if m := b.metas[id]; m != nil {
			for _, rev := range m.link.history {
				listed[itemFile(id, rev)] = true
			}
			for _, rev := range m.link.parents {
				listed[itemFile(id, rev)] = true
			}
		}
	}
	for _, name := range b.names {
		if path := itemFolder(b.n) + "/" + name; !listed[name] && !b.left[path] {
			noteOrphan(b.v, path)
		}
	}
}

// leftovers are the files of this vault that our own last write added or put out of use without coming to its end.
func leftovers(s *shelf) map[string]bool {
	files := map[string]bool{}
	if p := s.c.seen.next; p != nil && p.vault == s.id {
		for _, f := range p.files {
			files[f] = true
		}
	}
	if g := s.c.seen.gone; g != nil && g.vault == s.id {
		for _, f := range g.files {
			files[f] = true
		}
	}
	return files
}

// noteOrphan names a file that nothing lists and that is not left over. While a root can't be read, nobody knows what it lists.
func noteOrphan(s *shelf, path string) {
	if _, name := splitPath(strings.TrimSuffix(path, "/")); len(s.unread) > 0 || isDriveName(name) {
		return
	}
	s.problems.set(said, FindOrphan, "file "+s.id.String()+"/"+path, fmt.Sprintf("nothing lists the file %+q of vault %s; it is ignored", path, s.id))
}

func clearOrphans(s *shelf) {
	maps.DeleteFunc(s.problems, func(_ string, f Finding) bool { return f.Kind == FindOrphan })
}

// findShardOrphans names shard files that no root lists.
func (r *refresh) findShardOrphans() error {
	for dev, stated := range r.roots {
		folder := "man/" + dev.String() + ".d"
		names, err := r.c.list(vaultPath(r.id, folder))
		if err != nil {
			return err
		}
		for _, name := range names {
			number, _, _ := strings.Cut(name, "-")
			n, ok := parseShardName(number)
			listed := ok && shardFile(n, stated.root.shards[n]) == name
			if path := folder + "/" + name; !listed && !r.left[path] {
				noteOrphan(r.shelf, path)
			}
		}
	}
	return nil
}

// nowhere is a folder that is not there.
type nowhere struct{ folder }

func (nowhere) Read(string, int64) ([]byte, error) { return nil, fs.ErrNotExist }
func (nowhere) List() ([]string, error)            { return nil, nil }
