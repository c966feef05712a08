package vault_test

import (
	"testing"
	"time"

	"warder/internal/vault"
)

// This file is the attack table of an account with one device and one vault.

// newSmallWorld makes such an account. Its past is the state before an item was edited and another one added.
func newSmallWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), names: names{}, moment: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	cfg := w.config("present", "A")
	a, kit := create(t, cfg)
	w.kit = kit
	w.name("A", a.Device())
	v := firstVault(t, a)
	w.name("personal", v.ID())
	w.add(t, v, "single", "edited")
	a.Lock()
	copyTree(t, w.dir+"/present", w.dir+"/past")
	w.moment = w.moment.Add(time.Minute)
	a = w.open(t, cfg)
	defer a.Lock()
	v = firstVault(t, a)
	edit(t, v, "edited", "edited 2")
	w.add(t, v, "added")
	if f := a.Findings(); len(f) != 0 {
		t.Fatalf("findings before any attack: %v", f)
	}
	w.reads = w.served(t, a)
	return w
}

func oneVaultAttacks() []attack {
	nothing := unlisted("personal/single", "personal/edited", "personal/added")
	all := orphansOf("personal", "single", "edited", "added", "personal")
	return []attack{{
		name:  "the folder of the vaults is removed",
		do:    func(r *replica) { r.remove(r.path("vaults")) },
		seen:  verdict{[]string{"missing! vault personal"}, nothing, otherCode, nil},
		fresh: verdict{[]string{"missing vaults"}, nothing, otherCode, nil},
	}, {
		name:  "the vault is removed",
		do:    func(r *replica) { r.remove(r.path("vaults/{personal}")) },
		seen:  verdict{[]string{"missing! vault personal"}, nothing, otherCode, nil},
		fresh: verdict{[]string{"missing vaults"}, nothing, otherCode, nil},
	}, {
		name:  "the header is removed",
		do:    func(r *replica) { r.remove(r.one("vaults/{personal}/header-*")) },
		seen:  verdict{[]string{"missing! vault personal"}, nothing, otherCode, nil},
		fresh: verdict{[]string{"missing vault personal"}, nothing, otherCode, nil},
	}, {
		name: "header and manifests are removed",
		do: func(r *replica) {
			r.remove(r.one("vaults/{personal}/header-*"))
			r.remove(r.path("vaults/{personal}/man"))
		},
		seen:  verdict{[]string{"missing! vault personal"}, nothing, otherCode, nil},
		fresh: verdict{[]string{"missing vault personal"}, nothing, otherCode, nil},
	}, {
		name: "header and items are removed",
		do: func(r *replica) {
			r.remove(r.one("vaults/{personal}/header-*"))
			r.remove(r.path("vaults/{personal}/items"))
		},
		seen:  verdict{[]string{"missing! vault personal"}, nothing, otherCode, nil},
		fresh: verdict{[]string{"missing vault personal"}, nothing, otherCode, nil},
	}, {
		name:  "the header is changed",
		do:    func(r *replica) { r.flip(r.one("vaults/{personal}/header-*"), -1) },
		seen:  verdict{[]string{"tampered! vault personal header"}, nothing, otherCode, nil},
		fresh: verdict{[]string{"tampered! vault personal header"}, nothing, otherCode, nil},
	}, {
		name:  "the manifests are removed",
		do:    func(r *replica) { r.remove(r.path("vaults/{personal}/man")) },
		seen:  verdict{append(all, "missing! vault personal", "missing! manifest of device A in vault personal"), nothing, otherCode, nil},
		fresh: verdict{append(all, "missing! vault personal"), nothing, otherCode, nil},
	}, {
		name:  "the root is removed",
		do:    func(r *replica) { r.remove(r.path("vaults/{personal}/man/{A}")) },
		seen:  verdict{append(all, "missing! vault personal", "missing! manifest of device A in vault personal"), nothing, otherCode, nil},
		fresh: verdict{append(all, "missing! vault personal"), nothing, otherCode, nil},
	}, {
		name: "the whole account is put back",
		do:   func(r *replica) { r.remove(r.path("")); copyTree(r, r.past(""), r.path("")) },
		seen: verdict{
			[]string{"rollback! manifest of device A in vault personal"},
			map[string]string{"personal/edited": "edited 1", "personal/added": ""},
			otherCode, nil,
		},
		fresh: verdict{nil, map[string]string{"personal/edited": "edited 1", "personal/added": ""}, otherCode, nil}, // sees nothing: the state code differs
	}}
}

// TestHeaderGoneWhileUnlocked: an account that is open goes on with the key that it has, and says that it will not open again.
func TestHeaderGoneWhileUnlocked(t *testing.T) {
	r := newSmallWorld(t).replica(t)
	a := r.open("A")
	header := r.one("vaults/{personal}/header-*")
	data := readFile(r, header)
	r.remove(header)
	r.sees(a, verdict{})
	want := verdict{found: []string{"missing! vault personal header"}}
	r.check(a)
	r.sees(a, want)
	r.writes(a, want.found)
	writeFile(r, header, data)
	if found := r.check(a); len(found) != 0 {
		t.Errorf("when it is back: %q", found)
	}
	r.writes(a, nil)
}

// TestEmptyVaultFolders: a crash leaves folders without files, and a drive puts its own into them. Nothing is missing there.
func TestEmptyVaultFolders(t *testing.T) {
	r := newSmallWorld(t).replica(t)
	for _, name := range []string{".DS_Store", "items/.DS_Store", "items/00/.DS_Store", "man/.DS_Store", "items/00/x", "man/x"} {
		writeFile(r, r.path("vaults/00000000000000000000000000000001/"+name), []byte("x"))
	}
	for _, device := range []string{"A", "C"} {
		r.as(device, func(a *vault.Account) {
			r.now = r.now.Add(time.Second)
			r.writes(a, nil)
			for _, f := range r.check(a) {
				if f != "orphan folder vaults/00000000000000000000000000000001/man" {
					t.Errorf("%s finds %s", device, f)
				}
			}
		})
	}
}
