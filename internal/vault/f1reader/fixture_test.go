package f1reader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

// fixture is where the real writer's store is.
const fixture = "../testdata/v1"

// copyFixture copies the store to a folder of its own, private as git does not
// keep it, and returns its account and state directories.
func copyFixture(t *testing.T) (store, state disk) {
	t.Helper()
	dir := t.TempDir()
	for _, part := range []string{"account", "state"} {
		from := filepath.Join(fixture, part)
		err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(fixture, name)
			if err != nil {
				return err
			}
			if entry.IsDir() {
				return os.Mkdir(filepath.Join(dir, rel), 0o700)
			}
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, rel), data, 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return disk{filepath.Join(dir, "account")}, disk{filepath.Join(dir, "state")}
}

// The content of a store, in the form of expected.json.
type (
	wantStore struct {
		Password     string      `json:"password"`
		RecoveryCode string      `json:"recovery_code"`
		DeviceSecret string      `json:"device_secret"`
		StateCode    string      `json:"state_code"`
		Account      string      `json:"account"`
		Device       string      `json:"device"`
		Devices      []string    `json:"devices"`
		Vaults       []wantVault `json:"vaults"`
	}
	wantVault struct {
		ID         string     `json:"id"`
		Name       string     `json:"name"`
		Items      []wantItem `json:"items"`
		Tombstones []string   `json:"tombstones,omitempty"`
	}
	wantItem struct {
		ID       string            `json:"id"`
		Rev      string            `json:"rev"`
		Kind     string            `json:"kind"`
		Name     string            `json:"name"`
		Type     string            `json:"type,omitempty"`
		Tags     []string          `json:"tags,omitempty"`
		Level    string            `json:"level"`
		Clients  map[string]string `json:"clients,omitempty"`
		Hosts    []wantHost        `json:"hosts,omitempty"`
		Commands []wantCommand     `json:"commands,omitempty"`
		Delivery []string          `json:"delivery,omitempty"`
		NeverEnv bool              `json:"never_env,omitempty"`
		MaxUses  uint64            `json:"max_uses,omitempty"`
		Expires  uint64            `json:"expires,omitempty"`
		Origin   wantOrigin        `json:"origin"`
		Created  uint64            `json:"created"`
		Modified uint64            `json:"modified"`
		Trashed  uint64            `json:"trashed,omitempty"`
		Project  string            `json:"project,omitempty"`
		Links    []string          `json:"links,omitempty"`
		Conflict bool              `json:"conflict,omitempty"`
		Fields   []wantField       `json:"fields,omitempty"`
		History  []wantRevision    `json:"history,omitempty"`
	}
	wantField struct {
		Section   string `json:"section,omitempty"`
		Name      string `json:"name"`
		Type      string `json:"type,omitempty"`
		Concealed bool   `json:"concealed,omitempty"`
		Level     string `json:"level"`
		Nonsecret string `json:"nonsecret,omitempty"`
		Ref       string `json:"ref,omitempty"`
		Score     uint64 `json:"score,omitempty"`
		Set       uint64 `json:"set"`
		Value     string `json:"value"`
	}
	wantHost struct {
		Host    string   `json:"host"`
		Methods []string `json:"methods,omitempty"`
		Paths   []string `json:"paths,omitempty"`
	}
	wantCommand struct {
		Name string `json:"name"`
		Path string `json:"path"`
	}
	wantOrigin struct {
		By     string `json:"by,omitempty"`
		Client string `json:"client,omitempty"`
		Tag    string `json:"tag,omitempty"`
	}
	wantRevision struct {
		Rev      string      `json:"rev"`
		Modified uint64      `json:"modified"`
		Fields   []wantField `json:"fields,omitempty"`
	}
)

// expected reads expected.json, refusing what the types above do not hold.
func expected(t *testing.T) wantStore {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixture, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var want wantStore
	if err := decoder.Decode(&want); err != nil {
		t.Fatal(err)
	}
	want.sort()
	return want
}

// sort puts what has no order of its own into one.
func (w wantStore) sort() {
	slices.Sort(w.Devices)
	slices.SortFunc(w.Vaults, func(x, y wantVault) int { return cmp.Compare(x.ID, y.ID) })
	for _, v := range w.Vaults {
		slices.Sort(v.Tombstones)
		slices.SortFunc(v.Items, func(x, y wantItem) int { return cmp.Compare(x.ID, y.ID) })
	}
}

// withPassword and withCode are the two ways in.
func (w wantStore) withPassword(t *testing.T) credentials {
	t.Helper()
	secret, err := parseCode(w.DeviceSecret, secretSize)
	if err != nil {
		t.Fatal(err)
	}
	return credentials{password: w.Password, secret: secret}
}

func (w wantStore) withCode(t *testing.T) credentials {
	t.Helper()
	code, err := parseCode(w.RecoveryCode, recoverySize)
	if err != nil {
		t.Fatal(err)
	}
	return credentials{code: code}
}

// unlocked opens the store by the recovery code, which is quick.
func unlocked(t *testing.T, store disk) *account {
	t.Helper()
	a, err := openAccount(store, expected(t).withCode(t))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestF1_Fixture reads the real writer's store both ways and compares all that
// it holds.
func TestF1_Fixture(t *testing.T) {
	want := expected(t)
	for name, way := range map[string]credentials{"password": want.withPassword(t), "recovery code": want.withCode(t)} {
		t.Run(name, func(t *testing.T) {
			store, state := copyFixture(t)
			a, err := openAccount(store, way)
			if err != nil {
				t.Fatal(err)
			}
			l, err := readLocal(state, a.ark, a.id)
			if err != nil {
				t.Fatal(err)
			}
			if found := append(a.findings, compare(a, l)...); len(found) > 0 || a.strays > 0 {
				t.Errorf("findings %v and %d strays", found, a.strays)
			}
			if err := l.fits(a.cards[l.device]); err != nil {
				t.Error(err)
			}
			got := describe(a, l)
			got.Password, got.RecoveryCode, got.DeviceSecret = want.Password, want.RecoveryCode, want.DeviceSecret
			compareStores(t, got, want)
		})
	}
}

// TestF1_7_DeviceSecret checks that the state directory holds the device secret
// of the kit.
func TestF1_7_DeviceSecret(t *testing.T) {
	_, state := copyFixture(t)
	secret, err := readSecret(state)
	if want := expected(t).withPassword(t).secret; err != nil || !bytes.Equal(secret, want) {
		t.Errorf("another device secret, or %v", err)
	}
}

// compareStores compares item by item, so that a difference can be found.
func compareStores(t *testing.T, got, want wantStore) {
	t.Helper()
	same := func(what string, got, want any) {
		t.Helper()
		g, w := mustJSON(t, got), mustJSON(t, want)
		if g != w {
			t.Errorf("%s:\ngot  %.2000s\nwant %.2000s", what, g, w)
		}
	}
	if len(got.Vaults) != len(want.Vaults) {
		t.Fatalf("%d vaults, want %d", len(got.Vaults), len(want.Vaults))
	}
	for v := range want.Vaults {
		if len(got.Vaults[v].Items) == len(want.Vaults[v].Items) {
			for i := range want.Vaults[v].Items {
				same("item "+want.Vaults[v].Items[i].Name, got.Vaults[v].Items[i], want.Vaults[v].Items[i])
			}
		}
		if !t.Failed() {
			same("vault "+want.Vaults[v].Name, got.Vaults[v], want.Vaults[v])
		}
	}
	if !t.Failed() {
		same("store", got, want)
	}
}

// mustJSON encodes a value.
func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestF1_FixtureIsPrivate checks that a copy with other permissions is refused,
// so that the tests above read what a reader would.
func TestF1_FixtureIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no permissions here")
	}
	store, _ := copyFixture(t)
	for _, name := range []string{"format", "vaults", ".", unlocked(t, store).ruling.name()} {
		store, _ := copyFixture(t)
		info, err := os.Stat(store.at(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(store.at(name), info.Mode().Perm()|0o040); err != nil {
			t.Fatal(err)
		}
		if _, err := openAccount(store, expected(t).withCode(t)); err == nil {
			t.Errorf("%s is readable by others and was read", name)
		}
	}
}
