package vault_test

import (
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// nest makes texts that are in no other place of the world, and remembers them.
type nest struct {
	t     testing.TB
	all   []testkit.Canary
	quiet []testkit.Canary // those that no error may name either: all but names
}

// name makes a unique text that may be a name.
func (n *nest) name(what string) string {
	n.t.Helper()
	raw := make([]byte, 10)
	_, err := rand.Read(raw)
	must(n.t, err)
	text := strings.ToLower(base32.StdEncoding.EncodeToString(raw))
	n.all = append(n.all, testkit.Canary{Name: what, Value: []byte(text)})
	return text
}

// text makes a unique text of which no message may tell.
func (n *nest) text(what string) string {
	n.t.Helper()
	s := n.name(what)
	n.quiet = append(n.quiet, n.all[len(n.all)-1])
	return s
}

// value makes a secret of one of several forms: a word, lines, bytes that are no text, one that is long.
func (n *nest) value(what string, form int) secret.Value {
	n.t.Helper()
	text := n.text(what)
	switch form % 4 {
	case 1:
		text = "-----BEGIN SOMETHING-----\n" + text + "\n" + n.text(what+", second line") + "\n-----END SOMETHING-----\n"
	case 2:
		raw := make([]byte, 32)
		_, err := rand.Read(raw)
		must(n.t, err)
		c := testkit.Canary{Name: what + ", binary", Value: raw}
		n.all, n.quiet = append(n.all, c), append(n.quiet, c)
		text = string(raw)
	case 3:
		text = strings.Repeat(text+" ", 200)
	}
	return value(n.t, text)
}

// item makes an item with a title, a host, a user and a value that are canaries. Every tenth has them in all else that can hold one.
func (n *nest) item(i int) *vault.Item {
	n.t.Helper()
	typ := vault.Types()[i/2%len(vault.Types())]
	of := func(what string) string { return fmt.Sprintf("%s of item %d (%s)", what, i, typ) }
	it := &vault.Item{
		Meta: vault.Meta{
			Kind: vault.KindItem, Name: n.name(of("title")), Type: typ, Level: vault.Level(i % 5),
			Hosts: []vault.Host{{Host: n.text(of("host")) + ".example"}},
		},
		Fields: []vault.Field{
			{Name: "password", Concealed: true, Value: n.value(of("value"), i/2)},
			{Name: "user name", Value: value(n.t, n.text(of("user")))},
		},
	}
	if i%10 == 0 {
		n.furnish(it, of)
	}
	return it
}

// furnish fills what else an item has.
func (n *nest) furnish(it *vault.Item, of func(string) string) {
	n.t.Helper()
	it.Tags = []string{n.text(of("tag"))}
	it.Hosts = append(it.Hosts, vault.Host{Host: "api.example", Methods: []string{"GET"}, Paths: []string{"/" + n.text(of("path"))}})
	it.Commands = []vault.Command{{Name: n.text(of("command")), Path: "/usr/bin/" + n.text(of("command's path"))}}
	it.Clients = map[string]vault.Level{n.text(of("client")): vault.LevelAsk}
	it.Expires = time.Now().Add(time.Hour)
	it.Origin = vault.Origin{By: vault.ByImport, Client: n.text(of("origin's client")), Tag: n.text(of("origin's tag"))}
	it.Fields = append(it.Fields,
		vault.Field{Name: "url", Type: "url", Value: value(n.t, "https://"+n.text(of("url"))+".example/login")},
		vault.Field{Name: "notes", Type: "multiline", Value: value(n.t, "first line\n"+n.text(of("note"))+"\n")},
		vault.Field{Section: n.name(of("section")), Name: n.name(of("field")), Value: value(n.t, n.text(of("section's value")))},
	)
}

// stage makes variables of a project's stage.
func (n *nest) stage(v *vault.Vault, i int) {
	n.t.Helper()
	_, err := v.ChangeStage(vault.StageChange{
		Project: n.name("project"), Stage: n.name("stage"), Level: vault.LevelUse,
		Set: []vault.Field{
			{Name: "V_" + n.name("variable"), Concealed: true, Value: n.value("variable's value", i)},
			{Name: "R_" + n.name("variable"), Ref: "warder://personal/" + n.text("reference") + "/password"},
		},
		Origin: vault.Origin{By: vault.ByPerson},
	})
	must(n.t, err)
}

// nestedAccount is an account with a hundred items of all types in two vaults, some of them with a history, in the trash, or ended.
func nestedAccount(t *testing.T, cfg vault.Config) *nest {
	t.Helper()
	n := &nest{t: t}
	a, kit := create(t, cfg)
	for name, code := range map[string]secret.Value{"device secret": kit.DeviceSecret, "recovery code": kit.RecoveryCode} {
		n.all = append(n.all, testkit.Canary{Name: name, Value: bytesOf(t, code)})
	}
	n.all = append(n.all, testkit.Canary{Name: "master password", Value: []byte(password)})
	other, err := a.CreateVault(n.name("vault"))
	must(t, err)
	vaults := []*vault.Vault{firstVault(t, a), other}
	var ids []seal.ID
	for i := range 100 {
		v, it := vaults[i%2], n.item(i)
		save(t, v, it)
		ids = append(ids, it.ID)
		if i%10 == 0 {
			it.Fields[0].Put(n.value(fmt.Sprint("later value of item ", i), i+1))
			save(t, v, it)
		}
	}
	for i := range 3 {
		n.stage(vaults[i%2], i)
	}
	must(t, vaults[1].Trash(ids[3], vault.Origin{By: vault.ByPerson}))
	must(t, vaults[0].Trash(ids[4], vault.Origin{By: vault.ByAgent, Client: n.name("agent")}))
	must(t, vaults[1].Purge(ids[5]))
	a.Lock()
	return n
}

// TestNoPlaintextInAnyFile searches every file and every name of an account and of its device for everything that a person put into it,
// in all the forms in which a mistake would store it. The search finds what it plants itself before it may find nothing.
func TestNoPlaintextInAnyFile(t *testing.T) {
	oneThread(t)
	t.Parallel()
	s := newScene(t)
	n := nestedAccount(t, s.account())
	second := s.second()
	must(t, vault.SetDeviceSecret(second, value(t, n.secretText())))
	b := open(t, second)
	b.Lock()

	search := testkit.NewSearch(t, n.all...)
	if files := search.RequireClean(t, s.account().AccountDir); files < 150 {
		t.Errorf("%d files of the account were searched", files)
	}
	// The device secret is the one thing that lies in the clear, in one file, outside what is synced.
	for _, cfg := range []vault.Config{s.account(), second} {
		file := filepath.Join(cfg.StateDir, "device", "secret")
		kept := readFile(t, file)
		if len(search.Bytes(file, kept)) != 1 {
			t.Errorf("%s does not hold the device secret alone", file)
		}
		must(t, os.Remove(file))
		search.RequireClean(t, cfg.StateDir)
		writeFile(t, file, kept)
	}
	open(t, s.account()) // all of it was the real thing
}

// secretText is the device secret among the canaries.
func (n *nest) secretText() string {
	for _, c := range n.all {
		if c.Name == "device secret" {
			return string(c.Value)
		}
	}
	n.t.Fatal("no device secret")
	return ""
}

// TestNoValueInAnyMessage damages every file of an account and its device, one after the other, and reads all that the account then has
// to say. Findings name nothing but ids, errors may name items and fields.
func TestNoValueInAnyMessage(t *testing.T) {
	oneThread(t)
	t.Parallel()
	base := newScene(t)
	n := &nest{t: t}
	a, _ := create(t, base.account())
	v := firstVault(t, a)
	for i := range 2 {
		it := n.item(i)
		save(t, v, it)
		it.Fields[0].Put(n.value("later value", i))
		save(t, v, it)
	}
	n.stage(v, 0)
	a.Lock()
	all, quiet := testkit.NewSearch(t, n.all...), testkit.NewSearch(t, n.quiet...)
	messages := 0
	for _, name := range files(t, base.dir) {
		for how, damage := range map[string]func([]byte) []byte{
			"cut":     func(b []byte) []byte { return b[:len(b)/2] },
			"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		} {
			s := base.copy(t)
			path := filepath.Join(s.dir, filepath.FromSlash(name))
			data := readFile(t, path)
			if len(data) == 0 {
				continue
			}
			writeFile(t, path, damage(data))
			errs, found := everyMessage(t, s, !strings.Contains(name, "/vaults/"))
			all.RequireCleanBytes(t, "findings after "+name+" was "+how, []byte(found))
			quiet.RequireCleanBytes(t, "errors after "+name+" was "+how, []byte(errs))
			messages += min(1, len(errs)+len(found))
		}
	}
	if messages < 20 {
		t.Errorf("only %d kinds of damage were told of", messages)
	}
}

// everyMessage opens a damaged account, reads and writes everything, its keys too if that is asked for, and returns what errors and
// findings say.
func everyMessage(t *testing.T, s scene, keys bool) (errs, found string) {
	t.Helper()
	var e strings.Builder
	note := func(err error) {
		if err != nil {
			fmt.Fprintf(&e, "%v\n%+v\n%#v\n", err, err, err)
		}
	}
	a, err := vault.Open(s.later(s.account()), value(t, password))
	note(err)
	if err != nil {
		return e.String(), ""
	}
	defer a.Lock()
	for _, v := range a.Vaults() {
		for _, m := range v.List() {
			it, err := v.Open(m.ID)
			note(err)
			if err == nil {
				note(v.Save(it))
				it.Destroy()
			}
			revisions, err := v.History(m.ID)
			note(err)
			for _, r := range revisions {
				it, err := v.OpenRevision(m.ID, r.Rev())
				note(err)
				if err == nil {
					it.Destroy()
				}
			}
			note(v.Trash(m.ID, vault.Origin{By: vault.ByPerson}))
		}
	}
	if keys {
		note(a.ChangePassword(value(t, password), value(t, freshPassword)))
	}
	for _, f := range a.Findings() {
		found += fmt.Sprintf("%s %s %s\n", f.Kind, f.Object, f.Text)
	}
	_, err = a.Repair().AcceptRestore()
	note(err)
	return e.String(), found
}
