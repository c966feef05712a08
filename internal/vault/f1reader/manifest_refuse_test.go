package f1reader

import (
	"crypto/ed25519"
	"testing"
)

// TestF1_6_RootRefusals seals wrong roots with right keys.
func TestF1_6_RootRefusals(t *testing.T) {
	f := newForge(t)
	v := f.vaultNamed("personal")
	device, good := f.local.device, v.roots[f.local.device].json
	at := place{account: f.id, vault: v.id, device: device, part: rootPart}
	seq := v.roots[device].seq
	other := at
	other.vault = id{1}
	part := at
	part.part = 0
	for what, c := range map[string]struct {
		at    place
		text  []byte
		opens bool
	}{
		"as it was":         {at, writeCanonical(good), true},
		"unknown members":   {at, writeCanonical(with(good, "colour", 1)), true},
		"another vault":     {other, writeCanonical(good), false},
		"a shard's number":  {part, writeCanonical(good), false},
		"another seq":       {at, writeCanonical(with(good, "seq", seq+1)), false},
		"no seq":            {at, writeCanonical(with(good, "seq", nil)), false},
		"no keyset":         {at, writeCanonical(with(good, "keyset", nil)), false},
		"half a keyset":     {at, writeCanonical(with(good, "keyset", object{"epoch": 1})), false},
		"no vault epoch":    {at, writeCanonical(with(good, "vk", nil)), false},
		"no time":           {at, writeCanonical(with(good, "time", nil)), false},
		"no previous one":   {at, writeCanonical(with(good, "prev", nil)), false},
		"a shard's long id": {at, writeCanonical(with(good, "shards", object{"000": good["prev"]})), false},
		"white space":       {at, append(writeCanonical(good), '\n'), false},
		"no object":         {at, []byte("[]"), false},
	} {
		file := rootKind.sealManifest(v.keys[1], f.local.sign, c.at, seq, c.text)
		if _, err := readRoot(file, at, v.keys, f.cards[device].sign); (err == nil) != c.opens {
			t.Errorf("%s: %v", what, err)
		}
	}
	file := rootKind.sealManifest(v.keys[1], f.local.sign, at, seq, writeCanonical(good))
	file[12] ^= 1 // in the account, then signed again
	covered := file[:len(file)-ed25519.SignatureSize]
	file = append(covered, ed25519.Sign(f.local.sign, append([]byte("warder/manifest-sign/v1"), covered...))...)
	if _, err := readRoot(file, at, v.keys, f.cards[device].sign); err == nil {
		t.Error("a root with another account in its header passes")
	}
	_, foreign, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	f.write(v.dir()+"man/"+device.String(), rootKind.sealManifest(v.keys[1], foreign, at, seq+1, writeCanonical(good)))
	f.finds("tampered")
}

// TestF1_6_ShardRefusals seals wrong shards with right keys.
func TestF1_6_ShardRefusals(t *testing.T) {
	f := newForge(t)
	v := f.vaultNamed("personal")
	device := f.local.device
	at := place{account: f.id, vault: v.id, device: device, part: 0xab}
	other := at
	other.part = 0xac
	item := id{0xab}.String()
	rev := hash{1}.String()
	counts := object{device.String(): 1}
	entries := func(item string, entry any) []byte {
		return writeCanonical(object{"entries": object{item: entry}})
	}
	for what, c := range map[string]struct {
		at    place
		text  []byte
		opens bool
	}{
		"a revision":           {at, entries(item, object{"rev": rev, "vector": counts}), true},
		"a tombstone":          {at, entries(item, object{"dead": 1, "vector": counts}), true},
		"no entries":           {at, writeCanonical(object{}), true},
		"another number":       {other, entries(item, object{"rev": rev, "vector": counts}), false},
		"another shard's item": {at, entries(id{0xac}.String(), object{"rev": rev, "vector": counts}), false},
		"both":                 {at, entries(item, object{"dead": 1, "rev": rev, "vector": counts}), false},
		"neither":              {at, entries(item, object{"vector": counts}), false},
		"no vector":            {at, entries(item, object{"rev": rev}), false},
		"a negative count":     {at, entries(item, object{"rev": rev, "vector": object{device.String(): -1}}), false},
		"no item":              {at, entries("item", object{"rev": rev, "vector": counts}), false},
		"a list":               {at, entries(item, []any{}), false},
	} {
		file := shardKind.sealManifest(v.keys[1], f.local.sign, c.at, 1, c.text)
		if _, err := readShard(file, at, v.keys, f.cards[device].sign); (err == nil) != c.opens {
			t.Errorf("%s: %v", what, err)
		}
	}
	root := at
	root.part = rootPart
	file := rootKind.sealManifest(v.keys[1], f.local.sign, root, 1, writeCanonical(object{}))
	if _, err := readShard(file, root, v.keys, f.cards[device].sign); err == nil {
		t.Error("a root passes as a shard")
	}
}

// TestF1_6_ShardOfALaterRoot checks that a shard is not newer than its root.
func TestF1_6_ShardOfALaterRoot(t *testing.T) {
	f := newForge(t)
	v := f.vaultNamed("personal")
	device, r := f.local.device, v.roots[f.local.device]
	at := place{account: f.id, vault: v.id, device: device, part: 0xfe}
	file := shardKind.sealManifest(v.keys[1], f.local.sign, at, r.seq+2, writeCanonical(object{"entries": object{}}))
	f.write(v.dir()+"man/"+device.String()+".d/fe-"+hashOf(file).String()[:8], file)
	f.replaceRoot(v, with(r.json, "shards", with(r.json["shards"].(object), "fe", hashOf(file).String())))
	f.finds("tampered")
}
