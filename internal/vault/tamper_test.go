package vault_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
	"warder/internal/vault"
)

// headerEnd is where the clear part of a file ends: magic, version, length of the header, header.
func headerEnd(file []byte) int { return 12 + int(binary.BigEndian.Uint16(file[10:])) }

// kinds are one file of each kind that is read again by Check.
func kinds(r *replica) map[string]string {
	r.Helper()
	return map[string]string{
		"keyset":       r.one("keysets/*"),
		"own card":     r.path("devices/{A}"),
		"other card":   r.path("devices/{B}"),
		"vault header": r.one("vaults/{personal}/header-*"),
		"item":         r.current("personal", "edited"),
		"only item":    r.current("personal", "single"),
		"own root":     r.path("vaults/{personal}/man/{A}"),
		"other root":   r.path("vaults/{personal}/man/{B}"),
		"own shard":    r.shardOf("personal", "A", "edited"),
		"other shard":  r.shardOf("personal", "B", "of B"),
		"seen state":   filepath.Join(r.dir, "A", "device", "seen"),
	}
}

// sampleBits are some bits of the clear part and some of the rest. TestNoBitOfAFileIsFree has them all.
func sampleBits(file []byte) []int {
	at := headerEnd(file)
	var bits []int
	for range 12 {
		bits = append(bits, rand.IntN(8*at))
	}
	for range 4 {
		bits = append(bits, 8*at+rand.IntN(max(1, 8*(len(file)-at))))
	}
	return bits
}

// TestS2_09_FlippedBitsAreFound changes bits under an account that is unlocked: each is an error or an alarm, nothing wrong is served, and
// nothing goes from the list.
func TestS2_09_FlippedBitsAreFound(t *testing.T) {
	r := newWorld(t).replica(t)
	kinds := kinds(r)
	a := r.open("A")
	for kind, path := range kinds {
		t.Run(kind, func(t *testing.T) {
			file := readFile(t, path)
			for _, bit := range sampleBits(file) {
				if bit/8 >= len(file) {
					continue
				}
				r.flip(path, bit)
				found, err := a.Check()
				// The memory of a former id of this device counts for nothing; what is in use is in the process.
				formerID := kind == "seen state" && bit/8 >= 28 && bit/8 < 44
				if err == nil && !formerID && !slices.ContainsFunc(r.told(found), isAlarm) {
					t.Errorf("byte %d of %d changed: no alarm in %q", bit/8, len(file), r.told(found))
				}
				servedRight(r, t, a)
				writeFile(t, path, file)
			}
			if found, err := a.Check(); err != nil || len(found) != 0 {
				t.Errorf("after all was put back: %v, %v", found, err)
			}
		})
	}
}

// servedRight checks that every item is listed and none is served with what it never held. Items of which nothing is left are named.
func servedRight(r *replica, t *testing.T, a *vault.Account) {
	t.Helper()
	got := r.served(t, a)
	for key := range r.reads {
		was := strings.Fields(r.reads[key] + " 0")[0] // the item's name starts its value
		text, ok := got[key]
		if !ok || text != "damaged" && !strings.HasPrefix(text, was) {
			t.Errorf("%s is served as %q", key, text)
		}
	}
	if len(got) != len(r.reads) {
		t.Errorf("%d items are served, want %d", len(got), len(r.reads))
	}
}

// TestS2_09_FlippedBitsAreFoundAtUnlock changes bits before the account is unlocked, by a device with memory and by one without: what can't
// be told then is told as missing, and never served as if it were all.
func TestS2_09_FlippedBitsAreFoundAtUnlock(t *testing.T) {
	w := newWorld(t)
	for _, device := range []string{"A", "C"} {
		r := w.replica(t)
		kinds := kinds(r)
		kinds["format"] = r.path("format")
		if device == "A" {
			kinds["device keys"] = filepath.Join(r.dir, "A", "device", "keys")
		} else {
			delete(kinds, "seen state")
		}
		for kind, path := range kinds {
			t.Run(device+"/"+kind, func(t *testing.T) {
				file := readFile(t, path)
				for _, at := range []int{0, 9, 11, 12, headerEnd(file) - 1, len(file) - 1} {
					c := r.copy()
					rel, err := filepath.Rel(r.dir, path)
					if err != nil {
						t.Fatal(err)
					}
					c.flip(filepath.Join(c.dir, rel), 8*at+rand.IntN(8))
					unlockedRight(c, t, device, fmt.Sprintf("byte %d of %d changed", at, len(file)))
				}
			})
		}
	}
}

// unlockedRight opens an account with something wrong in it.
func unlockedRight(r *replica, t *testing.T, device, what string) {
	t.Helper()
	a, err := vault.OpenByCode(r.config(device), r.w.kit.RecoveryCode)
	if err != nil {
		return
	}
	defer a.Lock()
	found := r.told(a.Findings())
	if !slices.ContainsFunc(found, isAlarm) {
		t.Errorf("%s: no alarm in %q", what, found)
	}
	for key, text := range r.served(t, a) {
		was := strings.Fields(strings.TrimPrefix(key[strings.Index(key, "/"):], "/"))[0]
		if text != "damaged" && !strings.HasPrefix(text, was) {
			t.Errorf("%s: %s is served as %q", what, key, text)
		}
	}
}

// TestS2_08_WrongPasswordAndChangedKeysetLookAlike opens with what can be wrong about the keys: each time the same text.
func TestS2_08_WrongPasswordAndChangedKeysetLookAlike(t *testing.T) {
	w := newWorld(t)
	other, _, _ := newAccount(t)
	for name, spoil := range map[string]func(r *replica){
		"the password":        func(r *replica) { r.password = "another good phrase, number 12" },
		"an empty password":   func(r *replica) { r.password = "" },
		"the keyset's header": func(r *replica) { r.flip(r.one("keysets/*"), 8*20) },
		"the keyset's body":   func(r *replica) { r.flip(r.one("keysets/*"), 8*200) },
		"the keyset's MAC":    func(r *replica) { r.flip(r.one("keysets/*"), -1) },
		"the keyset":          func(r *replica) { writeFile(r, r.one("keysets/*"), []byte("nothing")) },
		"no keyset":           func(r *replica) { r.remove(r.one("keysets/*")) },
		"another account's keyset": func(r *replica) {
			r.remove(r.path("keysets"))
			copyTree(r, other.AccountDir+"/keysets", r.path("keysets"))
		},
		"the account's id":          func(r *replica) { r.flip(r.path("format"), 8*20) },
		"a MAC, named as it should": func(r *replica) { replaceKeyset(r, func(file []byte) []byte { file[len(file)-1] ^= 1; return file }) },
		"a box, named as it should": func(r *replica) { replaceKeyset(r, changeMember("box")) },
		"a commitment":              func(r *replica) { replaceKeyset(r, changeMember("commit")) },
		"a salt":                    func(r *replica) { replaceKeyset(r, changeMember("salt")) },
		"the device secret": func(r *replica) {
			writeFile(r, filepath.Join(r.dir, "A", "device", "secret"), readFile(r, filepath.Join(other.StateDir, "device", "secret")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.replica(t)
			cfg := r.config("A")
			spoil(r)
			_, err := vault.Open(cfg, value(t, r.password))
			if !errors.Is(err, vault.ErrWrongPassword) || err.Error() != vault.ErrWrongPassword.Error() {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// replaceKeyset changes the keyset, and its name with it.
func replaceKeyset(r *replica, alter func(file []byte) []byte) {
	r.Helper()
	path := r.one("keysets/*")
	file := alter(readFile(r, path))
	r.remove(path)
	writeFile(r, r.path(fmt.Sprintf("keysets/%016x-%s", binary.BigEndian.Uint64(file[28:]), seal.HashOf(file).String()[:8])), file)
}

// changeMember changes the first character of every value of a member of the slots.
func changeMember(name string) func(file []byte) []byte {
	return func(file []byte) []byte {
		key := []byte(`"` + name + `":"`)
		for at := 0; ; {
			i := bytes.Index(file[at:], key)
			if i < 0 {
				return file
			}
			at += i + len(key)
			if file[at]++; file[at] == 'Z'+1 || file[at] == 'z'+1 || file[at] == '9'+1 || file[at] < '/' {
				file[at] = 'B'
			}
		}
	}
}

// TestS2_08_CostOutOfBoundsIsRefusedWithoutWork forges the cost of the key derivation. It must neither be made cheap, nor be a means to
// keep the machine busy.
func TestS2_08_CostOutOfBoundsIsRefusedWithoutWork(t *testing.T) {
	w := newWorld(t)
	for name, cost := range map[string][2]string{
		"less memory":        {`"memory":19456`, `"memory":19455`},
		"no memory":          {`"memory":19456`, `"memory":8`},
		"too much memory":    {`"memory":19456`, `"memory":1048577`},
		"all memory":         {`"memory":19456`, `"memory":4294967295`},
		"beyond the integer": {`"memory":19456`, `"memory":4294967296`},
		"less time":          {`"time":2`, `"time":1`},
		"too much time":      {`"time":2`, `"time":11`},
		"all time":           {`"time":2`, `"time":4294967295`},
		"no lanes":           {`"lanes":1`, `"lanes":0`},
		"too many lanes":     {`"lanes":1`, `"lanes":17`},
		"another function":   {`"id":1`, `"id":2`},
	} {
		t.Run(name, func(t *testing.T) {
			r := w.replica(t)
			cfg := r.config("A")
			replaceKeyset(r, func(file []byte) []byte {
				changed := bytes.Replace(file, []byte(cost[0]), []byte(cost[1]), 1)
				if bytes.Equal(changed, file) {
					t.Fatalf("no %s in the keyset", cost[0])
				}
				return changed
			})
			pw := value(t, password)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := vault.Open(cfg, pw)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, vault.ErrWrongPassword) {
				t.Errorf("it says %v", err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
				t.Errorf("it took %d KiB of memory to refuse", used>>10)
			}
		})
	}
}

// TestNewerVersionsStopTheUnlock bumps the version of each kind of file: it is refused by name, or found changed where its hash is listed.
func TestNewerVersionsStopTheUnlock(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[string]struct {
		path  string
		named string // of the error; or
		found string // of the finding
	}{
		"format":       {"account/format", "account format", ""},
		"keyset":       {"account/keysets/*", "keyset", ""},
		"card":         {"account/devices/{B}", "", "tampered! device B"},
		"vault header": {"account/vaults/{work}/header-*", "vault ", ""},
		"item":         {"account/vaults/{work}/items/*/{of B in work}-*", "", "tampered! item of B in work"},
		"root":         {"account/vaults/{work}/man/{B}", "manifest of device ", ""},
		"shard":        {"account/vaults/{personal}/man/{B}.d/{of B}-*", "", "tampered! shard xx of device B in vault personal"},
		"device keys":  {"A/device/keys", "device keys", ""},
		"seen state":   {"A/device/seen", "seen state", ""},
	} {
		t.Run(kind, func(t *testing.T) {
			r := w.replica(t)
			pattern := strings.Replace(want.path, "{of B}", r.id("of B")[:2], 1)
			path := r.the(filepath.Join(r.path(""), "..", filepath.FromSlash(r.resolve(pattern))))
			file := readFile(t, path)
			binary.BigEndian.PutUint16(file[8:], 2)
			writeFile(t, path, file)
			tree := r.tree()
			a, err := vault.Open(r.config("A"), value(t, password))
			var newer *vault.FormatError
			switch {
			case want.named != "":
				if !errors.As(err, &newer) || !strings.HasPrefix(newer.Object, want.named) || newer.Have != 2 {
					t.Errorf("it says %v", err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				defer a.Lock()
				if !strings.Contains(strings.Join(r.told(a.Findings()), "\n"), want.found) {
					t.Errorf("findings %q, want among them %q", r.told(a.Findings()), want.found)
				}
			}
			if diff := cmp.Diff(tree, r.tree()); diff != "" {
				t.Errorf("the account was changed:\n%s", diff)
			}
		})
	}
}

// TestS2_08_OldPasswordStaysRefused puts the keyset of an old password beside the one in force: the old password must not open it, and
// the new one must.
func TestS2_08_OldPasswordStaysRefused(t *testing.T) {
	r := newWorld(t).replica(t)
	fresh := "another good phrase, number 12"
	r.as("A", func(a *vault.Account) {
		if err := a.ChangePassword(value(r, r.password), value(r, fresh)); err != nil {
			r.Fatal(err)
		}
	})
	r.putBack("keysets/*")
	if _, err := vault.Open(r.config("A"), value(r, password)); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the old password says %v", err)
	}
	r.now = r.now.Add(time.Minute)
	r.password = fresh
	r.isServed("A", nil)
}
