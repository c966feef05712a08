package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"warder/internal/seal"
	"warder/internal/state"
)

// load reads the whole account behind the root key and judges it.
func (c *core) load() error {
	if err := (memory{c}).load(); err != nil {
		return err
	}
	if err := c.read(true); err != nil {
		return err
	}
	if err := (strays{c}).find(); err != nil {
		return err
	}
	return c.judgeAll()
}

// read reads keyset, roster and vaults, all or what changed. What an error left half read is not to be written on: until all was read,
// the next time begins anew.
func (c *core) read(full bool) error {
	full = full || c.stale
	c.stale = true
	err := c.readAll(full)
	c.stale = err != nil
	return err
}

// readAll does it. Another device that shares the folder may replace the keyset while that is going on, and roots then name one that is
// not known yet: it must be there on a second look.
func (c *core) readAll(full bool) error {
	for range 3 {
		held := c.keyset.mark()
		if err := (roster{c}).loadKeyset(); err != nil {
			return err
		}
		// A card that was not there may have come.
		if full || c.keyset.mark() != held || len(c.cards) < len(c.keyset.roster) {
			if err := (roster{c}).loadRoster(); err != nil {
				return err
			}
		}
		(memory{c}).settle()
		if err := c.loadVaults(full); err != nil {
			return err
		}
		if !later((roster{c}).latestKeyset(), c.keyset.mark()) {
			return nil
		}
		full = false
	}
	return nil
}

// loadKeyset looks at the keyset files again: the one in force may have been superseded, or be gone.
func (c roster) loadKeyset() error {
	found, err := scanKeysets(c.shared, c.account)
	if err == nil {
		err = found.refused[keysetName(c.keyset)]
	}
	if err != nil && !errors.Is(err, state.ErrTooLarge) {
		return err
	}
	object := "keyset " + keysetName(c.keyset)
	c.problems.clear(object)
	held := false
	for _, k := range found.list {
		if k.mark() == c.keyset.mark() {
			held = true
		} else if later(k.mark(), c.keyset.mark()) && !k.unreadable && k.authentic(c.root) {
			c.keyset, held = k, true
		}
	}
	if !held {
		c.problems.set(alarm, FindMissing, object, object+" is gone")
	}
	c.findJunk(found.list)
	return nil
}

// findJunk names the keysets that would rule if they were this account's.
func (c roster) findJunk(list []*keyset) {
	for _, name := range c.junk {
		c.problems.clear("keyset " + name)
	}
	c.junk = nil
	for _, k := range list {
		if !later(k.mark(), c.keyset.mark()) {
			continue
		}
		name := keysetName(k)
		c.junk = append(c.junk, name)
		c.problems.set(alarm, FindTampered, "keyset "+name, "keyset "+name+" is not of this account's making")
	}
}

// sync brings an account that is unlocked up to what other processes and devices wrote, before a write. It reads only what
// changed: keyset and roots always, shards and items by their hashes.
func (c *core) sync() error {
	if err := (memory{c}).load(); err != nil {
		return err
	}
	if err := c.read(false); err != nil {
		return err
	}
	return c.judgeAll()
}

// memory reads and writes what this device remembers of the account.
type memory struct{ *core }

// keep writes this device's keys and what it remembers, as they were before a new id that came to nothing.
func (c memory) keep() error {
	return errors.Join(writeDevice(c.local, c.account, c.root, c.ds, c.dev), c.save())
}

// follow takes up the id that another process gave this device meanwhile: under the former one its writes would not count. An id of
// our own that came to nothing, and that lies there because the disk did not take the former keys back, makes room for them.
func (c memory) follow() error {
	id, err := readDeviceID(c.local)
	if err != nil || id.IsZero() || id == c.dev.id {
		return err
	}
	if id == c.stillborn {
		return c.keep()
	}
	now, err := readDevice(c.local, c.account, c.root, c.ds)
	if errors.Is(err, seal.ErrOpen) {
		c.problems.set(alarm, FindTampered, objectDeviceKeys, "this device's own keys were changed: it needs a new id")
		return nil
	}
	if err != nil {
		return err
	}
	c.dev.keys.Destroy()
	c.dev, c.seen = now, newSeen() // what the former id remembers is not this one's
	c.problems.clear(objectDeviceKeys)
	return nil
}

// load reads it. A damaged one is a finding; a missing one leaves what is in memory, and a device that has
// roots but no memory is judged as cloned.
func (c memory) load() error {
	if err := c.follow(); err != nil {
		return fmt.Errorf("opening the device keys: %w", err)
	}
	c.problems.clear(objectSeen)
	if !c.dev.enrolled() {
		return nil
	}
	err := c.local.in("device", func(d folder) error {
		file, err := d.Read(seenFile, limitLocal)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := unframe(magicSeen, "seen state", pairHeaderLen, file)
		if err != nil {
			return err
		}
		if seal.ID(f.header[:16]) != c.account {
			return seal.ErrOpen
		}
		if seal.ID(f.header[16:]) != c.dev.id {
			return nil // of a former id of this device
		}
		plain, err := seal.OpenSeen(c.root, c.account, c.dev.id, f.body)
		if err != nil {
			return err
		}
		known, err := decodeSeen(plain)
		if err == nil {
			c.seen = known
		}
		return err
	})
	if errors.Is(err, seal.ErrOpen) || errors.Is(err, errNotCanonical) {
		c.problems.set(alarm, FindTampered, objectSeen, "this device's memory of the account was changed")
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the seen state: %w", err)
	}
	return nil
}

// save writes this device's memory; a device that is not enrolled has none.
func (c memory) save() error {
	if !c.dev.enrolled() {
		return nil
	}
	text, err := encode(c.seen.put)
	if err != nil {
		return err
	}
	if err := checkSize("the seen state", framePrefix+pairHeaderLen+boxOverhead+len(text), limitLocal); err != nil {
		return err
	}
	box, err := seal.SealSeen(c.root, c.account, c.dev.id, text)
	if err != nil {
		return err
	}
	file := append(frame(magicSeen, pairHeader(c.account, c.dev.id)), box...)
	return c.local.in("device", func(d folder) error { return d.Replace(seenFile, file) })
}

// settle looks at a write that did not end. If its root is on disk it counts, and was seen; if not, its files are left-overs, which
// stay named in the seen state until the next write removes them.
func (c memory) settle() {
	p := c.seen.next
	if p == nil {
		return
	}
	file, err := c.readRootFile(p.vault, c.dev.id)
	if err != nil || seal.HashOf(file) != p.mark.hash {
		return
	}
	c.seen.setRoot(p.vault, c.dev.id, p.mark)
	c.seen.gone, c.seen.next = &staleFiles{p.vault, p.gone}, nil
}

// readRootFile reads the root of a device in a vault.
func (r *ring) readRootFile(vault, device seal.ID) (file []byte, err error) {
	err = r.shared.in(vaultPath(vault, "man"), func(d folder) error {
		file, err = d.Read(device.String(), limitManifest)
		return err
	})
	return file, err
}

// vaultPath is the path of what lies below a vault's folder, which is the folder itself for "".
func vaultPath(vault seal.ID, below string) string {
	return strings.TrimSuffix("vaults/"+vault.String()+"/"+below, "/")
}

// loadVaults refreshes every vault and finds new ones. A full load reads items again and looks for orphans.
func (c *core) loadVaults(full bool) error {
	names, err := c.list("vaults")
	if err != nil {
		return err
	}
	c.headless = map[seal.ID]bool{}
	for _, name := range names {
		id, err := seal.ParseID(strings.TrimSuffix(name, "/"))
		if err != nil || !isVaultFolder(name) && c.vaults[id] == nil && c.seen.vaults[id] == nil {
			continue // somebody else's; in the place of a vault that is known it is an error by name
		}
		if c.vaults[id] != nil && !full {
			continue
		}
		if err := c.loadHeaders(id); err != nil {
			return err
		}
	}
	for _, v := range c.vaults {
		if err := v.refresh(full); err != nil {
			return fmt.Errorf("reading vault %s: %w", v.id, err)
		}
	}
	return nil
}

// loadHeaders unwraps the keys of a vault and adds it to the account if it is new. A folder without header is no vault: left by a
// crash, not synced yet, or robbed of it.
func (c *core) loadHeaders(id seal.ID) error {
	v := c.vaults[id]
	if v == nil {
		v = newShelf(c, id)
	}
	headers, err := readHeaders(v)
	if err != nil {
		return fmt.Errorf("reading vault %s: %w", id, err)
	}
	for epoch := range v.keys {
		if !headers[epoch] {
			object := headerObject(id, epoch)
			v.problems.set(alarm, FindMissing, object, "the header of "+object+" is gone: once locked, it can't be opened again")
		}
	}
	if len(v.keys) > 0 || len(v.problems) > 0 {
		c.vaults[id] = v
		return nil
	}
	delete(c.vaults, id)
	if len(headers) == 0 {
		holds, err := v.holdsParts()
		if err != nil {
			return fmt.Errorf("reading vault %s: %w", id, err)
		}
		if holds {
			c.headless[id] = true
		}
	}
	return nil
}

// readHeaders reads what lies in a vault's folder under the name of a header, and says for which epochs there is something.
func readHeaders(s *shelf) (headers map[uint64]bool, err error) {
	left, err := leftHeaders(s)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(s.problems, func(object string, _ Finding) bool { return strings.HasPrefix(object, "vault ") })
	headers = map[uint64]bool{}
	err = s.c.shared.in("vaults/"+s.id.String(), func(d folder) error {
		names, err := d.List()
		for _, name := range names {
			epoch, ok := headerEpoch(name)
			if !ok {
				continue
			}
			headers[epoch] = true
			if !left[name] {
				err = errors.Join(err, loadHeader(s, d, epoch))
			}
		}
		return err
	})
	return headers, err
}

// leftHeaders are those that a crash left of a vault that it kept from coming into being. One in which any device has written is there.
func leftHeaders(s *shelf) (map[string]bool, error) {
	left := leftovers(s)
	if len(left) == 0 {
		return nil, nil
	}
	names, err := s.c.list(vaultPath(s.id, "man"))
	if slices.ContainsFunc(names, func(name string) bool { _, err := seal.ParseID(name); return err == nil }) {
		return nil, nil
	}
	return left, err
}

// loadHeader unwraps the vault's key of one epoch. A changed header is a finding.
func loadHeader(s *shelf, d folder, epoch uint64) error {
	object := headerObject(s.id, epoch)
	file, err := d.Read(headerName(epoch), limitSmall)
	if err != nil && !errors.Is(err, state.ErrTooLarge) {
		return err
	}
	var vk seal.VaultKey
	if err == nil {
		vk, err = s.c.openHeader(s.id, epoch, file)
	}
	if isNewer(err) {
		return err
	}
	if err != nil {
		s.problems.set(alarm, FindTampered, object, "the header of "+object+" was changed")
		return nil
	}
	s.setKey(epoch, vk)
	return nil
}

func headerObject(vault seal.ID, epoch uint64) string {
	return "vault " + vault.String() + " " + headerName(epoch)
}

const headerPrefix = "header-"

func headerEpoch(name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, headerPrefix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil && headerName(n) == name
}

func headerName(epoch uint64) string { return fmt.Sprintf("%s%016x", headerPrefix, epoch) }

// judgeAll collects the findings and remembers what was accepted.
func (c *core) judgeAll() error {
	(roster{c}).judgeKeyset()
	var found []Finding
	changed := false
	for _, v := range c.vaults {
		list, accepted := verdicts{v}.roots()
		found = append(found, list...)
		found = slices.AppendSeq(found, maps.Values(v.problems))
		for dev, m := range accepted {
			if was, _ := c.seen.root(v.id, dev); was != m {
				c.seen.setRoot(v.id, dev, m)
				changed = true
			}
		}
	}
	found = append(found, judgeVaults(c)...)
	found = slices.AppendSeq(found, maps.Values(c.problems))
	if c.problems["keyset"].Kind == "" && later(c.keyset.mark(), c.seen.keyset) {
		c.seen.keyset, changed = c.keyset.mark(), true
	}
	found, aged := judge(found, c.seen.since, c.cfg.now())
	c.found = found
	if !changed && !aged {
		return nil
	}
	if err := (memory{c}).save(); err != nil && !unwritable(err) {
		return fmt.Errorf("writing the seen state: %w", err)
	}
	return nil
}

// judgeVaults finds vaults that were seen, are named in a root, or left something, and are gone. One that only another device names or
// whose header alone is missing may be on its way, and so may the vaults of an account that has none: the first comes into being with it.
func judgeVaults(c *core) []Finding {
	gone := problems{}
	note := func(id seal.ID, w weight) {
		object := "vault " + id.String()
		if c.vaults[id] != nil || gone[object].weight == alarm {
			return
		}
		text := object + " is not there"
		if c.headless[id] {
			text = object + " has no header: without it nothing in its folder can be opened"
		}
		gone.set(w, FindMissing, object, text)
	}
	for id := range c.headless {
		note(id, pending)
	}
	for _, v := range c.vaults {
		for dev, r := range v.roots {
			for id := range r.root.vaults {
				if dev == c.dev.id {
					note(id, alarm)
				} else {
					note(id, pending)
				}
			}
		}
	}
	for id := range c.seen.vaults {
		note(id, alarm)
	}
	if len(c.vaults)+len(gone) == 0 {
		gone.set(pending, FindMissing, "vaults", "the account has no vault: they are not synced yet, or were removed")
	}
	return slices.Collect(maps.Values(gone))
}
