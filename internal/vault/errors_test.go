package vault_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"warder/internal/secret"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// TestErrorsHoldNoValues walks over the types that leave the package in errors and lists: none has room for a secret.
func TestErrorsHoldNoValues(t *testing.T) {
	for _, x := range []any{
		vault.Finding{},
		vault.AlarmError{},
		vault.FormatError{},
		vault.NameError{},
		vault.SizeError{},
		vault.WaitError{},
		vault.WeakPasswordError{},
		vault.Orphan{},
		vault.Restored{},
		vault.StageDiff{},
	} {
		walkType(t, reflect.TypeOf(x), reflect.TypeOf(x).String())
	}
	// The walk finds what it looks for.
	var found recorder
	walkType(&found, reflect.TypeFor[vault.Item](), "Item")
	if len(found) == 0 {
		t.Error("the walk finds no value in an item")
	}
}

// recorder keeps what a test would have complained of.
type recorder []string

func (r *recorder) Errorf(format string, args ...any) { *r = append(*r, fmt.Sprintf(format, args...)) }

func walkType(t interface{ Errorf(string, ...any) }, typ reflect.Type, path string) {
	switch {
	case typ == reflect.TypeFor[secret.Value](), typ == reflect.TypeFor[[]byte]():
		t.Errorf("%s can hold a value", path)
	case typ.PkgPath() == "time":
	case typ.Kind() == reflect.Pointer, typ.Kind() == reflect.Slice, typ.Kind() == reflect.Array, typ.Kind() == reflect.Map:
		walkType(t, typ.Elem(), path+"[]")
	case typ.Kind() == reflect.Struct:
		for i := range typ.NumField() {
			walkType(t, typ.Field(i).Type, path+"."+typ.Field(i).Name)
		}
	}
}

func TestErrorTexts(t *testing.T) {
	for want, err := range map[string]error{
		"keyset 2 has version 3, this warder reads up to 1":                                &vault.FormatError{Object: "keyset 2", Have: 3, Max: 1},
		`item name "a\u202eb" is bad`:                                                      &vault.NameError{What: "item name", Name: "a\u202eb", Reason: "is bad"},
		`field "x" has 65536 bytes, the limit is 65535`:                                    &vault.SizeError{What: `field "x"`, Have: 65536, Max: 65535},
		"too many wrong passwords: try again in 5s":                                        &vault.WaitError{Wait: 4100 * time.Millisecond},
		"the master password has 11 characters, at least 12 are needed":                    &vault.WeakPasswordError{Length: 11, MinLength: 12, MinScore: 3},
		"the master password is too easy to guess (strength 1 of 4, at least 3 is needed)": &vault.WeakPasswordError{Length: 12, MinLength: 12, Score: 1, MinScore: 3},
		"writing is stopped: the first is wrong; the second is wrong":                      &vault.AlarmError{Findings: []vault.Finding{{Text: "the first is wrong"}, {Text: "the second is wrong"}}},
		"wrong password, or the keyset or device secret was changed":                       vault.ErrWrongPassword,
	} {
		if got := err.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// canaries are secrets that must not come out anywhere.
type canaries struct {
	list []testkit.Canary
	said strings.Builder
}

// secretText makes a canary of n bytes.
func (c *canaries) secretText(name string, n int) string {
	b := make([]byte, (n+1)/2)
	_, _ = rand.Read(b)
	text := hex.EncodeToString(b)[:n]
	c.list = append(c.list, testkit.Canary{Name: name, Value: []byte(text)})
	return text
}

// say notes all forms in which something may be printed.
func (c *canaries) say(things ...any) {
	for _, x := range things {
		fmt.Fprintf(&c.said, "%v %+v %#v %s %q\n", x, x, x, x, x)
	}
}

// fails notes an error, which must be one.
func (c *canaries) fails(t testing.TB, what string, err error) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error", what)
	}
	c.say(err)
}

// TestErrorsShowNoValues lets everything fail that can, around values that are known, and searches what was said.
func TestErrorsShowNoValues(t *testing.T) {
	oneThread(t)
	c := &canaries{}
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	pw := c.secretText("master password", 24)
	a, kit, err := vault.Create(cfg, value(t, pw))
	must(t, err)
	t.Cleanup(kit.Destroy)
	for name, v := range map[string]secret.Value{"device secret": kit.DeviceSecret, "recovery code": kit.RecoveryCode} {
		c.list = append(c.list, testkit.Canary{Name: name, Value: bytesOf(t, v)})
	}
	failedSaves(t, c, firstVault(t, a))
	failedStages(t, c, firstVault(t, a))
	failedPasswords(t, c, cfg, now, a)
	failedCodes(t, c, cfg, now)
	failedReads(t, c, cfg, pw)

	if c.said.Len() < 1000 {
		t.Fatalf("only %q was said", c.said.String())
	}
	testkit.NewSearch(t, c.list...).RequireCleanBytes(t, "errors and findings", []byte(c.said.String()))
}

// mine is an item with values that are canaries, changed to be wrong.
func (c *canaries) mine(t testing.TB, change func(it *vault.Item)) *vault.Item {
	it := newItem(t, "item", c.secretText("concealed", 40))
	it.Fields = append(it.Fields, vault.Field{Name: "open", Value: value(t, c.secretText("not concealed", 40))})
	change(it)
	return it
}

func failedSaves(t *testing.T, c *canaries, v *vault.Vault) {
	for name, change := range map[string]func(it *vault.Item){
		"no name":       func(it *vault.Item) { it.Name = "" },
		"no kind":       func(it *vault.Item) { it.Kind = "" },
		"a level":       func(it *vault.Item) { it.Fields[1].Level = 9 },
		"a field name":  func(it *vault.Item) { it.Fields[0].Name = "a/b" },
		"a field twice": func(it *vault.Item) { it.Fields[1].Name = "Password" },
		"too large": func(it *vault.Item) {
			it.Fields[0].Put(value(t, strings.Repeat(c.secretText("large", 40), 2000)))
		},
		"too much": func(it *vault.Item) {
			for i := range 16 {
				large := value(t, strings.Repeat(c.secretText("much", 40), 1600))
				it.Fields = append(it.Fields, vault.Field{Name: fmt.Sprint(i), Value: large})
			}
		},
		"a value that is gone": func(it *vault.Item) { it.Fields[0].Value.Destroy() },
		"no text":              func(it *vault.Item) { it.Fields[0].Ref = "\xff" },
	} {
		it := c.mine(t, change)
		c.fails(t, name, v.Save(it))
		c.say(it, *it, it.Fields, it.Fields[0], it.Meta)
	}
	it := c.mine(t, func(*vault.Item) {})
	save(t, v, it)
	c.say(it, meta(t, v, it.ID))
	c.fails(t, "a taken name", v.Save(c.mine(t, func(*vault.Item) {})))
	change(t, v, it.ID, c.secretText("changed", 40))
	c.fails(t, "a stale item", v.Save(it))
	_, err := v.OpenRevision(it.ID, [32]byte{})
	c.fails(t, "no revision", err)
	_, err = v.Undo("no tag", vault.Origin{})
	c.fails(t, "no tag", err)
}

func failedStages(t *testing.T, c *canaries, v *vault.Vault) {
	set := func(names ...string) (list []vault.Field) {
		for _, name := range names {
			list = append(list, vault.Field{Name: name, Concealed: true, Value: value(t, c.secretText("variable", 40))})
		}
		return list
	}
	_, err := v.ChangeStage(vault.StageChange{Project: "shop", Stage: "dev", Set: set("A", "B")})
	must(t, err)
	for name, change := range map[string]vault.StageChange{
		"twice":     {Project: "shop", Stage: "dev", Set: set("A", "A")},
		"a name":    {Project: "shop", Stage: "dev", Set: set("A", "a/b")},
		"not there": {Project: "shop", Stage: "dev", Set: set("A"), Unset: []string{"C"}},
		"a project": {Project: "-", Stage: "dev", Set: set("A")},
	} {
		diff, err := v.PlanStage(change)
		c.fails(t, name, err)
		_, err = v.ChangeStage(change)
		c.fails(t, name, err)
		c.say(diff, change)
	}
}

func failedPasswords(t *testing.T, c *canaries, cfg vault.Config, now *clock, a *vault.Account) {
	wrong := c.secretText("wrong password", 24)
	c.fails(t, "a wrong old one", a.ChangePassword(value(t, wrong), value(t, c.secretText("new password", 24))))
	c.fails(t, "too soon", a.ChangePassword(value(t, wrong), value(t, c.secretText("new password", 24))))
	c.fails(t, "a weak one", a.ChangePassword(value(t, wrong), value(t, c.secretText("weak password", 11))))
	now.pass()
	a.Lock()
	c.fails(t, "locked", a.ChangePassword(value(t, wrong), value(t, c.secretText("new password", 24))))
	c.fails(t, "a wrong password", opens(t, cfg, wrong))
	now.pass()
	_, _, err := vault.Create(config(t.TempDir()), value(t, c.secretText("weak password", 11)))
	c.fails(t, "a weak password", err)
}

func failedCodes(t *testing.T, c *canaries, cfg vault.Config, now *clock) {
	fresh := config(t.TempDir())
	c.fails(t, "no code", vault.SetDeviceSecret(fresh, value(t, c.secretText("device secret", 54))))
	_, _, err := vault.Recover(cfg, value(t, c.secretText("code", 34)), value(t, c.secretText("new password", 24)))
	c.fails(t, "a mistyped code", err)
	_, _, err = vault.Recover(cfg, c.known(t, "recovery code"), value(t, c.secretText("weak password", 11)))
	c.fails(t, "a weak password", err)
	c.fails(t, "a device secret that is there", vault.SetDeviceSecret(cfg, c.known(t, "device secret")))
	_, other, otherKit := newAccount(t)
	other.Lock()
	_, _, err = vault.Recover(cfg, otherKit.RecoveryCode, value(t, c.secretText("new password", 24)))
	c.fails(t, "a wrong code", err)
	now.pass()
}

// known is a canary that is known by its name.
func (c *canaries) known(t testing.TB, name string) secret.Value {
	for _, one := range c.list {
		if one.Name == name {
			return value(t, string(one.Value))
		}
	}
	t.Fatal(name)
	return secret.Value{}
}

// failedReads damages the store file by file and notes what is said of it.
func failedReads(t *testing.T, c *canaries, cfg vault.Config, pw string) {
	findings := 0
	for i, path := range files(t, cfg.AccountDir) {
		damaged := cfg
		dir := t.TempDir()
		damaged.AccountDir, damaged.StateDir = filepath.Join(dir, "account"), filepath.Join(dir, "state")
		copyTree(t, cfg.AccountDir, damaged.AccountDir)
		copyTree(t, cfg.StateDir, damaged.StateDir)
		target := filepath.Join(damaged.AccountDir, path)
		if i%2 == 0 {
			must(t, os.Remove(target))
		} else {
			data := readFile(t, target)
			data[len(data)-1] ^= 1
			writeFile(t, target, data)
		}
		a, err := vault.Open(damaged, value(t, pw))
		if err != nil {
			c.say(err)
			continue
		}
		findings += len(a.Findings())
		c.say(a.Findings())
		for _, v := range a.Vaults() {
			for _, m := range v.List() {
				it, err := v.Open(m.ID)
				c.say(err, it)
			}
			c.say(v.Save(c.mine(t, func(it *vault.Item) { it.Name = "new" })))
		}
		done, err := a.Repair().AcceptRestore()
		c.say(done, err)
		a.Lock()
	}
	if findings < 5 {
		t.Errorf("%d findings", findings)
	}
}
