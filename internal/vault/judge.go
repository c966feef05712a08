package vault

import (
	"fmt"

	"warder/internal/seal"
)

// verdicts judges the roots of one vault.
type verdicts struct{ *shelf }

// roots compares the roots at hand with what this device remembers and with what the roots say of each other (F1.9). It
// returns the findings, and the roots to remember because nothing is wrong with them.
func (s verdicts) roots() (found []Finding, accepted map[seal.ID]mark) {
	if len(s.keys) == 0 {
		return nil, nil // its header is the finding, and no root opens without it
	}
	accepted = map[seal.ID]mark{}
	devices := map[seal.ID]bool{}
	for dev := range s.c.seen.vaults[s.id] {
		devices[dev] = true
	}
	for dev := range s.shelf.roots {
		devices[dev] = true
	}
	for dev := range devices {
		if f, ok := s.root(dev); ok {
			found = append(found, f)
		} else if r := s.shelf.roots[dev]; r != nil {
			accepted[dev] = r.mark
		}
	}
	if len(s.shelf.roots)+len(s.unread) == 0 {
		object := "vault " + s.id.String()
		found = append(found, Finding{
			Kind: FindMissing, Object: object, weight: s.rootless(),
			Text: object + " has keys and no manifest: what it held can't be told",
		})
	}
	claims := s.claims()
	for dev, claimed := range claims.fresh {
		if was, _ := s.c.seen.root(s.id, dev); claimed <= was.seq {
			continue // no news: the root was compared with what is remembered of it
		}
		if f, ok := s.claim(dev, claimed, claims.own[dev]); ok {
			found = append(found, f)
		}
	}
	return found, accepted
}

// rootless is how serious it is that a vault has no root. One that nobody ever saw with a root is about to come: another device is just
// making it. Where there is no root in any vault, nothing is about to come.
func (s verdicts) rootless() weight {
	w := alarm
	for _, other := range s.c.vaults {
		for _, r := range other.roots {
			if w = pending; r.root.vaults[s.id] > 0 {
				return alarm
			}
		}
	}
	if len(s.c.seen.vaults[s.id]) > 0 {
		return alarm
	}
	return w
}

// named says that there is a finding already that tells why the device's root does not count.
func (s verdicts) named(dev seal.ID) bool { return s.unread[dev] && s.shelf.roots[dev] == nil }

// root compares one device's root with the one remembered.
func (s verdicts) root(dev seal.ID) (Finding, bool) {
	object := s.rootObject(dev)
	f := Finding{Object: object, weight: alarm}
	r := s.shelf.roots[dev]
	was, seenBefore := s.c.seen.root(s.id, dev)
	onDisk := r != nil && !s.absent[dev]
	switch {
	case !onDisk && !seenBefore, s.named(dev):
		return Finding{}, false
	case !onDisk:
		if _, listed := s.c.keyset.roster[dev]; !listed {
			return Finding{}, false // taken off the roster, and its root with it
		}
		f.Kind, f.Text = FindMissing, object+" is gone"
	case r.mark.seq < was.seq:
		f.Kind, f.Text = FindRollback, fmt.Sprintf("%s has seq %d, but %d was seen: the store was rolled back", object, r.mark.seq, was.seq)
	case r.mark.seq == was.seq && r.mark.hash != was.hash:
		f.Kind, f.Text = FindFork, fmt.Sprintf("%s has another content than the one seen with the same seq %d", object, was.seq)
	case dev == s.c.dev.id && r.mark != was:
		f.Kind = FindCloned
		f.Text = "this device's own manifest is newer than its memory: the device was copied or restored, and needs a new id"
	default:
		return Finding{}, false
	}
	return f, true
}

// claims is what roots say about the seq of devices in this vault.
type claims struct {
	fresh map[seal.ID]uint64 // highest, by other devices' `seen` and any root's `vaults`
	own   map[seal.ID]bool   // whether our own root in another vault is among those that say so
}

func (s verdicts) claims() claims {
	c := claims{map[seal.ID]uint64{}, map[seal.ID]bool{}}
	for _, r := range s.shelf.roots {
		for dev, n := range r.root.seen {
			c.fresh[dev] = max(c.fresh[dev], n)
		}
	}
	for _, other := range s.c.vaults {
		for dev, r := range other.roots {
			if n := r.root.vaults[s.id]; n > c.fresh[dev] {
				c.fresh[dev] = n
				c.own[dev] = dev == s.c.dev.id
			}
		}
	}
	return c
}

// claim looks at a root that is older than some root says.
func (s verdicts) claim(dev seal.ID, claimed uint64, ownClaim bool) (Finding, bool) {
	var have uint64
	if r := s.shelf.roots[dev]; r != nil {
		have = r.mark.seq
	}
	if _, ok := s.c.signer(dev); !ok || have >= claimed || s.named(dev) {
		return Finding{}, false
	}
	object := s.rootObject(dev)
	f := Finding{
		Kind: FindBehind, Object: object, weight: pending,
		Text: fmt.Sprintf("%s has seq %d, but %d is known elsewhere: not synced yet, or held back", object, have, claimed),
	}
	if dev != s.c.dev.id {
		return f, true
	}
	f.weight = alarm
	if ownClaim {
		f.Kind = FindRollback
		f.Text = fmt.Sprintf("%s has seq %d, but this device wrote %d: the vault was rolled back", object, have, claimed)
		return f, true
	}
	f.Kind = FindCloned
	f.Text = "another device knows later writes of this device: it was copied or restored, and needs a new id"
	return f, true
}
