package vault

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"warder/internal/seal"
)

// keysetOf is a keyset's file with the given list of slots.
func keysetOf(t *testing.T, account seal.ID, root seal.RootKey, slots string) []byte {
	t.Helper()
	file := append(frame(magicKeyset, append(bytes.Clone(account[:]), 0, 0, 0, 0, 0, 0, 0, 7)), `{"slots":[`+slots+`]}`...)
	mac, err := seal.MACKeyset(root, file)
	if err != nil {
		t.Fatal(err)
	}
	return append(file, mac[:]...)
}

// unknownSlots are slots of kinds that this version does not know. Their members may be anything.
var unknownSlots = []string{
	`{"box":7,"commit":[1,{"a":"b"}],"ds":"x","epoch":{},"kdf":{"future":true,"id":2},"kind":"token","salt":false}`,
	`{"kdf":{"id":99},"kind":"fido2"}`,
	`{"kdf":7}`, // not even a kind
	`{}`,
}

// TestUnknownSlots: a slot of a kind that is not known makes no keyset unreadable, and the next keyset holds it byte for byte.
func TestUnknownSlots(t *testing.T) {
	account, root := seal.NewID(), newRootKey(t)
	for _, unknown := range unknownSlots {
		k, err := parseKeyset(account, keysetOf(t, account, root, unknown))
		if err != nil || k.unreadable || len(k.slots) != 1 || k.slot(passwordSlot) != nil || k.slot(recoverySlot) != nil {
			t.Fatalf("%s: %+v %v", unknown, k, err)
		}
		next := k.successor(k.created)
		next.setSlot(slot{kind: recoverySlot, epoch: 8})
		if err := next.encode(account, root); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(next.file), `"slots":[`+unknown+`,{`) {
			t.Errorf("%s is written again as %s", unknown, next.file)
		}
		again, err := parseKeyset(account, next.file)
		if err != nil || again.unreadable || again.slot(recoverySlot) == nil {
			t.Errorf("%s: the next one: %+v %v", unknown, again, err)
		}
	}
}

// TestSlotsOfKnownKinds: what belongs to another kind is an unknown member, and is kept.
func TestSlotsOfKnownKinds(t *testing.T) {
	account, root := seal.NewID(), newRootKey(t)
	strange := `"ds":false,"epoch":3,"kdf":{"future":true,"id":2},"kind":"recovery"`
	k, err := parseKeyset(account, keysetOf(t, account, root, `{`+strange+`}`))
	if err != nil || k.unreadable || k.slot(recoverySlot) == nil {
		t.Fatalf("%+v %v", k, err)
	}
	next := k.successor(k.created)
	if err := next.encode(account, root); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(next.file), strange) {
		t.Errorf("written again as %s", next.file)
	}
	for name, bad := range map[string]string{
		"a kind that is no text": `{"kind":7}`, "no object": `7`, "a bad box": `{"box":"AA==","kind":"recovery"}`,
		"another derivation": `{"kdf":{"id":2},"kind":"password"}`, "a derivation without id": `{"kdf":{"lanes":1},"kind":"password"}`,
		"not canonical": `{"kind":"token","a":1}`,
	} {
		if k, err := parseKeyset(account, keysetOf(t, account, root, bad)); err != nil || !k.unreadable {
			t.Errorf("%s: %+v %v", name, k, err)
		}
	}
}

// TestTwoSlotsOfOneKind: the first opens, and replacing it leaves none of them.
func TestTwoSlotsOfOneKind(t *testing.T) {
	k := &keyset{slots: []slot{{kind: "x", epoch: 9}, {kind: passwordSlot, epoch: 1}, {kind: recoverySlot, epoch: 2}, {kind: passwordSlot, epoch: 3}}}
	if s := k.slot(passwordSlot); s.epoch != 1 {
		t.Errorf("slot of epoch %d opens", s.epoch)
	}
	k.setSlot(slot{kind: passwordSlot, epoch: 4})
	var got []uint64
	for _, s := range k.slots {
		got = append(got, s.epoch)
	}
	if want := []uint64{9, 4, 2}; !slices.Equal(got, want) {
		t.Errorf("slots of epochs %d, want %d", got, want)
	}
}

// TestLevelUnsetIsLeftOut: F1 has no word for it.
func TestLevelUnsetIsLeftOut(t *testing.T) {
	for _, text := range []string{`"unset"`, `""`, `"all"`} {
		if err := decode([]byte(text), func(d *decoder) { readLevel(d) }); err == nil {
			t.Errorf("%s is read as a level", text)
		}
	}
	if err := decode([]byte(`"none"`), func(d *decoder) { readLevel(d) }); err != nil {
		t.Error(err)
	}
}

// TestEncodeTellsWhatIsWrong: nothing is written that no reader would take.
func TestEncodeTellsWhatIsWrong(t *testing.T) {
	account, root := seal.NewID(), newRootKey(t)
	k := &keyset{epoch: 1, slots: []slot{{kind: recoverySlot, epoch: maxInt + 1}}}
	if err := k.encode(account, root); err == nil || k.file != nil {
		t.Errorf("a keyset: %v", err)
	}
	if _, err := encodeCard(account, root, &card{state: "\xff"}); err == nil {
		t.Error("a card is written")
	}
	if _, err := encode((&attempts{failures: maxInt + 1}).put); err == nil {
		t.Error("attempts are written")
	}
}
