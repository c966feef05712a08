package vault

import (
	"slices"

	"warder/internal/seal"
)

// shelf is what is loaded of one vault: what each device states, the merged view, and the index of what is shown.
type shelf struct {
	c  *core
	id seal.ID

	// Guarded by c.mu.
	keys     map[uint64]seal.VaultKey // by vault epoch
	epoch    uint64                   // the newest, for new items
	roots    map[seal.ID]*deviceRoot  // by device: the last good ones
	absent   map[seal.ID]bool         // devices whose root was read once and is not there now
	unread   map[seal.ID]bool         // devices whose root is there and does not count: for want of a card, or because it is not theirs
	heads    map[seal.ID][]entry      // by item, undominated entries; the one shown comes first
	index    map[seal.ID]*Meta        // of the shown head of each live item
	stamp    seal.Hash                // of the index: the sum of its revisions
	names    map[string][]seal.ID     // of what is not in the trash, by nameKey, lowest id first
	lamport  int64                    // highest in use
	problems problems
}

// deviceRoot is what one device last stated.
type deviceRoot struct {
	root   *root
	mark   mark
	shards map[uint8]shard
}

// shard is a part of a device's statement. One that could not be read keeps the entries it had before, if any.
type shard struct {
	hash    seal.Hash
	entries map[seal.ID]entry
	extra   []rawMember
	broken  bool
}

func newShelf(c *core, id seal.ID) *shelf {
	return &shelf{
		c: c, id: id,
		keys:     map[uint64]seal.VaultKey{},
		roots:    map[seal.ID]*deviceRoot{},
		absent:   map[seal.ID]bool{},
		unread:   map[seal.ID]bool{},
		heads:    map[seal.ID][]entry{},
		index:    map[seal.ID]*Meta{},
		names:    map[string][]seal.ID{},
		problems: problems{},
	}
}

func (s *shelf) setKey(epoch uint64, vk seal.VaultKey) {
	if old, ok := s.keys[epoch]; ok {
		old.Destroy()
	}
	s.keys[epoch] = vk
	s.epoch = max(s.epoch, epoch)
}

func (s *shelf) forget() {
	for _, k := range s.keys {
		k.Destroy()
	}
	s.keys, s.roots, s.heads, s.index, s.names = nil, nil, nil, nil, nil
}

func (s *shelf) name() string {
	if m := s.index[s.id]; m != nil && m.Name != "" {
		return m.Name
	}
	return s.id.String()
}

// nameKey is the form in which names are unique: by kind, and for stages by project.
func nameKey(kind Kind, project seal.ID, name string) string {
	return string(kind) + "/" + project.String() + "/" + FoldName(name)
}

func (m *Meta) nameKey() string { return nameKey(m.Kind, m.Project, m.Name) }

// indexItem puts a shown revision into the index, in place of an older one.
func (s *shelf) indexItem(m *Meta) {
	s.unindex(m.ID)
	s.index[m.ID] = m
	s.stamp = restamped(s.stamp, m)
	s.lamport = max(s.lamport, m.link.lamport)
	if m.Trashed.IsZero() && m.Name != "" {
		// Two devices may have made the same name apart: the one with the lower id has it, the other is found by id or renamed.
		key := m.nameKey()
		i, _ := slices.BinarySearchFunc(s.names[key], m.ID, compareIDs)
		s.names[key] = slices.Insert(s.names[key], i, m.ID)
	}
}

func (s *shelf) unindex(id seal.ID) {
	m := s.index[id]
	if m == nil {
		return
	}
	delete(s.index, id)
	s.stamp = restamped(s.stamp, m)
	key := m.nameKey()
	s.names[key] = slices.DeleteFunc(s.names[key], func(other seal.ID) bool { return other == id })
	if len(s.names[key]) == 0 {
		delete(s.names, key)
	}
}

// restamped is a stamp with the revision of m added, or taken out again. They are hashes, so that a sum without order stands for all of
// them.
func restamped(stamp seal.Hash, m *Meta) seal.Hash {
	for i, b := range m.link.rev {
		stamp[i] ^= b
	}
	return stamp
}
