package f1reader

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// vault is an opened vault.
type vault struct {
	id      id
	account *account
	keys    map[uint64][]byte // by epoch
	roots   map[id]*root
	unread  map[id]bool // roots that are there and have a finding
	shards  []*shard
	entries map[id][]entry // by item, of all roots
	items   map[id]*item
	listed  map[string]bool // files that a root or a history lists, below the vault
}

// dir is the vault's folder.
func (v *vault) dir() string { return "vaults/" + v.id.String() + "/" }

// readVault reads a vault. A header that does not open leaves its epoch without
// a key, so what is under it does not open either.
func (a *account) readVault(name id) error {
	v := &vault{
		id: name, account: a, keys: map[uint64][]byte{}, roots: map[id]*root{}, unread: map[id]bool{},
		entries: map[id][]entry{}, items: map[id]*item{}, listed: map[string]bool{},
	}
	there, err := v.readHeaders()
	if err != nil {
		return err
	}
	if !there {
		return findParts(v)
	}
	a.vaults[name] = v
	for _, step := range []func() error{v.readRoots, v.readItems, v.findOrphans} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// findParts looks into the folder of a vault without header for roots and items.
func findParts(v *vault) error {
	parts, err := v.account.disk.list(v.dir() + "man")
	if err != nil {
		return err
	}
	folders, err := v.account.disk.list(v.dir() + "items")
	if err != nil {
		return err
	}
	found := slices.ContainsFunc(parts, func(name string) bool { return isHex(name, 32) })
	for _, folder := range folders {
		names, err := v.account.disk.list(v.dir() + "items/" + folder)
		if err != nil {
			return err
		}
		found = found || slices.ContainsFunc(names, func(name string) bool {
			_, _, fits := nameParts(name, 32, 16)
			return fits
		})
	}
	if found {
		v.account.headless[v.id] = true
		v.account.find("missing", "%s: no header", v.dir())
	}
	return nil
}

// readHeaders reads the vault's keys, and says whether there are headers.
func (v *vault) readHeaders() (there bool, err error) {
	folder := strings.TrimSuffix(v.dir(), "/")
	names, err := v.account.disk.list(folder)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		if prefix, epoch, _ := strings.Cut(name, "-"); prefix == "header" && isHex(epoch, 16) {
			there = true
			if err := v.readHeader(name); err != nil {
				return false, err
			}
		} else if !slices.Contains([]string{"items", "man", "blobs"}, name) {
			v.account.stray(folder, name)
		}
	}
	return there, nil
}

// readHeader reads one header.
func (v *vault) readHeader(name string) error {
	file, err := v.account.disk.read(v.dir()+name, headerKind.limit)
	if err != nil {
		return err
	}
	epoch, vk, err := vaultHeader(file, v.account.ark, v.account.id, v.id)
	if err == nil && name != fmt.Sprintf("header-%016x", epoch) {
		err = errors.New("vault header under another's name")
	}
	if err != nil {
		return v.account.tampered(v.dir()+name, err)
	}
	v.keys[epoch] = vk
	return nil
}

// readRoots reads the roots and their shards.
func (v *vault) readRoots() error {
	names, err := v.account.disk.list(v.dir() + "man")
	if err != nil {
		return err
	}
	for _, name := range names {
		device, err := parseID(strings.TrimSuffix(name, ".d"))
		switch {
		case err != nil:
			v.account.stray(v.dir()+"man", name)
		case strings.HasSuffix(name, ".d"):
		default:
			if err := v.readRoot(device); err != nil {
				return err
			}
		}
	}
	if len(v.keys) > 0 && len(v.roots)+len(v.unread) == 0 {
		v.account.find("missing", "%s: header and no root", v.dir())
	}
	return nil
}

// readRoot reads a device's root and the shards it lists.
func (v *vault) readRoot(device id) error {
	a, name := v.account, v.dir()+"man/"+device.String()
	file, err := a.disk.read(name, rootKind.limit)
	if err != nil {
		return err
	}
	v.unread[device] = true
	c, known := a.cards[device]
	if _, enrolled := a.keyset.roster[device]; !enrolled {
		a.find("behind", "%s: device is not in the roster", name)
		return nil
	}
	if !known {
		return nil // its card has a finding
	}
	at := place{account: a.id, vault: v.id, device: device}
	r, err := readRoot(file, at, v.keys, c.sign)
	if err != nil {
		return a.tampered(name, err)
	}
	v.roots[device] = r
	delete(v.unread, device)
	for _, n := range slices.Sorted(maps.Keys(r.shards)) {
		at.part = uint16(n)
		if err := v.readShard(r, at); err != nil {
			return err
		}
	}
	return nil
}

// readShard reads one shard of a root.
func (v *vault) readShard(r *root, at place) error {
	a, want := v.account, r.shards[byte(at.part)]
	name := fmt.Sprintf("man/%s.d/%02x-%s", at.device, at.part, want.String()[:8])
	v.listed[name] = true
	file, err := a.disk.read(v.dir()+name, shardKind.limit)
	if errors.Is(err, fs.ErrNotExist) {
		a.find("missing", "%s", name)
		return nil
	}
	if err != nil {
		return err
	}
	s, err := readShard(file, at, v.keys, a.cards[at.device].sign)
	if err == nil && (s.hash != want || s.seq > r.seq) {
		err = errors.New("shard that its root does not list")
	}
	if err != nil {
		return a.tampered(name, err)
	}
	v.shards = append(v.shards, s)
	for i, e := range s.entries {
		v.entries[i] = append(v.entries[i], e)
		if e.rev != nil {
			v.listed[itemName(i, *e.rev)] = true
		}
	}
	return nil
}

// itemName is the name of an item's file below the vault.
func itemName(item id, rev hash) string {
	return fmt.Sprintf("items/%02x/%s-%s", item[0], item, rev.String()[:16])
}

// name is the vault's name.
func (v *vault) name() string {
	if i := v.items[v.id]; i != nil && i.shown != nil && i.shown.kind == "vault" {
		return i.shown.name
	}
	return ""
}

// findOrphans looks for item and shard files that nothing lists.
func (v *vault) findOrphans() error {
	var folders []string
	for device := range v.roots {
		folders = append(folders, "man/"+device.String()+".d")
	}
	names, err := v.account.disk.list(v.dir() + "items")
	if err != nil {
		return err
	}
	for _, xx := range names {
		if !isHex(xx, 2) {
			v.account.stray(v.dir()+"items", xx)
			continue
		}
		folders = append(folders, "items/"+xx)
	}
	for _, folder := range folders {
		if err := v.findOrphansIn(folder); err != nil {
			return err
		}
	}
	return nil
}

// findOrphansIn looks in one folder. While a root cannot be read, nobody knows
// what it lists.
func (v *vault) findOrphansIn(folder string) error {
	names, err := v.account.disk.list(v.dir() + folder)
	for _, name := range names {
		if !v.listed[folder+"/"+name] && len(v.unread) == 0 && !isDrives(name) {
			v.account.find("orphan", "%s/%s", folder, name)
		}
	}
	return err
}
