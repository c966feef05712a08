package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warder/internal/seal"
)

// Vault is one vault of an unlocked account: a set of items under one key. It is safe for concurrent use.
type Vault struct {
	s    *shelf
	wait context.Context // as of the account
}

// ID is the vault's id.
func (v *Vault) ID() seal.ID { return v.s.id }

// Name is the vault's name; its id where the item that holds the name can't be read.
func (v *Vault) Name() string {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	return v.s.name()
}

// List returns the vault's items of the given kinds (all but the vault's own if none is given), without values, by name. What
// is in the trash is among them, with Trashed set.
func (v *Vault) List(kinds ...Kind) []Meta {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	list := make([]Meta, 0, len(v.s.index))
	for _, m := range v.s.index {
		if len(kinds) == 0 && m.Kind != KindVault || slices.Contains(kinds, m.Kind) {
			list = append(list, m.clone())
		}
	}
	slices.SortFunc(list, func(a, b Meta) int { return cmp.Or(compareNames(a.Name, b.Name), compareIDs(a.ID, b.ID)) })
	return list
}

func compareNames(a, b string) int { return strings.Compare(a, b) }

// clone copies what a caller might change.
func (m *Meta) clone() Meta {
	c := *m
	c.Tags, c.Hosts, c.Commands = slices.Clone(m.Tags), slices.Clone(m.Hosts), slices.Clone(m.Commands)
	c.Delivery, c.Links, c.Clients = slices.Clone(m.Delivery), slices.Clone(m.Links), maps.Clone(m.Clients)
	for i := range c.Hosts {
		h := &c.Hosts[i]
		h.Methods, h.Paths = slices.Clone(h.Methods), slices.Clone(h.Paths)
	}
	return c
}

// Find returns the item of a kind by name without regard to case, among what is not in the trash. For stages, project says
// whose; it is zero for the other kinds.
func (v *Vault) Find(kind Kind, project seal.ID, name string) (Meta, error) {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	if v.s.c.locked {
		return Meta{}, ErrLocked
	}
	holders := v.s.names[nameKey(kind, project, name)]
	if len(holders) == 0 {
		return Meta{}, fmt.Errorf("%s %q: %w", kind, name, ErrNotFound)
	}
	return v.s.index[holders[0]].clone(), nil
}

// Open opens an item with its values. Of one whose current file is missing or damaged, the newest intact older revision is opened, and
// State says so. The caller must Destroy it.
//
// Errors: ErrNotFound, ErrDamaged, ErrLocked.
func (v *Vault) Open(id seal.ID) (*Item, error) {
	it, err := openShown(v, id)
	if errors.Is(err, ErrDamaged) || err == nil && it.State == StateMissing {
		// Another process may have replaced or ended the item since this one looked.
		if v.s.c.writing(v.wait, v.s.c.sync) == nil {
			if it != nil {
				it.Destroy()
			}
			return openShown(v, id)
		}
	}
	return it, err
}

func openShown(v *Vault, id seal.ID) (*Item, error) {
	v.s.c.mu.RLock()
	defer v.s.c.mu.RUnlock()
	if v.s.c.locked {
		return nil, ErrLocked
	}
	m := v.s.index[id]
	if m == nil {
		return nil, fmt.Errorf("item %s: %w", id, ErrNotFound)
	}
	head := v.s.heads[id][0]
	it, state, err := v.s.openHead(id, head, true)
	if err != nil {
		return nil, err
	}
	if it == nil {
		return nil, fmt.Errorf("%s %q: %w", m.Kind, m.Name, ErrDamaged)
	}
	it.State, it.Conflict, it.link.rev = state, m.Conflict, head.rev
	return it, nil
}

// CreateVault makes a vault with its own key.
func (a *Account) CreateVault(name string) (*Vault, error) {
	var made *shelf
	err := a.c.writing(a.wait, func() error {
		if err := a.c.sync(); err != nil {
			return err
		}
		if list := alarms(a.c.found); len(list) > 0 {
			return &AlarmError{list}
		}
		if vaultNameTaken(a.c, seal.ID{}, name) {
			return fmt.Errorf("vault %q: %w", name, ErrExists)
		}
		var err error
		made, err = createVault(a.c, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Vault{made, a.wait}, nil
}

// vaultNameTaken says whether a vault other than the given one has the name.
func vaultNameTaken(c *core, but seal.ID, name string) bool {
	for id, s := range c.vaults {
		if id != but && FoldName(s.name()) == FoldName(name) {
			return true
		}
	}
	return false
}

func createVault(c *core, name string) (*shelf, error) {
	if err := CheckName("vault name", name); err != nil {
		return nil, err
	}
	id := seal.NewID()
	s := newShelf(c, id)
	vk, err := seal.NewVaultKey()
	if err != nil {
		return nil, err
	}
	s.setKey(1, vk)
	place := seal.VaultPlace{Account: c.account, Vault: id, Epoch: s.epoch}
	wrap, err := seal.WrapVaultKey(c.root, vk, place)
	if err != nil {
		return nil, err
	}
	header := append(pairHeader(c.account, id), 0, 0, 0, 0, 0, 0, 0, 1)
	file := frame(magicHeader, append(header, wrap[:]...))
	own := &Item{Meta: Meta{ID: id, Kind: KindVault, Name: name, Origin: Origin{By: ByPerson}}}
	c.vaults[id] = s
	if err := s.commit([]edit{{item: own}}, commitOptions{header: file}); err != nil {
		delete(c.vaults, id)
		return nil, fmt.Errorf("creating vault %q: %w", name, err)
	}
	return s, nil
}
