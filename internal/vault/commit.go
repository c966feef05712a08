package vault

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warder/internal/seal"
)

// maxHistory is how many older revisions of an item are kept.
const maxHistory = 10

// edit is one change: a new revision of an item, or its end.
type edit struct {
	item *Item   // nil for an end
	end  seal.ID // the item that ends as a tombstone
	kept bool    // the content was in force before: it is not judged again
}

func (e edit) id() seal.ID {
	if e.item != nil {
		return e.item.ID
	}
	return e.end
}

// commitOptions are for those who put the store right.
type commitOptions struct {
	force    bool     // write although an alarm stands
	recovery bool     // a new keyset, though an alarm stands: then only the keyset is written
	snapshot bool     // repeat all that is known in this device's manifest, not only what changed
	header   []byte   // of a vault that comes into being with this write
	gone     []string // files that this write puts out of use, besides what it replaces
}

// newFile is a file to write, as a path below the vault.
type newFile struct {
	path string
	data []byte
}

// draft is a write with all its bytes made, before any is on disk.
type draft struct {
	s       *shelf
	opt     commitOptions
	root    *deviceRoot
	file    []byte // of the root
	items   []newFile
	shards  []newFile
	gone    []string
	entries map[seal.ID]entry
	metas   map[seal.ID]*Meta
}

// commit puts edits in force, all or none, in the order of F1.8. The caller holds the account's mutex and the lock file and has synced.
func (s *shelf) commit(edits []edit, opt commitOptions) error {
	if a := alarms(s.c.found); len(a) > 0 && !opt.force {
		return &AlarmError{a}
	}
	if s.c.stale {
		return errHalfRead
	}
	if s.c.cards[s.c.dev.id] == nil {
		return ErrNotEnrolled
	}
	if err := checkEdits(s, edits); err != nil {
		return err
	}
	if err := (memory{s.c}).sweep(opt.gone); err != nil {
		return err
	}
	d := &draft{s: s, opt: opt, gone: opt.gone, entries: map[seal.ID]entry{}, metas: map[seal.ID]*Meta{}}
	if err := d.make(edits); err != nil {
		return err
	}
	if err := d.write(); err != nil {
		return err
	}
	d.apply()
	for _, e := range edits {
		if e.item != nil {
			m := d.metas[e.item.ID]
			e.item.link, e.item.Created, e.item.Modified, e.item.State, e.item.Conflict = m.link, m.Created, m.Modified, StateOK, m.Conflict
		}
	}
	return s.c.judgeAll()
}

// checkEdits refuses invalid items, names that are taken, and items that somebody changed since they were opened. A new item gets
// its id here.
func checkEdits(s *shelf, edits []edit) error {
	names, ids := map[string]bool{}, map[seal.ID]bool{}
	for _, e := range edits {
		if e.item == nil {
			if err := checkEnd(s, e.end); err != nil {
				return err
			}
			continue
		}
		it := e.item
		if err := checkItem(s, e); err != nil {
			return err
		}
		key := it.nameKey()
		// Who keeps a name may keep it, though another device may have given it a second time.
		fresh := it.Trashed.IsZero() && !slices.Contains(s.names[key], it.ID)
		switch {
		case ids[it.ID]:
			return fmt.Errorf("%s %q stands twice in one change", it.Kind, it.Name)
		case fresh && (names[key] || nameTaken(s, edits, key)):
			return fmt.Errorf("%s %q: %w", it.Kind, it.Name, ErrExists)
		}
		ids[it.ID], names[key] = true, names[key] || fresh
	}
	return nil
}

// checkItem refuses what is invalid or stale in itself, and gives a new item its id.
func checkItem(s *shelf, e edit) error {
	it := e.item
	if err := it.check(); err != nil {
		return err
	}
	if it.ID.IsZero() {
		it.ID = seal.NewID()
	}
	switch {
	case (it.Kind == KindVault) != (it.ID == s.id):
		return fmt.Errorf("%s %q: only a vault's own item has the vault's id", it.Kind, it.Name)
	case it.Kind == KindVault && vaultNameTaken(s.c, s.id, it.Name):
		return fmt.Errorf("vault %q: %w", it.Name, ErrExists)
	case s.shownRev(it.ID) != it.link.rev:
		return fmt.Errorf("%s %q: %w", it.Kind, it.Name, ErrChanged)
	case e.kept:
		return nil
	}
	return s.checkContent(it)
}

// checkEnd refuses to end what is not there, and the item that names the vault.
func checkEnd(s *shelf, id seal.ID) error {
	if s.index[id] == nil {
		return fmt.Errorf("item %s: %w", id, ErrNotFound)
	}
	if id == s.id {
		return errors.New("a vault's own item can't be ended")
	}
	return nil
}

// shownRev is the revision of an item that is shown; zero for one that is not there.
func (s *shelf) shownRev(id seal.ID) (rev seal.Hash) {
	if heads := s.heads[id]; len(heads) > 0 {
		rev = heads[0].rev
	}
	return rev
}

// nameTaken says whether an item has the name and the same batch does not take it away.
func nameTaken(s *shelf, edits []edit, key string) bool {
	givenUp := func(holder seal.ID) bool {
		return slices.ContainsFunc(edits, func(e edit) bool {
			return e.id() == holder && (e.item == nil || !e.item.Trashed.IsZero() || e.item.nameKey() != key)
		})
	}
	return slices.ContainsFunc(s.names[key], func(holder seal.ID) bool { return !givenUp(holder) })
}

// sweep removes what earlier writes left: files of one that was cut short, and those that the last one put out of use. What the write at
// hand needs until it is in force stays.
func (c memory) sweep(needed []string) error {
	s := &c.seen
	var errs error
	if p := s.next; p != nil {
		errs = errors.Join(errs, c.removeBelow(p.vault, c.outOfUse(p.vault, p.files, needed)))
	}
	if g := s.gone; g != nil {
		errs = errors.Join(errs, c.removeBelow(g.vault, c.outOfUse(g.vault, g.files, needed)))
	}
	if errs != nil {
		return fmt.Errorf("removing left-over files: %w", errs)
	}
	s.next, s.gone = nil, nil
	return nil
}

// outOfUse are those of a vault's files that may be removed. A memory that was restored from a backup takes files for left-overs that a
// later write put in force.
func (c memory) outOfUse(vault seal.ID, files, needed []string) []string {
	s := c.vaults[vault]
	if s != nil && (len(s.keys) == 0 || len(s.unread) > 0) {
		return nil // nobody knows what is listed there
	}
	return slices.DeleteFunc(slices.Clone(files), func(path string) bool {
		return slices.Contains(needed, path) || s != nil && lists(s, path)
	})
}

// lists says whether what is in force names a file.
func lists(s *shelf, path string) bool {
	dir, name := splitPath(path)
	if epoch, ok := headerEpoch(name); ok {
		_, opened := s.keys[epoch]
		return opened
	}
	digits, _, _ := strings.Cut(name, "-")
	if folder, ok := strings.CutPrefix(dir, "man/"); ok {
		dev, _ := seal.ParseID(strings.TrimSuffix(folder, ".d"))
		n, ok := parseShardName(digits)
		stated := s.roots[dev]
		return ok && stated != nil && shardFile(n, stated.root.shards[n]) == name
	}
	id, err := seal.ParseID(digits)
	return err == nil && slices.ContainsFunc(s.revisions(id), func(rev seal.Hash) bool { return itemFile(id, rev) == name })
}

// make makes every byte of the write.
func (d *draft) make(edits []edit) error {
	s := d.s
	for _, e := range edits {
		if err := d.edit(e); err != nil {
			return err
		}
	}
	own := s.roots[s.c.dev.id]
	if own == nil {
		own = &deviceRoot{root: &root{}, shards: map[uint8]shard{}}
		d.opt.snapshot = true // a device's first root repeats all that is known
	}
	d.root = &deviceRoot{root: d.nextRoot(own), shards: maps.Clone(own.shards)}
	for _, n := range d.touched() {
		if err := d.shard(own.shards[n], n); err != nil {
			return err
		}
	}
	text, err := encode(d.root.root.put)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	if d.file, err = d.seal(rootPart, text); err != nil {
		return err
	}
	d.root.mark = mark{d.root.root.seq, seal.HashOf(d.file)}
	return nil
}

// seal makes the file of one part of this device's manifest.
func (d *draft) seal(part uint16, plain []byte) ([]byte, error) {
	s := d.s
	place := seal.ManifestPlace{Account: s.c.account, Vault: s.id, Device: s.c.dev.id, Seq: d.root.root.seq, Part: part}
	size := framePrefix + manifestHeaderLen + boxOverhead + len(plain) + signatureLen
	if err := checkSize("the manifest of vault "+s.name(), size, limitManifest); err != nil {
		return nil, err
	}
	return sealPart(s.keys[s.epoch], s.epoch, s.c.dev.keys, place, plain)
}

// edit makes the new revision of one item and its entry.
func (d *draft) edit(e edit) error {
	s := d.s
	id, now := e.id(), s.c.cfg.now()
	heads := s.heads[id]
	vec := d.vector(e)
	kept := s.revisions(id)
	if e.item == nil {
		d.entries[id] = entry{dead: now, vec: vec}
		for _, rev := range kept {
			d.gone = append(d.gone, itemFolder(shardOf(id))+"/"+itemFile(id, rev))
		}
		return nil
	}
	s.lamport++
	link := revision{lamport: s.lamport, vec: vec, writer: s.c.dev.id}
	for _, h := range heads {
		if h.dead.IsZero() && h.vec.compare(vec) == before {
			link.parents = append(link.parents, h.rev)
		}
	}
	if m := s.index[id]; len(link.parents) == 0 && m != nil && len(m.link.history) > 0 {
		link.parents = m.link.history[:1] // the one that was served in its place
	}
	cut := min(len(kept), max(maxHistory, len(heads)))
	link.history = kept[:cut]
	for _, rev := range kept[cut:] {
		d.gone = append(d.gone, itemFolder(shardOf(id))+"/"+itemFile(id, rev))
	}
	it := *e.item
	it.link, it.Modified = link, now
	if it.Created.IsZero() {
		it.Created = now
	}
	if err := it.judgeValues(now); err != nil {
		return err
	}
	file, err := sealItem(s.keys[s.epoch], seal.ItemPlace{Vault: s.id, Item: id, Epoch: s.epoch}, &it)
	if err != nil {
		return fmt.Errorf("sealing %s %q: %w", it.Kind, it.Name, err)
	}
	it.link.rev = seal.HashOf(file)
	meta := it.Meta.clone()
	meta.State, meta.Conflict, meta.extra = StateOK, false, nil
	d.metas[id] = &meta
	d.entries[id] = entry{rev: it.link.rev, vec: vec}
	d.items = append(d.items, newFile{itemFolder(shardOf(id)) + "/" + itemFile(id, it.link.rev), file})
	return nil
}

// vector is that of a new revision: it follows all heads. One whose file is not there is no base for anything, for nobody here knows what
// another device changed in it: what is written then stands beside it, and both are there when it comes.
func (d *draft) vector(e edit) (vec vector) {
	own := d.s.c.dev.id
	var last uint64
	for _, h := range d.s.heads[e.id()] {
		last = max(last, h.vec.get(own))
		if h.absent && e.item != nil && !d.opt.force {
			vec = vec.join(e.item.link.vec) // of the revision that was opened in its place
		} else {
			vec = vec.join(h.vec)
		}
	}
	return slices.Clone(vec).set(own, last+1)
}

// revisions lists the revisions of an item whose files are kept, newest first: heads, then their history.
func (s *shelf) revisions(id seal.ID) []seal.Hash {
	var list []seal.Hash
	add := func(rev seal.Hash) {
		if rev != (seal.Hash{}) && !slices.Contains(list, rev) {
			list = append(list, rev)
		}
	}
	for _, h := range s.heads[id] {
		add(h.rev)
	}
	if m := s.index[id]; m != nil {
		for _, rev := range m.link.history {
			add(rev)
		}
	}
	return list
}

// nextRoot is the root that follows own, with what this device knows of others.
func (d *draft) nextRoot(own *deviceRoot) *root {
	s := d.s
	r := &root{
		seq:    own.root.seq + 1,
		prev:   own.mark.hash,
		keyset: s.c.keyset.mark(),
		vk:     s.epoch,
		seen:   map[seal.ID]uint64{},
		vaults: map[seal.ID]uint64{},
		shards: map[uint8]seal.Hash{},
		time:   s.c.cfg.now(),
		extra:  own.root.extra,
	}
	for dev, other := range s.roots {
		if dev != s.c.dev.id {
			r.seen[dev] = other.mark.seq
		}
	}
	for id := range s.c.vaults {
		if m, ok := s.c.seen.root(id, s.c.dev.id); ok && id != s.id {
			r.vaults[id] = m.seq
		}
	}
	for n, part := range own.shards {
		r.shards[n] = part.hash
	}
	if s.c.cfg.AuditHead != nil {
		r.audit.seq, r.audit.hash = s.c.cfg.AuditHead()
	}
	return r
}

// touched lists the shard numbers to write.
func (d *draft) touched() []uint8 {
	touched := map[uint8]bool{}
	for id := range d.entries {
		touched[shardOf(id)] = true
	}
	if d.opt.snapshot {
		for id := range d.s.heads {
			touched[shardOf(id)] = true
		}
	}
	return slices.Sorted(maps.Keys(touched))
}

// shard makes one shard: this device's entries, brought up to what it has learnt from others, with the changes.
func (d *draft) shard(old shard, n uint8) error {
	s := d.s
	if old.broken && !d.opt.force {
		// Writing it again would drop the entries that could not be read.
		return &AlarmError{[]Finding{s.problems[s.shardObject(s.c.dev.id, n)]}}
	}
	entries := make(map[seal.ID]entry, len(old.entries)+1)
	maps.Copy(entries, old.entries)
	for id, heads := range mergeHeads(s.roots, n) {
		if mine, ok := entries[id]; !ok || len(heads) == 1 && mine.vec.compare(heads[0].vec) == before {
			entries[id] = s.heads[id][0]
		}
	}
	for id, e := range d.entries {
		if shardOf(id) == n {
			entries[id] = e
		}
	}
	text, err := encode(putShard(entries, old.extra))
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	file, err := d.seal(uint16(n), text)
	if err != nil {
		return err
	}
	made := shard{hash: seal.HashOf(file), entries: entries, extra: old.extra}
	folder := "man/" + s.c.dev.id.String() + ".d/"
	d.shards = append(d.shards, newFile{folder + shardFile(n, made.hash), file})
	if old.hash != (seal.Hash{}) {
		d.gone = append(d.gone, folder+shardFile(n, old.hash))
	}
	d.root.root.shards[n], d.root.shards[n] = made.hash, made
	return nil
}

// write puts a draft on disk, step by step. Until the root is there nothing of it counts.
func (d *draft) write() error {
	s, c := d.s, d.s.c
	var header []newFile
	if d.opt.header != nil {
		header = []newFile{{headerName(s.epoch), d.opt.header}}
	}
	files := slices.Concat(header, d.items, d.shards)
	next := &pendingWrite{vault: s.id, mark: d.root.mark, gone: d.gone}
	for _, f := range files {
		next.files = append(next.files, f.path)
	}
	c.seen.next = next
	if err := (memory{c}).save(); err != nil {
		c.seen.next = nil
		return fmt.Errorf("vault %q is unchanged: writing the seen state: %w", s.name(), err)
	}
	for _, f := range files {
		dir, name := splitPath(f.path)
		if err := c.shared.make(vaultPath(s.id, dir), func(to folder) error { return to.WriteNew(name, f.data) }); err != nil {
			return d.abandon(err)
		}
	}
	err := c.shared.make(vaultPath(s.id, "man"), func(f folder) error { return f.Replace(c.dev.id.String(), d.file) })
	if err != nil {
		return d.abandon(err)
	}
	c.seen.setRoot(s.id, c.dev.id, d.root.mark)
	if later(c.keyset.mark(), c.seen.keyset) {
		c.seen.keyset = c.keyset.mark()
	}
	c.seen.next, c.seen.gone = nil, &staleFiles{s.id, d.gone}
	if err := (memory{c}).save(); err != nil {
		return fmt.Errorf("the change is in force, but the seen state could not be written: %w", err)
	}
	// What is out of use harms nobody if it stays: the next write tries again.
	_ = c.removeBelow(s.id, d.gone)
	return nil
}

// abandon takes back a write that failed before its root was in force. If its files can't be removed either, the seen state names
// them for the next write.
func (d *draft) abandon(cause error) error {
	c := d.s.c
	(memory{c}).settle()
	p := c.seen.next
	if p == nil {
		return fmt.Errorf("the change may be in force: %w", cause)
	}
	if c.removeBelow(p.vault, p.files) == nil {
		c.seen.next = nil
		_ = (memory{c}).save()
	}
	return fmt.Errorf("vault %q is unchanged: %w", d.s.name(), cause)
}

// apply brings memory up to what was written.
func (d *draft) apply() {
	s, own := d.s, d.s.c.dev.id
	s.roots[own] = d.root
	s.absent[own] = false
	merged := map[uint8]map[seal.ID][]entry{}
	for id, e := range d.entries {
		n := shardOf(id)
		if merged[n] == nil {
			merged[n] = mergeHeads(s.roots, n)
		}
		beside := slices.DeleteFunc(slices.Clone(s.heads[id]), func(h entry) bool {
			return !slices.ContainsFunc(merged[n][id], func(m entry) bool { return m.rev == h.rev && m.vec.compare(h.vec) == equal })
		})
		s.heads[id] = append([]entry{e}, beside...)
		if len(beside) == 0 {
			s.problems.clear(itemObject(id))
		}
		if m := d.metas[id]; m != nil {
			m.Conflict = len(beside) > 0
			s.indexItem(m)
		} else {
			s.unindex(id)
		}
	}
	for n, part := range d.root.shards {
		if !part.broken && len(s.problems) > 0 { // else 256 names would be made for nothing
			s.problems.clear(s.shardObject(own, n))
		}
	}
	s.problems.clear(s.rootObject(own))
}
