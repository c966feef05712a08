package vault

import (
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/dotenv"
)

// This file holds the rules for what an item may say beyond its form. They bind who writes: readers keep what they do not know, and a
// later version may know more words. So a rule is asked only of what a write brings in, not of what the item held before.

// minHostValue is the length in bytes from which a concealed value may be sent to hosts: a shorter one can't be masked in what comes
// back, because it stands everywhere by chance (C-09).
const minHostValue = 4

// ContentError refuses what an item says. It names fields, never values, and no host, tag or client either: those may be secret too.
type ContentError struct {
	What   string // "host number 1", "field \"pin\"", …
	Reason string // with what to do about it
}

// Error is one sentence.
func (e *ContentError) Error() string { return e.What + " " + e.Reason }

// refuse makes a ContentError about the ith of several things.
func refuse(what string, i int, reason string) error {
	return &ContentError{What: fmt.Sprintf("%s number %d", what, i+1), Reason: reason}
}

// content is an item as it is to be written, and as it was before: an empty one if it is new.
type content struct{ it, was *Item }

// checkContent applies the rules. The caller holds the account's mutex, at least for reading.
func (s *shelf) checkContent(it *Item) error {
	err := content{it, &Item{}}.check()
	if err == nil {
		return nil
	}
	if heads := s.heads[it.ID]; len(heads) > 0 {
		was, _, openErr := s.openHead(it.ID, heads[0], true)
		if openErr == nil && was != nil {
			defer was.Destroy()
			err = content{it, was}.check()
		}
	}
	if err != nil {
		return fmt.Errorf("%s %q: %w", it.Kind, it.Name, err)
	}
	return nil
}

func (c content) check() error {
	for _, rule := range []func() error{c.words, c.tags, c.clients, c.hosts, c.commands} {
		if err := rule(); err != nil {
			return err
		}
	}
	for i := range c.it.Fields {
		if err := c.field(&c.it.Fields[i]); err != nil {
			return fmt.Errorf("field %q: %w", c.it.Fields[i].Name, err)
		}
	}
	return nil
}

// words refuses types, ways and origins that this version does not know, and ways that contradict each other.
func (c content) words() error {
	it, was := c.it, c.was
	if it.Type != "" && it.Type != was.Type && !slices.Contains(Types(), it.Type) {
		return &ContentError{"the type", "is none that warder knows: see the list in `warder item add --help`"}
	}
	if it.Origin.By != was.Origin.By && !it.Origin.By.known() {
		return &ContentError{"the origin", "is none that warder knows"}
	}
	for i, way := range it.Delivery {
		if !slices.Contains(Deliveries(), way) && !slices.Contains(was.Delivery, way) {
			return refuse("way of delivery", i, "is none that warder knows: broker, env, file, stdin, agent-socket")
		}
	}
	byEnv := func(m *Meta) bool { return m.NeverEnv && slices.Contains(m.Delivery, DeliverEnv) }
	if byEnv(&it.Meta) && !byEnv(&was.Meta) {
		return &ContentError{"delivery", "by env contradicts never-env: take one of the two away"}
	}
	return nil
}

func (c content) tags() error {
	for i, tag := range c.it.Tags {
		if !isLabel(tag) && !slices.Contains(c.was.Tags, tag) {
			return refuse("tag", i, "is empty or holds an invisible character")
		}
	}
	return nil
}

func (c content) clients() error {
	for client := range c.it.Clients {
		if _, had := c.was.Clients[client]; !isLabel(client) && !had {
			return &ContentError{"the name of an agent client", "is empty or holds an invisible character"}
		}
	}
	return nil
}

// isLabel says whether a text can be seen whole.
func isLabel(s string) bool { return s != "" && !strings.ContainsFunc(s, invisible) }

func (c content) hosts() error {
	for i, h := range c.it.Hosts {
		had := slices.ContainsFunc(c.was.Hosts, func(o Host) bool { return o.Host == h.Host })
		if !had && !isHost(h.Host) {
			return refuse("host", i, "is none: give a name or address, with a port if need be, without scheme and path")
		}
	}
	return nil
}

// isHost takes a name, which may begin with "*.", or an address, and a port after it.
func isHost(s string) bool {
	if addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")); err == nil {
		return addr.Zone() == ""
	}
	if _, err := netip.ParseAddrPort(s); err == nil {
		return true
	}
	name, port, hasPort := strings.Cut(s, ":")
	if hasPort && (port == "" || len(port) > 5 || strings.Trim(port, "0123456789") != "") {
		return false
	}
	return isLabel(name) && !strings.ContainsAny(name, `/\@?#%[] `)
}

func (c content) commands() error {
	for i, cmd := range c.it.Commands {
		had := slices.ContainsFunc(c.was.Commands, func(o Command) bool { return o.Name == cmd.Name && o.Path == cmd.Path })
		switch {
		case had:
		case !isLabel(cmd.Name):
			return refuse("command", i, "is empty or holds an invisible character")
		case !isLabel(cmd.Path) || !filepath.IsAbs(cmd.Path) && !strings.HasPrefix(cmd.Path, "/"):
			return refuse("command", i, "has no absolute path: what it runs would depend on PATH")
		}
	}
	return nil
}

// field applies the rules for one field. An old field is the one of exactly that name.
func (c content) field(f *Field) error {
	old := &Field{}
	i := slices.IndexFunc(c.was.Fields, func(o Field) bool { return o.Section == f.Section && o.Name == f.Name })
	if i >= 0 {
		old = &c.was.Fields[i]
	}
	same := i >= 0 && old.Ref == f.Ref && old.Value.Equal(f.Value)
	short := f.Concealed && f.Value.Len() > 0 && f.Value.Len() < minHostValue
	switch {
	case c.it.Kind == KindStage && i < 0 && !isVariableKey(f.Name):
		return &ContentError{"its name", "is no key of a .env file: letters, digits and _ . - are, not starting with a dot or a dash"}
	case f.NonSecret != old.NonSecret && !f.NonSecret.known():
		return &ContentError{"its mark as no secret", "is of nobody that warder knows"}
	case f.NonSecret == ByPerson && c.it.Origin.By == ByAgent && (old.NonSecret != ByPerson || !same):
		return &ContentError{"its mark as no secret", "is a person's word, and an agent can't give it"}
	case f.Ref != "" && f.Ref != old.Ref && !isReference(f.Ref):
		return &ContentError{"its reference", "is none: write " + refForm}
	case short && len(c.it.Hosts) > 0 && !(same && old.Concealed && len(c.was.Hosts) > 0):
		return &ContentError{
			fmt.Sprintf("its value of %d bytes", f.Value.Len()),
			fmt.Sprintf("can't be masked in what hosts answer: give one of at least %d bytes, or take the hosts away", minHostValue),
		}
	}
	return nil
}

// isVariableKey says whether a stage may have a variable of that name: all that a .env file may hold. A dotted one is kept under its
// name, though no process gets it as a variable (dotenv.IsVariable).
func isVariableKey(name string) bool {
	return dotenv.Format(io.Discard, dotenv.DialectEnv, []dotenv.Entry{{Name: name}}) == nil
}
