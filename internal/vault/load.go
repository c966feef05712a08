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
)

// load reads the whole account behind the root key and judges it.
func (c *core) load() error {
	if err := (memory{c}).load(); err != nil {
		return err
	}
	if err := c.read(true); err != nil {
		return err
	}
	return c.judgeAll()
}

// read reads keyset, roster and vaults, all or what changed. Another device that shares the folder may replace the keyset while that is
// going on, and roots then name one that is not known yet: it must be there on a second look.
func (c *core) read(full bool) error {
	for range 3 {
		held := c.keyset.mark()
		if err := (roster{c}).loadKeyset(); err != nil {
			return err
		}
		if full || c.keyset.mark() != held {
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
	list, err := readKeysets(c.shared, c.account)
	if err != nil {
		return err
	}
	object := "keyset " + keysetName(c.keyset)
	c.problems.clear(object)
	held := false
	for _, k := range list {
		if k.mark() == c.keyset.mark() {
			held = true
		} else if later(k.mark(), c.keyset.mark()) && !k.unreadable && k.authentic(c.root) {
			c.keyset, held = k, true
		}
	}
	if !held {
		c.problems.set(alarm, FindMissing, object, object+" is gone")
	}
	c.findJunk(list)
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

// load reads it. A damaged one is a finding; a missing one leaves what is in memory, and a device that has
// roots but no memory is judged as cloned.
func (c memory) load() error {
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
	box, err := seal.SealSeen(c.root, c.account, c.dev.id, encode(c.seen.put))
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
	for _, name := range names {
		id, err := seal.ParseID(strings.TrimSuffix(name, "/"))
		if err != nil {
			continue
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
// crash, or not synced yet.
func (c *core) loadHeaders(id seal.ID) error {
	v := c.vaults[id]
	if v == nil {
		v = newShelf(c, id)
	}
	err := c.shared.in("vaults/"+id.String(), func(d folder) error {
		names, err := d.List()
		if err != nil {
			return err
		}
		for _, name := range names {
			// A left-over header is of a vault that a crash kept from coming into being.
			if epoch, ok := headerEpoch(name); ok && !v.leftovers()[name] {
				err = errors.Join(err, loadHeader(v, d, epoch))
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("reading vault %s: %w", id, err)
	}
	if len(v.keys) > 0 || len(v.problems) > 0 {
		c.vaults[id] = v
	}
	return nil
}

// loadHeader unwraps the vault's key of one epoch. A changed header is a finding.
func loadHeader(s *shelf, d folder, epoch uint64) error {
	object := "vault " + s.id.String() + " " + headerName(epoch)
	s.problems.clear(object)
	file, err := d.Read(headerName(epoch), limitSmall)
	if err != nil {
		return err
	}
	vk, err := s.c.openHeader(s.id, epoch, file)
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

// judgeVaults finds vaults that were seen or are named in a root, and are gone. One that only another device names may be on its way.
func judgeVaults(c *core) []Finding {
	gone := problems{}
	note := func(id seal.ID, w weight) {
		object := "vault " + id.String()
		if c.vaults[id] == nil && gone[object].weight != alarm {
			gone.set(w, FindMissing, object, object+" is not there")
		}
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
	return slices.Collect(maps.Values(gone))
}
