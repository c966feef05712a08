package vault

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
)

// future are members of a later version, before, among and after those that are known.
func future() []rawMember {
	return []rawMember{{"", []byte(`[1,{"a":"b"}]`)}, {"future", []byte(`"\"\\\n"`)}, {"zz", []byte(`{}`)}}
}

// futureItem is an item as a later version may write it.
func futureItem(t testing.TB, name string) *Item {
	t.Helper()
	return &Item{
		Meta: Meta{
			ID: seal.NewID(), Kind: KindItem, Name: name, extra: future(),
			Hosts:    []Host{{Host: "example.org", extra: future()}},
			Commands: []Command{{Name: "run", Path: "/bin/run", extra: future()}},
		},
		Fields: []Field{{Name: "f", Value: testValue(t, "value"), extra: future()}},
	}
}

// extras are the unknown members of an item by where they stand.
func extras(it *Item) map[string][]rawMember {
	return map[string][]rawMember{
		"item": it.extra, "field": it.Fields[0].extra, "host": it.Hosts[0].extra, "command": it.Commands[0].extra,
	}
}

func wantFuture(t testing.TB, where string, got []rawMember) {
	t.Helper()
	if diff := cmp.Diff(future(), got, same()); diff != "" {
		t.Errorf("%s: %s", where, diff)
	}
}

// TestUnknownMembersOfItems are kept by whoever writes an item again, and by its history.
func TestUnknownMembersOfItems(t *testing.T) {
	cfg, a, _ := testAccount(t, func(*Config) {})
	it := futureItem(t, "item")
	if err := a.Vaults()[0].Save(it); err != nil {
		t.Fatal(err)
	}
	first := it.Rev()
	for name, act := range map[string]func(v *Vault) error{
		"a change": func(v *Vault) error {
			got, err := v.Open(it.ID)
			got = must(t, got, err)
			defer got.Destroy()
			got.Name, got.Hosts[0].Host = got.Name+"!", "example.com"
			got.Fields[0].Put(testValue(t, "another"))
			return v.Save(got)
		},
		"the trash": func(v *Vault) error { return v.Trash(it.ID, Origin{}) },
		"restoring": func(v *Vault) error { return v.Restore(it.ID, Origin{}) },
		"reverting": func(v *Vault) error { return v.Revert(it.ID, first, Origin{Tag: "undo me"}) },
		"an undo": func(v *Vault) error {
			if err := v.Trash(it.ID, Origin{Tag: "act"}); err != nil {
				return err
			}
			_, err := v.Undo("act", Origin{})
			return err
		},
	} {
		a = reopen(t, cfg, a)
		v := a.Vaults()[0]
		if err := act(v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a = reopen(t, cfg, a)
		got, err := a.Vaults()[0].Open(it.ID)
		got = must(t, got, err)
		for where, members := range extras(got) {
			wantFuture(t, where+" after "+name, members)
		}
		got.Destroy()
	}
}

// plantFuture puts members of a later version wherever this device writes.
func plantFuture(t testing.TB, a *Account, it *Item) {
	t.Helper()
	c := a.c
	s := c.vaults[a.Vaults()[0].ID()]
	own := s.roots[c.dev.id]
	own.root.extra = future()
	n := shardOf(it.ID)
	part := own.shards[n]
	e := part.entries[it.ID]
	e.extra, part.extra = future(), future()
	part.entries[it.ID] = e
	own.shards[n] = part
	c.keyset.extra = future()
	for i := range c.keyset.slots {
		c.keyset.slots[i].extra = future()
	}
	err := c.writing(t.Context(), func() error {
		c.seen.extra = future()
		return (memory{c}).save()
	})
	if err != nil {
		t.Fatal(err)
	}
	// Another item of the same shard, so that the shard is written again, and a keyset that follows.
	other := &Item{Meta: Meta{ID: seal.ID{it.ID[0], 1, 2, 3}, Kind: KindItem, Name: "neighbour"}}
	if err := a.Vaults()[0].Save(other); err != nil {
		t.Fatal(err)
	}
	if err := a.ChangePassword(testValue(t, testPassword), testValue(t, testPassword)); err != nil {
		t.Fatal(err)
	}
}

// TestUnknownMembersOfTheAccount are kept by the device that writes an object again: root, shard and entry, keyset and slot, seen state.
func TestUnknownMembersOfTheAccount(t *testing.T) {
	cfg, a, _ := testAccount(t, func(*Config) {})
	it := futureItem(t, "item")
	if err := a.Vaults()[0].Save(it); err != nil {
		t.Fatal(err)
	}
	plantFuture(t, a, it)
	for round := range 3 {
		a = reopen(t, cfg, a)
		c := a.c
		if f := a.Findings(); len(f) != 0 {
			t.Fatalf("%+v", f)
		}
		own := c.vaults[a.Vaults()[0].ID()].roots[c.dev.id]
		part := own.shards[shardOf(it.ID)]
		wantFuture(t, "root", own.root.extra)
		wantFuture(t, "shard", part.extra)
		wantFuture(t, "entry", part.entries[it.ID].extra)
		wantFuture(t, "keyset", c.keyset.extra)
		wantFuture(t, "recovery slot", c.keyset.slot(recoverySlot).extra)
		wantFuture(t, "seen state", c.seen.extra)
		next := &Item{Meta: Meta{ID: seal.ID{it.ID[0], 4, byte(round)}, Kind: KindItem, Name: "next " + string(rune('a'+round))}}
		if err := a.Vaults()[0].Save(next); err != nil {
			t.Fatal(err)
		}
		if err := a.ChangePassword(testValue(t, testPassword), testValue(t, testPassword)); err != nil {
			t.Fatal(err)
		}
	}
	if names := a.Vaults()[0].List(); !slices.ContainsFunc(names, func(m Meta) bool { return m.ID == it.ID }) {
		t.Error("the item is gone")
	}
}

// TestUnknownMembersAreNotParameters: one that is not known in a slot's key derivation would change what is computed, so it is no slot
// that can be opened.
func TestUnknownMembersAreNotParameters(t *testing.T) {
	for text, ok := range map[string]bool{`{"id":1,"lanes":4,"memory":131072,"time":3}`: true, `{"id":1,"pepper":true}`: false, `{"id":2}`: false} {
		if err := decode([]byte(text), func(d *decoder) { readKDF(d) }); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUnknownMembersOfMarks: an origin and a mark are made anew with each write, so what a later version says in them is read over.
func TestUnknownMembersOfMarks(t *testing.T) {
	err := decode([]byte(`{"by":"agent","client":"c","future":[1],"tag":"t"}`), func(d *decoder) {
		if got := readOrigin(d); got != (Origin{By: ByAgent, Client: "c", Tag: "t"}) {
			t.Errorf("%+v", got)
		}
	})
	if err != nil {
		t.Error(err)
	}
	hash := seal.HashOf(nil)
	err = decode([]byte(`{"future":{},"hash":"`+hash.String()+`","seq":3}`), func(d *decoder) {
		if got := readMark(d, "hash", "seq"); got != (mark{3, hash}) {
			t.Errorf("%+v", got)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestCardStates: a card in a state that this version does not know is no device's.
func TestCardStates(t *testing.T) {
	account, key := seal.NewID(), newRootKey(t)
	for state, ok := range map[string]bool{cardActive: true, "": false, "retired": false, "Active": false} {
		c := &card{device: seal.NewID(), state: state}
		file, err := encodeCard(account, key, c)
		file = must(t, file, err)
		if _, err := openCard(account, c.device, key, file); (err == nil) != ok {
			t.Errorf("%q: %v", state, err)
		}
	}
}
