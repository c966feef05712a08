package vault_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/seal"
	"warder/internal/vault"
)

// makeFixture writes the committed store. The content is made to use all that format version 1 can say, with values that
// nobody could take for real ones.
func makeFixture(t *testing.T) {
	dir := t.TempDir()
	cfg := config(dir)
	clock := time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	cfg.Now = func() time.Time { clock = clock.Add(61 * time.Second); return clock }
	cfg.AuditHead = func() (uint64, seal.Hash) { return 42, seal.HashOf([]byte("fixture audit head")) }

	a, kit := create(t, cfg)
	v := firstVault(t, a)
	save(t, v, fixtureItems(t)...)
	save(t, v, fixtureSizes(t)...)
	fixtureRevisions(t, v)
	fixtureTrash(t, v)
	fixtureProjects(t, v)
	work, err := a.CreateVault("Büro – 仕事")
	if err != nil {
		t.Fatal(err)
	}
	save(t, work, newItem(t, "Straße Ελληνικά 🗝", "fixture value in another vault é"), newItem(t, "conflict", "fixture value before"))
	a.Lock()

	second := anotherDevice(t, cfg, kit)
	b := open(t, second)
	save(t, firstVault(t, b), newItem(t, "from the second device", "fixture value of device 2"))
	edit(t, firstVault(t, b), "ssh-key", "fixture value changed by device 2")
	device := b.Device()
	b.Lock()
	fixtureConflict(t, cfg, second, device)

	a = open(t, cfg)
	a.Lock()
	a = open(t, cfg)
	if f := a.Findings(); len(f) != 0 {
		t.Fatal(f)
	}
	want := fixtureOf(t, a, fixture{
		Password: password, RecoveryCode: string(bytesOf(t, kit.RecoveryCode)), DeviceSecret: string(bytesOf(t, kit.DeviceSecret)),
	})
	a.Lock()
	data, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"account", "state"} {
		if err := os.RemoveAll(filepath.Join(fixtureDir, part)); err != nil {
			t.Fatal(err)
		}
		copyTree(t, filepath.Join(dir, part), filepath.Join(fixtureDir, part))
	}
	if err := os.Remove(filepath.Join(fixtureDir, "state", "write.lock")); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(fixtureDir, "expected.json"), append(data, '\n'))
}

// edit gives the first field of an item another value.
func edit(t testing.TB, v *vault.Vault, name, text string) seal.ID {
	t.Helper()
	m, err := v.Find(vault.KindItem, seal.ID{}, name)
	if err != nil {
		t.Fatal(err)
	}
	it, err := v.Open(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Destroy()
	it.Fields[0].Put(value(t, text))
	save(t, v, it)
	return m.ID
}

// fixtureItems has one item of each type; between them they use every member of an item.
func fixtureItems(t *testing.T) []*vault.Item {
	var items []*vault.Item
	for i, kind := range vault.Types() {
		it := newItem(t, string(kind), fmt.Sprintf("fixture value %d é", i))
		it.Type = kind
		it.Level = vault.Level(i % 5)
		it.Origin = vault.Origin{By: vault.ByPerson}
		items = append(items, it)
	}
	login, token, key, note := items[0], items[2], items[3], items[6]
	login.Tags = []string{"shop", "öffentlich", `quote " and \ back`}
	login.Fields = append(login.Fields,
		vault.Field{Name: "user name", Type: "text", NonSecret: vault.ByPerson, Value: value(t, "fixture-user")},
		vault.Field{Name: "url", Type: "url", NonSecret: vault.ByAgent, Value: value(t, "https://shop.example/é")},
		vault.Field{Section: "Zweitgerät", Name: "Password", Type: "totp", Concealed: true, Value: value(t, "fixture value in a section")},
		vault.Field{Name: "empty", Concealed: true, Value: value(t, "")},
	)
	token.Clients = map[string]vault.Level{"fixture-agent": vault.LevelRead, "other agent": vault.LevelNone}
	token.Hosts = []vault.Host{
		{Host: "api.shop.example", Methods: []string{"GET", "POST"}, Paths: []string{"/v1/", "/v2/ö"}},
		{Host: "*.intern.example"},
	}
	token.Commands = []vault.Command{{Name: "deploy", Path: "/usr/local/bin/deploy"}, {Name: "./tool", Path: "/srv/shop/tool"}}
	token.Delivery = []vault.Delivery{vault.DeliverBroker, vault.DeliverEnv, vault.DeliverFile, vault.DeliverStdin}
	token.MaxUses, token.Expires = 1000, time.Date(2031, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
	token.Origin = vault.Origin{By: vault.ByAgent, Client: "fixture-agent"}
	key.NeverEnv, key.Delivery = true, []vault.Delivery{vault.DeliverAgentSocket}
	key.Origin = vault.Origin{By: vault.ByImport, Tag: "fixture import 1"}
	note.Fields[0].Put(value(t, "line one\nline two\ttab \u0001 control\r\n\U0001F511"))
	return items
}

// fixtureSizes has a value for each of the first padding sizes, one of them at its very edge, and bytes that are no text.
func fixtureSizes(t *testing.T) []*vault.Item {
	var items []*vault.Item
	for _, n := range []int{300, 1000, 5_000, 16_000} {
		items = append(items, newItem(t, fmt.Sprintf("value of %d bytes", n), strings.Repeat("fixture value é ", n/16+1)[:n]))
	}
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return append(items, newItem(t, "binary", string(bytes.Repeat(all, 2))))
}

// fixtureRevisions writes one item twelve times: the first revision falls out of its history.
func fixtureRevisions(t *testing.T, v *vault.Vault) {
	it := newItem(t, "twelve revisions", "fixture value 1")
	save(t, v, it)
	for i := 2; i <= 12; i++ {
		edit(t, v, it.Name, fmt.Sprintf("fixture value %d", i))
	}
}

// fixtureTrash leaves one item in the trash, with its name in use again, and two purged.
func fixtureTrash(t *testing.T, v *vault.Vault) {
	trashed, purged, third := newItem(t, "thrown away", "fixture value in the trash"), newItem(t, "purged", "gone"), newItem(t, "purged too", "gone")
	save(t, v, trashed, purged, third)
	if err := v.Trash(trashed.ID, vault.Origin{By: vault.ByAgent, Client: "fixture-agent", Tag: "fixture clean-up"}); err != nil {
		t.Fatal(err)
	}
	save(t, v, newItem(t, "Thrown Away", "fixture value with a name used before"))
	if err := v.Purge(purged.ID, third.ID); err != nil {
		t.Fatal(err)
	}
}

// fixtureProjects makes a project with two stages and a link.
func fixtureProjects(t *testing.T, v *vault.Vault) {
	stages := []vault.StageChange{{
		Project: "shop", Stage: "dev", Level: vault.LevelUse, Origin: vault.Origin{By: vault.ByImport, Tag: "fixture import 2"},
		Set: []vault.Field{
			{Name: "SHOP_SECRET", Concealed: true, Value: value(t, "fixture value of a variable é")},
			{Name: "shop_secret", Concealed: true, Level: vault.LevelAsk, Value: value(t, "another case, another variable")},
			{Name: "SHOP_URL", NonSecret: vault.ByPerson, Value: value(t, "https://dev.shop.example")},
			{Name: "SHOP_TOKEN", Concealed: true, Level: vault.LevelRead, Ref: "warder://personal/api-token/password"},
			{Name: "dotted.name", Value: value(t, "no variable")},
		},
	}, {
		Project: "shop", Stage: "prod", Level: vault.LevelNone, Origin: vault.Origin{By: vault.ByPerson},
		Set: []vault.Field{{Name: "SHOP_SECRET", Concealed: true, Value: value(t, "fixture value of production")}},
	}}
	for _, s := range stages {
		if _, err := v.ChangeStage(s); err != nil {
			t.Fatal(err)
		}
	}
	found, err := v.Find(vault.KindProject, seal.ID{}, "shop")
	if err != nil {
		t.Fatal(err)
	}
	linked, err := v.Find(vault.KindItem, seal.ID{}, "api-token")
	if err != nil {
		t.Fatal(err)
	}
	project, err := v.Open(found.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer project.Destroy()
	project.Level, project.Links = vault.LevelAsk, []seal.ID{linked.ID}
	save(t, v, project)
}

// fixtureConflict lets both devices change one item apart, and brings their files together.
func fixtureConflict(t *testing.T, cfg, second vault.Config, device seal.ID) {
	apart := second
	apart.AccountDir = filepath.Join(t.TempDir(), "account")
	copyTree(t, second.AccountDir, apart.AccountDir)
	for i, side := range []vault.Config{cfg, apart} {
		a := open(t, side)
		v, err := a.Vault("büro – 仕事")
		if err != nil {
			t.Fatal(err)
		}
		edit(t, v, "conflict", fmt.Sprintf("fixture value of side %d", i+1))
		a.Lock()
	}
	// As a sync would: what the second device owns is as it left it, and the items are those of both sides.
	own := "/man/" + device.String()
	for _, name := range files(t, cfg.AccountDir) {
		if strings.Contains(name, own) {
			if err := os.Remove(filepath.Join(cfg.AccountDir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range files(t, apart.AccountDir) {
		if strings.Contains(name, own) || strings.Contains(name, "/items/") {
			writeFile(t, filepath.Join(cfg.AccountDir, name), readFile(t, filepath.Join(apart.AccountDir, name)))
		}
	}
}
