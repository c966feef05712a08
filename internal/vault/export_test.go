package vault

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
)

// Folder is what the vault needs of a directory.
type Folder = folder

// Wrap puts something between the vault and its folders.
func (c *Config) Wrap(f func(path string, f Folder) Folder) { c.wrap = f }

// Listed lists the files of the account directory that what is in force names.
func Listed(a *Account) []string {
	list := []string{"format", "keysets/" + keysetName(a.c.keyset)}
	for id := range a.c.keyset.roster {
		list = append(list, "devices/"+id.String())
	}
	for _, s := range a.c.vaults {
		for epoch := range s.keys {
			list = append(list, vaultPath(s.id, headerName(epoch)))
		}
		for dev, r := range s.roots {
			list = append(list, vaultPath(s.id, "man/"+dev.String()))
			for n, part := range r.shards {
				list = append(list, vaultPath(s.id, "man/"+dev.String()+".d/"+shardFile(n, part.hash)))
			}
		}
		for id := range s.heads {
			for _, rev := range s.revisions(id) {
				list = append(list, vaultPath(s.id, itemFolder(shardOf(id))+"/"+itemFile(id, rev)))
			}
		}
	}
	return list
}

// OpenByCode is Open by the recovery code, which costs no key derivation. The code stays in force.
func OpenByCode(cfg Config, code secret.Value) (*Account, error) {
	raw, err := parseCode(code, recoveryCodeLen)
	if err != nil {
		return nil, err
	}
	defer raw.Destroy()
	c, err := openPlaces(cfg)
	if err != nil {
		return nil, err
	}
	if c.ds, err = readDeviceSecret(c.local); err == nil {
		err = c.open(recoverySlot, raw)
	}
	if err == nil {
		err = c.start()
	}
	if err != nil {
		c.lock()
		return nil, err
	}
	return &Account{c: c}, nil
}

// ChangePassword is what a person does who knows the old password: a proof of presence carries the fresh one.
func (a *Account) ChangePassword(old, fresh secret.Value) error {
	if a.c.isLocked() {
		return ErrLocked
	}
	if err := checkPassword(fresh); err != nil { // a client looks first, too: nothing is counted then
		return err
	}
	p := Presence{Act: "change", Challenge: "once", Shown: "change the master password", Caller: "a test"}
	proof, err := Prove(a.c.cfg, old, fresh, p)
	if err != nil {
		return err
	}
	carried, err := OpenProof(a, p, proof)
	if err != nil {
		return err
	}
	defer carried.Destroy()
	return a.SetPassword(carried)
}

// Roster lists the account's devices by id.
func Roster(a *Account) []seal.ID { return sortedIDs(maps.Keys(a.c.keyset.roster)) }

// SignAgain puts this device's signature under a root or shard whose bytes were changed.
func SignAgain(t testing.TB, a *Account, file []byte) []byte {
	t.Helper()
	signed := file[:len(file)-signatureLen]
	sig, err := a.c.dev.keys.SignManifest(signed)
	if err != nil {
		t.Fatal(err)
	}
	return append(slices.Clone(signed), sig[:]...)
}

// Tombstones lists the items that were ended for good, by id.
func Tombstones(v *Vault) []seal.ID {
	return slices.DeleteFunc(sortedIDs(maps.Keys(v.s.heads)), func(id seal.ID) bool { return v.s.index[id] != nil })
}

// SaveUnjudged saves an item as another version may have written it: its form is checked, and not what it says.
func SaveUnjudged(t testing.TB, v *Vault, it *Item) {
	t.Helper()
	err := v.s.c.writing(v.wait, func() error { return v.s.commit([]edit{{item: it, kept: true}}, commitOptions{}) })
	if err != nil {
		t.Fatal(err)
	}
}

// OneThread skips a long test of one goroutine where the race detector watches with -short: it finds what happens at once, there is
// nothing of that, and under it one stretched password takes ten times as long. The plain run and that of an ordinary user have the test.
func OneThread(t testing.TB) {
	t.Helper()
	if RaceDetector && testing.Short() {
		t.Skip("nothing happens at once in it: left to the runs without the race detector")
	}
}

// SetLockTime sets how long a write waits for other processes.
func (c *Config) SetLockTime(most time.Duration) { c.lockTime = most }

// Undo does at once what callers do in two steps, with a decision between them. It returns how many items it took back.
func (v *Vault) Undo(tag string, o Origin) (int, error) {
	list, err := Reversals(v, tag)
	if err != nil {
		return 0, err
	}
	if len(list) == 0 {
		return 0, fmt.Errorf("a change tagged %q: %w", tag, ErrNotFound)
	}
	if err := Reverse(v, list, o); err != nil {
		return 0, err
	}
	return len(list), nil
}
