package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"warder/internal/seal"
	"warder/internal/state"
)

// This file keeps the account's epoch of keys: keyset files, device cards and who is on the roster.

// Objects of findings that are this device's own files.
const (
	objectDeviceKeys = "device keys"
	objectSeen       = "seen state"
)

// roster changes and judges the keyset and who is on it.
type roster struct{ *core }

// advance replaces the keyset by a changed successor. The old one goes only after each vault's root names the new one: from then on putting
// the old one back is found out.
func (c roster) advance(change func(*keyset) error, opt commitOptions) error {
	a := alarms(c.found)
	if len(a) > 0 && !opt.force && !opt.recovery {
		return &AlarmError{a}
	}
	// With an alarm a recovery lets the owner in and leaves the evidence as it is: memory and roots are written when the alarm is settled.
	keysetOnly := len(a) > 0 && opt.recovery
	k := c.keyset.successor(c.cfg.now())
	k.epoch = max(k.epoch, c.latestKeyset().seq+1) // after a rollback that was accepted it must rule over what was in force before
	if err := change(k); err != nil {
		return err
	}
	if err := k.encode(c.account, c.root); err != nil {
		return fmt.Errorf("the keyset is unchanged: %w", err)
	}
	if !keysetOnly {
		// Where this can't be written, nothing can that must follow the keyset.
		if err := memory(c).save(); err != nil {
			return fmt.Errorf("the keyset is unchanged: writing the seen state: %w", err)
		}
	}
	if err := c.writeKeyset(k); err != nil {
		return fmt.Errorf("the keyset is unchanged: %w", err)
	}
	if keysetOnly {
		return nil
	}
	err := c.settleKeyset(opt)
	if err == nil {
		return nil
	}
	c.stale = true // cards and roots of who went off the roster may still count here
	if opt.recovery {
		return nil // it must end with the new kit in the owner's hands; the next start writes the rest
	}
	return fmt.Errorf("the new keyset is in force, but what follows it was not all written: %w", err)
}

// settleKeyset has each vault's root name the keyset in force, and then removes what is out of force: devices that went off the roster,
// and the keysets before this one. Those go last, because they tell which devices those are if a crash comes between.
func (c roster) settleKeyset(opt commitOptions) error {
	for _, s := range c.vaults {
		if own := s.roots[c.dev.id]; own != nil && own.root.keyset == c.keyset.mark() {
			continue
		}
		if err := s.commit(nil, opt); err != nil {
			return err
		}
	}
	old, err := c.olderKeysets()
	if err != nil || len(old) == 0 {
		return err
	}
	if err := c.removeRetired(); err != nil {
		return err
	}
	err = c.shared.in("keysets", func(d folder) error {
		for _, name := range old {
			err = errors.Join(err, d.Remove(name))
		}
		return err
	})
	return errors.Join(err, strays(c).find()) // cards that were none before may count now, and the other way round
}

// olderKeysets lists the keyset files that the one in force has superseded. Names that are not a keyset's are somebody else's: a cloud
// drive's copy, a folder. They stay.
func (r *ring) olderKeysets() (old []string, err error) {
	names, err := r.list("keysets")
	for _, name := range names {
		if epoch, ok := keysetEpoch(name); ok && epoch < r.keyset.epoch {
			old = append(old, name)
		}
	}
	return old, err
}

// removeRetired removes card and manifests of the devices that were on the roster of a keyset before this one and are not on this one's.
// Only keysets count that this one follows: of two made apart, the one that does not rule has retired nobody.
func (c roster) removeRetired() error {
	list, err := readKeysets(c.shared, c.account)
	if err != nil {
		return err
	}
	for k := c.keyset; ; {
		i := slices.IndexFunc(list, func(o *keyset) bool { return o.hash == k.prev && o.epoch < k.epoch && o.authentic(c.root) })
		if i < 0 {
			return nil
		}
		k = list[i]
		for dev := range k.roster {
			if _, in := c.keyset.roster[dev]; in {
				continue
			}
			if err := c.remove(dev); err != nil {
				return err
			}
		}
	}
}

// remove removes card and manifests of a device that is off the roster.
func (c roster) remove(dev seal.ID) error {
	errs := c.shared.in("devices", func(d folder) error { return d.Remove(dev.String()) })
	for _, s := range c.vaults {
		errs = errors.Join(errs, c.removeBelow(s.id, []string{"man/" + dev.String()}),
			c.removeTree(vaultPath(s.id, "man/"+dev.String()+".d")+"/"))
		forgetDevice(s, dev)
		delete(c.seen.vaults[s.id], dev)
	}
	delete(c.cards, dev)
	return errs
}

// takePart sees to it that this device is on the roster, and completes a change of the keyset that was cut short: by a crash, or
// because an alarm stood.
func (c roster) takePart() error {
	if c.cards[c.dev.id] != nil {
		old, err := c.olderKeysets()
		if err != nil || len(old) == 0 {
			return err
		}
		return errors.Join(c.settleKeyset(commitOptions{}), c.judgeAll())
	}
	back, err := c.comeBack()
	if err == nil && !back {
		err = c.enrol(c.seen)
	}
	if err != nil {
		return err
	}
	return c.judgeAll()
}

// comeBack puts this device on the roster again under the id that it has. It was there and is not: a crash kept it from getting there,
// or another device changed the keyset at the same time and that change rules. If its card is good and its roots are the ones it
// wrote last, nothing speaks for another id, and what it has written since is not lost.
func (c roster) comeBack() (done bool, err error) {
	if !c.dev.enrolled() {
		return false, nil
	}
	var own *card
	err = c.shared.in("devices", func(d folder) error {
		file, err := d.Read(c.dev.id.String(), limitSmall)
		if err == nil {
			own, err = openCard(c.account, c.dev.id, c.root, file)
		}
		return err
	})
	if err != nil || own.public.Sign != c.dev.keys.Public().Sign {
		return false, nil //nolint:nilerr // then it gets a new id
	}
	for id := range c.vaults {
		var have mark
		file, err := c.readRootFile(id, c.dev.id)
		if err == nil {
			have.hash = seal.HashOf(file)
		}
		if was, _ := c.seen.root(id, c.dev.id); was.hash != have.hash {
			return false, nil
		}
	}
	c.cards[c.dev.id] = own
	err = c.loadVaults(false)
	c.stale = err != nil
	if err == nil {
		err = c.advance(func(k *keyset) error {
			k.roster[own.device] = own.hash
			return nil
		}, commitOptions{snapshot: true})
	}
	if _, in := c.keyset.roster[own.device]; !in {
		delete(c.cards, own.device)
	}
	return true, err
}

// enrol puts this device on the roster under a new id and writes its first roots, which repeat all that is known. What is to be
// remembered of the others is the caller's to say; the former id stays. If it fails before the roster has the new id, the former one goes on.
func (c roster) enrol(remembered seen) error {
	former, memories := c.dev, c.seen
	fresh, err := newDevice()
	if err != nil {
		return err
	}
	c.dev = fresh
	c.seen = remembered
	c.seen.next, c.seen.gone = nil, nil // of writes under the former id, which may go on elsewhere
	if err = c.publishDevice(); err == nil {
		err = c.advance(func(k *keyset) error {
			k.roster[fresh.id] = c.cards[fresh.id].hash
			return nil
		}, commitOptions{force: true, snapshot: true})
	}
	if _, in := c.keyset.roster[fresh.id]; !in {
		delete(c.cards, fresh.id)
		fresh.keys.Destroy()
		_ = c.shared.in("devices", func(d folder) error { return d.Remove(fresh.id.String()) })
		if c.dev, c.seen = former, memories; former.enrolled() {
			if memory(c).keep() != nil {
				c.stillborn = fresh.id
			}
		} else {
			_ = c.local.in("device", func(d folder) error { return errors.Join(d.Remove(keysFile), d.Remove(seenFile)) })
		}
		return err
	}
	former.keys.Destroy()
	c.problems.clear(objectDeviceKeys)
	c.problems.clear("device " + former.id.String())
	return err
}

// loadRoster opens the cards that the keyset lists. Others do not count: a removed device's card would still carry a right MAC.
func (c roster) loadRoster() error {
	cards := make(map[seal.ID]*card, len(c.keyset.roster))
	read := func(d folder) error {
		for id, want := range c.keyset.roster {
			k, err := c.readCard(d, id, want)
			if err != nil {
				return err
			}
			if k != nil {
				cards[id] = k
			}
		}
		return nil
	}
	err := c.shared.in("devices", read)
	if errors.Is(err, fs.ErrNotExist) {
		err = read(nowhere{})
	}
	if err != nil {
		return fmt.Errorf("reading device cards: %w", err)
	}
	maps.DeleteFunc(c.problems, func(object string, _ Finding) bool {
		digits, _ := strings.CutPrefix(object, "device ")
		id, err := seal.ParseID(digits)
		_, listed := c.keyset.roster[id]
		return err == nil && !listed // it was retired
	})
	c.cards = cards
	return nil
}

// readCard opens a device's card, whose hash the keyset lists. One that is absent or was changed is a finding, and nil.
func (c roster) readCard(d folder, id seal.ID, want seal.Hash) (*card, error) {
	object := "device " + id.String()
	c.problems.clear(object)
	file, err := d.Read(id.String(), limitSmall)
	switch {
	case errors.Is(err, fs.ErrNotExist) && id == c.dev.id:
		c.problems.set(alarm, FindMissing, object, "this device's own card is gone")
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		c.problems.set(pending, FindBehind, object, "the card of "+object+" is not here yet")
		return nil, nil
	case err != nil && !errors.Is(err, state.ErrTooLarge):
		return nil, err
	case err == nil && seal.HashOf(file) == want:
		k, err := openCard(c.account, id, c.root, file)
		if err == nil || isNewer(err) {
			return k, err
		}
	}
	c.problems.set(alarm, FindTampered, object, "the card of "+object+" was changed")
	return nil, nil
}

// judgeKeyset compares the keyset with the one remembered. Of two keysets of one epoch the lower hash rules, so a lower one is
// no step back.
func (c roster) judgeKeyset() {
	const object = "keyset"
	c.problems.clear(object)
	have, was := c.keyset.mark(), c.latestKeyset()
	if later(was, have) {
		c.problems.set(alarm, FindKeysetRollback, object,
			fmt.Sprintf("the keyset has epoch %d, but epoch %d was in force: an old password or removed device may work again", have.seq, was.seq))
	}
}

// latestKeyset is the latest one that is remembered or named in a root.
func (c roster) latestKeyset() mark {
	m := c.seen.keyset
	for _, s := range c.vaults {
		for _, r := range s.roots {
			if later(r.root.keyset, m) {
				m = r.root.keyset
			}
		}
	}
	return m
}

// later says whether keyset a supersedes keyset b.
func later(a, b mark) bool {
	return a.seq > b.seq || a.seq == b.seq && a.hash.String() < b.hash.String()
}
