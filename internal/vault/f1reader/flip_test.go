package f1reader

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// checkAlone reads one file as what its name says it is, with the account's
// keys. Hashes in names and lists are left aside, so that what is sealed must
// stand for itself.
func (f *forge) checkAlone(name string, file []byte) error {
	parts := strings.Split(name, "/")
	switch {
	case name == "format":
		p, err := formatKind.split(file)
		if err == nil && (p.head.id() != f.id || len(p.body) > 0) {
			err = errOpen
		}
		return err
	case parts[0] == "keysets":
		k, err := parseKeyset(file)
		if err == nil && (!keysetAuthentic(file, f.ark) || k.account != f.id) {
			err = errOpen
		}
		return err
	case parts[0] == "devices":
		c, err := readCard(file, f.ark)
		if err == nil && c.device.String() != parts[1] {
			err = errOpen
		}
		return err
	}
	vault, err := parseID(parts[1])
	if err != nil {
		return err
	}
	return f.checkInVault(f.vaults[vault], parts[2:], file)
}

// checkInVault is checkAlone for the files of a vault.
func (f *forge) checkInVault(v *vault, parts []string, file []byte) error {
	if strings.HasPrefix(parts[0], "header-") {
		epoch, _, err := vaultHeader(file, f.ark, f.id, v.id)
		if err == nil && epoch != 1 {
			err = errOpen
		}
		return err
	}
	if parts[0] == "items" {
		item, err := parseID(parts[2][:32])
		if err == nil {
			_, err = readRevision(file, v.keys, v.id, item)
		}
		return err
	}
	device, err := parseID(strings.TrimSuffix(parts[1], ".d"))
	if err != nil {
		return err
	}
	at := place{account: f.id, vault: v.id, device: device}
	sign := f.cards[device].sign
	if len(parts) == 2 {
		_, err = readRoot(file, at, v.keys, sign)
		return err
	}
	number, err := asShard(parts[2][:2])
	at.part = uint16(number)
	if err == nil {
		_, err = readShard(file, at, v.keys, sign)
	}
	return err
}

// spoilt calls try with copies of a file that differ from it in one byte, each
// step bytes, or in length, and with what was done to them.
func spoilt(file []byte, step int, try func(what string, file []byte)) {
	for at := 0; at < len(file); at += step {
		for _, flip := range []byte{1, 0x80} {
			other := slices.Clone(file)
			other[at] ^= flip
			try(fmt.Sprintf("byte %d changed by %#x", at, flip), other)
		}
	}
	try("the last byte gone", file[:len(file)-1])
	try("a byte more", append(slices.Clone(file), 0))
	try("nothing left", nil)
}

// TestF1_3_FlippedBytes changes single bytes of each file and checks that
// nothing passes: all bytes in one file of each kind, some in the others.
func TestF1_3_FlippedBytes(t *testing.T) {
	f := newForge(t)
	done := map[string]bool{}
	for _, name := range f.files() {
		file := f.read(name)
		if err := f.checkAlone(name, file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		step, kind := 1, string(file[:8])
		if done[kind] {
			step = len(file)/25 + 1
		}
		done[kind] = true
		spoilt(file, step, func(what string, other []byte) {
			if err := f.checkAlone(name, other); err == nil {
				t.Errorf("%s passes with %s", name, what)
			}
		})
	}
	if len(done) != 7 {
		t.Errorf("%d kinds of files, want 7", len(done))
	}
}

// TestF1_3_FlippedStore changes a byte of a file in the store and opens it as a
// whole: it must be refused or reported.
func TestF1_3_FlippedStore(t *testing.T) {
	f := newForge(t)
	folders := map[string]int{}
	for n, name := range f.files() {
		folder := strings.TrimRight(path.Dir(name), "0123456789abcdef")
		if folders[folder]++; folders[folder] > 4 {
			continue
		}
		file := f.read(name)
		flipped := slices.Clone(file)
		flipped[n*7919%len(file)] ^= 0x20
		f.write(name, flipped)
		a, err := f.reopen()
		if err == nil && len(a.findings) == 0 {
			t.Errorf("%s changed, and nothing was said", name)
		}
		f.write(name, file)
	}
	f.finds()
}

// TestF1_3_FlippedSlots changes bytes of the keyset and tries to get the root
// key by each of the slots.
func TestF1_3_FlippedSlots(t *testing.T) {
	f := newForge(t)
	file := f.read(f.ruling.name())
	pass := func(c credentials) bool {
		k, err := parseKeyset(file)
		if err != nil {
			return false
		}
		ark, err := k.unlock(c)
		return err == nil && keysetAuthentic(file, ark)
	}
	for way, c := range map[string]credentials{"password": f.want.withPassword(t), "code": f.want.withCode(t)} {
		if !pass(c) {
			t.Fatalf("%s does not open the keyset", way)
		}
		step := 1
		if way == "password" {
			step = len(file)/24 + 1 // each costs a key derivation
		}
		for at := 0; at < len(file); at += step {
			file[at] ^= 1
			if pass(c) {
				t.Errorf("%s opens with byte %d changed", way, at)
			}
			file[at] ^= 1
		}
	}
}

// TestF1_7_FlippedLocal changes bytes of the local files. A changed letter of
// the device secret's text may be one that readers take for the same.
func TestF1_7_FlippedLocal(t *testing.T) {
	f := newForge(t)
	secret := f.want.withPassword(t).secret
	keys, err := f.state.read("device/keys", keysKind.limit)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := f.state.read("device/seen", seenKind.limit)
	if err != nil {
		t.Fatal(err)
	}
	spoilt(keys, 1, func(what string, other []byte) {
		var l local
		if _, err := l.openKeys(other, f.ark, secret, f.id); err == nil {
			t.Errorf("device keys open with %s", what)
		}
	})
	spoilt(seen, 1, func(what string, other []byte) {
		if _, err := openSeen(other, f.ark, f.id, f.local.device); err == nil {
			t.Errorf("seen state opens with %s", what)
		}
	})
	text := []byte(f.want.DeviceSecret)
	for at := range text {
		text[at] ^= 3
		if again, err := parseCode(string(text), secretSize); err == nil && !slices.Equal(again, secret) {
			t.Errorf("another device secret is read with symbol %d changed", at)
		}
		text[at] ^= 3
	}
}

// TestF1_3_OneError checks that what fails says the same, whatever it was.
func TestF1_3_OneError(t *testing.T) {
	f := newForge(t)
	way := f.want.withPassword(t)
	wrongPassword, wrongSecret := way, way
	wrongPassword.password += "x"
	wrongSecret.secret = randomBytes(secretSize)
	for name, c := range map[string]credentials{
		"password": wrongPassword, "secret": wrongSecret, "code": {code: randomBytes(recoverySize)},
	} {
		if _, err := openAccount(f.store, c); !errors.Is(err, errOpen) {
			t.Errorf("wrong %s: %v", name, err)
		}
	}
	foreign, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := f.vaultNamed("personal")
	name := v.dir() + "man/" + f.local.device.String()
	at := place{account: f.id, vault: v.id, device: f.local.device}
	if _, err := readRoot(f.read(name), at, v.keys, foreign); !errors.Is(err, errOpen) {
		t.Errorf("wrong signature: %v", err)
	}
}
