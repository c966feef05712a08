package f1reader

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// keysetBody is the fixture's keyset as the body of a later one, with its slots.
func (f *forge) keysetBody(slots ...any) object {
	return with(f.keyset.json, "prev", f.ruling.hash.String(), "slots", append(slots, f.slotOf("recovery")))
}

// slotOf returns the fixture's slot of a kind.
func (f *forge) slotOf(kind string) object {
	f.t.Helper()
	for _, s := range f.keyset.json["slots"].([]any) {
		if s.(object)["kind"] == kind {
			return s.(object)
		}
	}
	f.t.Fatalf("no %s slot", kind)
	return nil
}

// addKeyset puts a keyset into the store.
func (f *forge) addKeyset(epoch uint64, file []byte) {
	f.t.Helper()
	f.write(mark{epoch, hashOf(file)}.name(), file)
}

// TestF1_2_KDFBounds checks that parameters out of bounds are refused before
// any work, under a MAC that is right.
func TestF1_2_KDFBounds(t *testing.T) {
	for _, k := range []kdf{{19456, 2, 1, nil}, {1048576, 10, 16, nil}} {
		if err := k.check(); err != nil {
			t.Errorf("%v: %v", k, err)
		}
	}
	f := newForge(t)
	for member, values := range map[string][]uint64{
		"memory": {0, 19455, 1048577, 1 << 32}, "time": {0, 1, 11}, "lanes": {0, 17, 256 + 1},
	} {
		for _, value := range values {
			s := f.slotOf("password")
			s = with(s, "kdf", with(s["kdf"].(object), member, value))
			file := sealKeyset(f.ark, f.id, 2, with(f.keyset.json, "slots", []any{s}))
			k, err := parseKeyset(file)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := k.unlock(f.want.withPassword(t)); err == nil || errors.Is(err, errOpen) {
				t.Errorf("%s %d: %v", member, value, err)
			}
		}
	}
}

// TestF1_4_ChangedPassword checks that after a newer authentic keyset the old
// password opens nothing, and that the recovery slot was carried over.
func TestF1_4_ChangedPassword(t *testing.T) {
	f := newForge(t)
	way := f.want.withPassword(t)
	f.addKeyset(3, sealKeyset(f.ark, f.id, 3, f.keysetBody(passwordSlot(f.ark, f.id, 3, "another password", way.secret))))
	if _, err := openAccount(f.store, way); !errors.Is(err, errOpen) {
		t.Errorf("the old password: %v", err)
	}
	way.password = "another password"
	if a, err := openAccount(f.store, way); err != nil || a.keyset.epoch != 3 {
		t.Errorf("the new password: %v", err)
	}
	if a := f.finds(); a.ruling.n != 3 {
		t.Errorf("keyset %d rules", a.ruling.n)
	}
}

// TestF1_4_JunkKeysets checks that keysets that are no one's are passed over and
// reported.
func TestF1_4_JunkKeysets(t *testing.T) {
	f := newForge(t)
	way := f.want.withPassword(t)
	foreign := sealKeyset(randomBytes(32), f.id, 3, f.keysetBody(passwordSlot(randomBytes(32), f.id, 3, way.password, way.secret)))
	copied := sealKeyset(randomBytes(32), f.id, 3, with(f.keyset.json, "roster", object{}))
	elsewhere := sealKeyset(f.ark, id{1}, 3, f.keyset.json)
	broken := keysetKind.file(randomBytes(100), f.id[:], be64(3))
	for name, file := range map[string][]byte{
		"foreign": foreign, "slots copied": copied, "other account": elsewhere, "no JSON": broken, "empty": nil,
	} {
		want := "tampered"
		if name == "other account" || name == "empty" {
			want = "orphan" // not even a candidate
		}
		t.Run(name, func(t *testing.T) {
			f := newForge(t)
			f.addKeyset(3, file)
			for _, c := range []credentials{way, f.want.withCode(t)} {
				a, err := openAccount(f.store, c)
				if err != nil || a.keyset.epoch != 2 || len(a.findings) != 1 || a.findings[0].kind != want {
					t.Errorf("%v, %+v", err, a)
				}
			}
		})
	}
}

// TestF1_4_Candidates checks how many keysets are tried.
func TestF1_4_Candidates(t *testing.T) {
	f := newForge(t)
	for i := range maxCandidates {
		_, err := f.reopen()
		if err != nil {
			t.Errorf("not opened below %d junk keysets: %v", i, err)
		}
		f.addKeyset(uint64(3+i), sealKeyset(randomBytes(32), f.id, uint64(3+i), with(f.keyset.json, "slots", []any{})))
	}
	if _, err := f.reopen(); !errors.Is(err, errOpen) {
		t.Errorf("opened below %d junk keysets: %v", maxCandidates, err)
	}
}

// TestF1_4_KeysetVersion checks that a keyset of a later version is passed over,
// and refused by name where it is the only one.
func TestF1_4_KeysetVersion(t *testing.T) {
	f := newForge(t)
	later := sealKeyset(f.ark, f.id, 3, f.keysetBody())
	binary.BigEndian.PutUint16(later[8:], 2)
	f.addKeyset(3, later)
	if a := f.finds(); a.ruling != f.ruling {
		t.Errorf("keyset %d rules", a.ruling.n)
	}
	f.remove(f.ruling.name())
	var version versionError
	if _, err := f.reopen(); !errors.As(err, &version) {
		t.Errorf("alone: %v", err)
	}
}

// TestF1_4_UnreadableKeyset checks that a newer keyset with the right MAC is not
// passed over, even where nothing else of it can be read.
func TestF1_4_UnreadableKeyset(t *testing.T) {
	f := newForge(t)
	file := keysetKind.file([]byte("{} "), f.id[:], be64(3))
	f.addKeyset(3, sealMAC(file, "warder/keyset/v1", subkey(f.ark, "warder/keyset-mac/v1")))
	if _, err := f.reopen(); !errors.Is(err, errOpen) {
		t.Errorf("opened by an older keyset: %v", err)
	}
}

// TestF1_4_KeysetTie checks that of two keysets of one epoch the lower hash rules.
func TestF1_4_KeysetTie(t *testing.T) {
	f := newForge(t)
	var lowest hash
	for i := range 4 {
		file := sealKeyset(f.ark, f.id, 3, with(f.keysetBody(), "created", i+1))
		if h := hashOf(file); i == 0 || bytes.Compare(h[:], lowest[:]) < 0 {
			lowest = h
		}
		f.addKeyset(3, file)
	}
	if a := f.finds(); a.ruling != (mark{3, lowest}) {
		t.Errorf("%v rules, want %v", a.ruling.hash, lowest)
	}
}

// TestF1_4_KeysetNames checks that a keyset counts under its own name only.
func TestF1_4_KeysetNames(t *testing.T) {
	f := newForge(t)
	file := f.read(f.ruling.name())
	f.write("keysets/0000000000000009-"+f.ruling.hash.String()[:8], file)
	f.write("keysets/0000000000000002-00000000", file)
	f.write(f.ruling.name()+" (conflicted copy)", file)
	if a := f.finds("orphan"); a.ruling != f.ruling || a.strays != 3 {
		t.Errorf("keyset %d rules, %d strays", a.ruling.n, a.strays)
	}
}

// TestF1_4_Slots checks slots under a MAC that is right.
func TestF1_4_Slots(t *testing.T) {
	f := newForge(t)
	recovery := f.slotOf("recovery")
	for name, c := range map[string]struct {
		slots []any
		opens bool
	}{
		"as it was":           {[]any{recovery}, true},
		"behind an unknown":   {[]any{object{"kind": "fob", "box": 7}, recovery}, true},
		"behind a broken one": {[]any{with(recovery, "salt", b64(randomBytes(32))), recovery}, false},
		"before another":      {[]any{recovery, with(recovery, "salt", b64(randomBytes(32)))}, true},
		"behind an odd one":   {[]any{object{"kind": "fob", "epoch": "x", "kdf": object{"id": 2}}, recovery}, true},
		"kdf without id":      {[]any{with(f.slotOf("password"), "kdf", with(f.slotOf("password")["kdf"].(map[string]any), "id", nil)), recovery}, false},
		"kdf with more":       {[]any{with(f.slotOf("password"), "kdf", with(f.slotOf("password")["kdf"].(map[string]any), "pepper", 1)), recovery}, false},
		"none":                {nil, false},
		"beside another kdf":  {[]any{with(f.slotOf("password"), "kdf", object{"id": 2, "salt": b64(randomBytes(32))}), recovery}, false},
		"other commitment":    {[]any{with(recovery, "commit", b64(randomBytes(32)))}, false},
		"other wrap":          {[]any{with(recovery, "box", b64(randomBytes(wrapSize)))}, false},
		"other epoch":         {[]any{with(recovery, "epoch", 7)}, false},
		"a shorter wrap":      {[]any{with(recovery, "box", b64(randomBytes(wrapSize-1)))}, false},
		"no salt":             {[]any{with(recovery, "salt", nil)}, false},
	} {
		k, err := parseKeyset(sealKeyset(f.ark, f.id, 3, with(f.keyset.json, "slots", c.slots)))
		if err == nil {
			_, err = k.unlock(f.want.withCode(t))
		}
		if (err == nil) != c.opens {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestF1_Versions checks that each kind of file is refused by name in a version
// that is not known.
func TestF1_Versions(t *testing.T) {
	f := newForge(t)
	for _, name := range f.files() {
		file := f.read(name)
		binary.BigEndian.PutUint16(file[8:], 2)
		err := f.checkAlone(name, file)
		if err == nil || !strings.Contains(err.Error(), "has format 2, this reader reads up to 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
	file := f.read("format")
	binary.BigEndian.PutUint16(file[8:], 2)
	f.write("format", file)
	var version versionError
	if _, err := f.reopen(); !errors.As(err, &version) {
		t.Errorf("the store: %v", err)
	}
}

// TestF1_3_Limits checks the limits of sizes.
func TestF1_3_Limits(t *testing.T) {
	for _, k := range []fileKind{keysetKind, cardKind, headerKind, itemKind, rootKind, shardKind, keysKind, seenKind} {
		fits := k.file(make([]byte, k.limit-12-k.header), make([]byte, k.header))
		if _, err := k.split(fits); err != nil || len(fits) != k.limit {
			t.Errorf("%s of %d bytes: %v", k.name, len(fits), err)
		}
		if _, err := k.split(append(fits, 0)); err == nil {
			t.Errorf("%s over its limit passes", k.name)
		}
	}
}

// TestF1_4_CardOfTheRoster checks that a card with the right MAC, such as an
// older one, does not count in place of the one that the roster names.
func TestF1_4_CardOfTheRoster(t *testing.T) {
	f := newForge(t)
	device := f.local.device
	f.write("devices/"+device.String(), sealCard(f.ark, f.id, device, with(f.cards[device].json, "created", 1)))
	if a := f.finds("tampered"); a.cards[device] != nil {
		t.Error("the card counts")
	}
}

// TestF1_4_Cards checks that a card counts only as the roster has it.
func TestF1_4_Cards(t *testing.T) {
	other := newForge(t).local.device
	for name, spoil := range map[string]func(f *forge, file []byte) (card []byte, inRoster bool){
		"not in the roster": func(_ *forge, file []byte) ([]byte, bool) { return file, false },
		"another's MAC": func(f *forge, _ []byte) ([]byte, bool) {
			return sealCard(randomBytes(32), f.id, other, f.cards[other].json), true
		},
		"another device": func(f *forge, _ []byte) ([]byte, bool) {
			return sealCard(f.ark, f.id, id{1}, f.cards[other].json), true
		},
		"another account": func(f *forge, _ []byte) ([]byte, bool) {
			return sealCard(f.ark, id{1}, other, f.cards[other].json), true
		},
		"another state": func(f *forge, _ []byte) ([]byte, bool) {
			return sealCard(f.ark, f.id, other, with(f.cards[other].json, "state", "lost")), true
		},
		"a short key": func(f *forge, _ []byte) ([]byte, bool) {
			return sealCard(f.ark, f.id, other, with(f.cards[other].json, "sign", b64(randomBytes(31)))), true
		},
	} {
		f := newForge(t)
		card, inRoster := spoil(f, f.read("devices/"+other.String()))
		f.write("devices/"+other.String(), card)
		roster := with(f.keyset.json["roster"].(object), other.String(), hashOf(card).String())
		if !inRoster {
			delete(roster, other.String())
		}
		f.addKeyset(3, sealKeyset(f.ark, f.id, 3, with(f.keysetBody(), "roster", roster)))
		a, err := f.reopen()
		if err != nil {
			t.Fatal(err)
		}
		if a.cards[other] != nil || len(a.findings) == 0 {
			t.Errorf("%s: the card counts, or nothing was said: %v", name, a.findings)
		}
	}
}
