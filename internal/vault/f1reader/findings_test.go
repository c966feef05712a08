package f1reader

import (
	"fmt"
	"maps"
	"slices"
)

// comparison compares an account with what one of its devices remembers.
type comparison struct {
	*account
	local *local
	found []finding
	noted map[id]bool // vaults that are gone and have a finding
}

// compare is the part of F1.9 that needs the device's memory, or several roots.
func compare(a *account, l *local) []finding {
	c := &comparison{account: a, local: l, noted: maps.Clone(a.headless)}
	c.withSeen()
	for _, v := range a.vaults {
		for device, r := range v.roots {
			c.withSeenBy(v, device)
			c.withVaultsOf(device, r)
			if r.keyset.n > a.ruling.n {
				c.find("keyset_rollback", "%s names keyset %d", device, r.keyset.n)
			}
		}
	}
	if l.seen.keyset.n > a.ruling.n {
		c.find("keyset_rollback", "keyset %d was seen", l.seen.keyset.n)
	}
	isMissing := func(f finding) bool { return f.kind == "missing" }
	if len(a.vaults) == 0 && !slices.ContainsFunc(append(slices.Clone(a.findings), c.found...), isMissing) {
		c.find("missing", "no vault")
	}
	return c.found
}

// find records a finding.
func (c *comparison) find(kind, format string, args ...any) {
	c.found = append(c.found, finding{kind, fmt.Sprintf(format, args...)})
}

// gone reports whether a vault is not there, which is one finding.
func (c *comparison) gone(name id) bool {
	if c.vaults[name] != nil {
		return false
	}
	if !c.noted[name] {
		c.noted[name] = true
		c.find("missing", "vault %s", name)
	}
	return true
}

// root returns a root, nil where there is none or it cannot be read.
func (c *comparison) root(name, device id) (r *root, unread bool) {
	if v := c.vaults[name]; v != nil {
		return v.roots[device], v.unread[device]
	}
	return nil, false
}

// holds reports whether a root is there with at least the sequence number, or
// cannot be read and so has its finding already.
func (c *comparison) holds(name, device id, seq uint64) bool {
	r, unread := c.root(name, device)
	return unread || r != nil && seq <= r.seq
}

// withSeen compares the roots with those last accepted.
func (c *comparison) withSeen() {
	for name, devices := range c.local.seen.vaults {
		if c.gone(name) {
			continue
		}
		for device, last := range devices {
			r, unread := c.root(name, device)
			switch {
			case unread:
			case r == nil:
				c.find("missing", "root of %s in %s", device, name)
			case r.seq < last.n:
				c.find("rollback", "root of %s in %s", device, name)
			case r.seq == last.n && r.hash != last.hash:
				c.find("fork", "root of %s in %s", device, name)
			case device == c.local.device && r.seq > last.n && !c.local.wrote(name, r):
				c.find("cloned", "root of %s in %s", device, name)
			}
		}
	}
}

// wrote reports whether a root is the one of the write that a crash ended.
func (l *local) wrote(name id, r *root) bool {
	return l.seen.next != nil && l.seen.next.vault == name && l.seen.next.root.hash == r.hash
}

// withSeenBy compares the roots with those that one device saw in its vault.
func (c *comparison) withSeenBy(v *vault, device id) {
	for other, seq := range v.roots[device].seen {
		switch {
		case c.holds(v.id, other, seq):
		case other == c.local.device:
			c.find("cloned", "%s saw root %d in %s", device, seq, v.id)
		default:
			c.find("behind", "%s saw root %d of %s in %s", device, seq, other, v.id)
		}
	}
}

// withVaultsOf compares the roots with what one device wrote in other vaults.
func (c *comparison) withVaultsOf(device id, r *root) {
	for name, seq := range r.vaults {
		switch {
		case c.gone(name), c.holds(name, device, seq):
		case device == c.local.device:
			c.find("rollback", "own root in %s was %d", name, seq)
		default:
			c.find("behind", "%s wrote root %d in %s", device, seq, name)
		}
	}
}
