package vault_test

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
	"warder/internal/vault"
)

var update = flag.Bool("update", false, "make testdata/v1 anew: only before the first release of format version 1, see the README.md there")

// fixtureDir holds a store of format version 1 that every later warder must read. Another version gets a directory of its own.
const fixtureDir = "testdata/v1"

// fixture is what the store holds, as read through the vault. Ids and hashes are hex, times are F1's milliseconds, bytes are base64.
type fixture struct {
	Password     string         `json:"password"`
	RecoveryCode string         `json:"recovery_code"`
	DeviceSecret string         `json:"device_secret"`
	StateCode    string         `json:"state_code"`
	Account      string         `json:"account"`
	Device       string         `json:"device"` // whose state directory it is
	Devices      []string       `json:"devices"`
	Vaults       []fixtureVault `json:"vaults"`
}

type fixtureVault struct {
	ID         string        `json:"id"`
	Name       string        `json:"name"`
	Items      []fixtureItem `json:"items"` // by name, then id; without the one that holds the vault's name
	Tombstones []string      `json:"tombstones,omitempty"`
}

type fixtureItem struct {
	ID       string            `json:"id"`
	Rev      string            `json:"rev"`
	Kind     string            `json:"kind"`
	Name     string            `json:"name"`
	Type     string            `json:"type,omitempty"`
	Tags     []string          `json:"tags,omitempty"`
	Level    string            `json:"level"`
	Clients  map[string]string `json:"clients,omitempty"`
	Hosts    []fixtureHost     `json:"hosts,omitempty"`
	Commands []fixtureCommand  `json:"commands,omitempty"`
	Delivery []vault.Delivery  `json:"delivery,omitempty"`
	NeverEnv bool              `json:"never_env,omitempty"`
	MaxUses  int64             `json:"max_uses,omitempty"`
	Expires  int64             `json:"expires,omitempty"`
	Origin   fixtureOrigin     `json:"origin"`
	Created  int64             `json:"created"`
	Modified int64             `json:"modified"`
	Trashed  int64             `json:"trashed,omitempty"`
	Project  string            `json:"project,omitempty"`
	Links    []string          `json:"links,omitempty"`
	Conflict bool              `json:"conflict,omitempty"`
	Fields   []fixtureField    `json:"fields,omitempty"`
	History  []fixtureRevision `json:"history,omitempty"` // of History but for the current one, newest first
}

type fixtureRevision struct {
	Rev      string         `json:"rev"`
	Modified int64          `json:"modified"`
	Fields   []fixtureField `json:"fields,omitempty"`
}

type fixtureField struct {
	Section   string `json:"section,omitempty"`
	Name      string `json:"name"`
	Type      string `json:"type,omitempty"`
	Concealed bool   `json:"concealed,omitempty"`
	NonSecret string `json:"nonsecret,omitempty"`
	Level     string `json:"level"`
	Ref       string `json:"ref,omitempty"`
	Score     int    `json:"score,omitempty"`
	Set       int64  `json:"set,omitempty"`
	Value     []byte `json:"value"`
}

type fixtureHost struct {
	Host    string   `json:"host"`
	Methods []string `json:"methods,omitempty"`
	Paths   []string `json:"paths,omitempty"`
}

type fixtureCommand struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

type fixtureOrigin struct {
	By     string `json:"by,omitempty"`
	Client string `json:"client,omitempty"`
	Tag    string `json:"tag,omitempty"`
}

// TestFixture opens the committed store of format version 1, compares all that it holds, and writes to a copy of it.
func TestFixture(t *testing.T) {
	if *update {
		makeFixture(t)
	}
	want := expectedFixture(t)
	cfg := fixtureCopy(t)
	a := open(t, cfg)
	if f := a.Findings(); len(f) != 0 {
		t.Fatalf("findings on an untouched store: %v", f)
	}
	if diff := cmp.Diff(want, fixtureOf(t, a, want)); diff != "" {
		t.Fatalf("the store holds something else (-expected.json +read):\n%s", diff)
	}

	v := firstVault(t, a)
	added := newItem(t, "written by a later warder", "fixture value later é")
	changed, err := v.Find(vault.KindItem, seal.ID{}, "twelve revisions")
	if err != nil {
		t.Fatal(err)
	}
	old, err := v.Open(changed.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Destroy()
	old.Fields[0].Put(value(t, "fixture value 13"))
	save(t, v, added, old)
	a.Lock()

	a = open(t, cfg)
	if f := a.Findings(); len(f) != 0 {
		t.Fatalf("findings after a write: %v", f)
	}
	v = firstVault(t, a)
	if got, _ := firstValue(t, v, added.ID); got != "fixture value later é" {
		t.Errorf("the added item holds %q", got)
	}
	if got, _ := firstValue(t, v, changed.ID); got != "fixture value 13" {
		t.Errorf("the changed item holds %q", got)
	}
	if got, want := len(v.List()), len(want.Vaults[slices.IndexFunc(want.Vaults, isDefault)].Items)+1; got != want {
		t.Errorf("%d items are listed after adding one, want %d", got, want)
	}
}

func isDefault(v fixtureVault) bool { return v.Name == vault.DefaultVault }

// TestFixtureOnNewDevices opens the committed store with the codes of its kit, on devices that hold nothing else.
func TestFixtureOnNewDevices(t *testing.T) {
	oneThread(t)
	want := expectedFixture(t)
	check := func(t *testing.T, a *vault.Account, devices int) {
		t.Helper()
		if f := a.Findings(); len(f) != 0 {
			t.Errorf("findings: %v", f)
		}
		got := fixtureOf(t, a, want)
		if len(got.Devices) != devices {
			t.Errorf("%d devices, want %d", len(got.Devices), devices)
		}
		if diff := cmp.Diff(want.Vaults, got.Vaults); diff != "" {
			t.Errorf("the store holds something else (-expected.json +read):\n%s", diff)
		}
	}
	t.Run("device secret", func(t *testing.T) {
		cfg := fixtureCopy(t)
		cfg.StateDir = filepath.Join(t.TempDir(), "state")
		if err := vault.SetDeviceSecret(cfg, value(t, want.DeviceSecret)); err != nil {
			t.Fatal(err)
		}
		check(t, open(t, cfg), len(want.Devices)+1)
	})
	t.Run("recovery code", func(t *testing.T) {
		cfg := fixtureCopy(t)
		a, kit, err := vault.Recover(cfg, value(t, want.RecoveryCode), value(t, "another good phrase, number 12"))
		if err != nil {
			t.Fatal(err)
		}
		defer a.Lock()
		defer kit.Destroy()
		check(t, a, len(want.Devices))
	})
	t.Run("neither", func(t *testing.T) {
		cfg := fixtureCopy(t)
		if err := os.Remove(filepath.Join(cfg.StateDir, "device", "secret")); err != nil {
			t.Fatal(err)
		}
		if _, err := vault.Open(cfg, value(t, want.Password)); !errors.Is(err, vault.ErrNoDeviceSecret) {
			t.Errorf("opened without the device secret: %v", err)
		}
	})
}

// fixtureCopy copies the store, since opening one may write to it. Git keeps no private modes; the copy has them.
func fixtureCopy(t *testing.T) vault.Config {
	t.Helper()
	cfg := config(t.TempDir())
	copyTree(t, filepath.Join(fixtureDir, "account"), cfg.AccountDir)
	copyTree(t, filepath.Join(fixtureDir, "state"), cfg.StateDir)
	return cfg
}

func expectedFixture(t *testing.T) fixture {
	t.Helper()
	var want fixture
	if err := json.Unmarshal(readFile(t, filepath.Join(fixtureDir, "expected.json")), &want); err != nil {
		t.Fatal(err)
	}
	return want
}

// fixtureOf reads an account; the codes, which can't be read out of one, are taken over from known.
func fixtureOf(t *testing.T, a *vault.Account, known fixture) fixture {
	t.Helper()
	f := fixture{
		Password: known.Password, RecoveryCode: known.RecoveryCode, DeviceSecret: known.DeviceSecret,
		StateCode: a.StateCode(), Account: a.ID().String(), Device: a.Device().String(), Devices: idTexts(vault.Roster(a)),
	}
	for _, v := range a.Vaults() {
		fv := fixtureVault{ID: v.ID().String(), Name: v.Name(), Tombstones: idTexts(vault.Tombstones(v))}
		for _, m := range v.List() {
			fv.Items = append(fv.Items, fixtureItemOf(t, v, m))
		}
		f.Vaults = append(f.Vaults, fv)
	}
	return f
}

func fixtureItemOf(t *testing.T, v *vault.Vault, m vault.Meta) fixtureItem {
	t.Helper()
	it, err := v.Open(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Destroy()
	if diff := cmp.Diff(m, it.Meta, cmp.FilterPath(isUnexported, cmp.Ignore())); diff != "" {
		t.Errorf("%s is listed otherwise than it is opened (-list +open):\n%s", m.Name, diff)
	}
	f := fixtureItem{
		ID: m.ID.String(), Rev: m.Rev().String(), Kind: string(m.Kind), Name: m.Name, Type: string(m.Type), Tags: m.Tags,
		Level: m.Level.String(), Delivery: m.Delivery, NeverEnv: m.NeverEnv, MaxUses: m.MaxUses, Expires: millis(m.Expires),
		Origin: fixtureOrigin{string(m.Origin.By), m.Origin.Client, m.Origin.Tag}, Created: millis(m.Created),
		Modified: millis(m.Modified), Trashed: millis(m.Trashed), Links: idTexts(m.Links), Conflict: m.Conflict,
		Fields: fixtureFields(t, it),
	}
	if !m.Project.IsZero() {
		f.Project = m.Project.String()
	}
	for client, l := range m.Clients {
		if f.Clients == nil {
			f.Clients = map[string]string{}
		}
		f.Clients[client] = l.String()
	}
	for _, h := range m.Hosts {
		f.Hosts = append(f.Hosts, fixtureHost{h.Host, h.Methods, h.Paths})
	}
	for _, c := range m.Commands {
		f.Commands = append(f.Commands, fixtureCommand{c.Name, c.Path})
	}
	f.History = fixtureHistory(t, v, m)
	return f
}

func isUnexported(p cmp.Path) bool {
	field, ok := p.Last().(cmp.StructField)
	return ok && field.Name()[0] >= 'a'
}

func fixtureHistory(t *testing.T, v *vault.Vault, m vault.Meta) (list []fixtureRevision) {
	t.Helper()
	history, err := v.History(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range history {
		if i == 0 {
			if h.Rev() != m.Rev() {
				t.Errorf("the history of %s does not start with its current revision", m.Name)
			}
			continue
		}
		old, err := v.OpenRevision(m.ID, h.Rev())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, fixtureRevision{h.Rev().String(), millis(h.Modified), fixtureFields(t, old)})
		old.Destroy()
	}
	return list
}

func fixtureFields(t *testing.T, it *vault.Item) (list []fixtureField) {
	t.Helper()
	for _, f := range it.Fields {
		list = append(list, fixtureField{
			f.Section, f.Name, f.Type, f.Concealed, string(f.NonSecret), f.Level.String(), f.Ref, f.Score, millis(f.Set),
			append([]byte{}, bytesOf(t, f.Value)...), // an absent value and an empty one are the same in F1
		})
	}
	return list
}

func millis(when time.Time) int64 {
	if when.IsZero() {
		return 0
	}
	return when.UnixMilli()
}

func idTexts(ids []seal.ID) (texts []string) {
	for _, id := range ids {
		texts = append(texts, id.String())
	}
	return texts
}
