package vault_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/seal"
	"warder/internal/vault"
)

// world is an account of two devices, A and B, with a past. Attacks are made on copies of it.
type world struct {
	names
	dir    string            // holds past/ and present/, each with account/, A/ and B/
	kit    *vault.Kit        // its device secret, for devices that never saw the account
	reads  map[string]string // what is served at present: "vault/item" → value
	moment time.Time         // when it was made

	revs map[string][]string // the revisions of each item at present, newest first, as they stand in file names
}

// names are what ids stand for, by their hex.
type names map[string]string

// newWorld makes an account whose present differs from its past in a root of each device, an item with history, one without, one that
// was added and one that was purged.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{dir: newScene(t).dir, names: names{}, moment: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	cfg := w.config("present", "A")
	a, kit := create(t, cfg)
	w.kit = kit
	w.name("A", a.Device())
	v := firstVault(t, a)
	w.name("personal", v.ID())
	w.add(t, v, "single", "edited", "many", "purged")
	edit(t, v, "edited", "edited 2")
	for i := 2; i <= 12; i++ {
		edit(t, v, "many", fmt.Sprintf("many %d", i))
	}
	work, err := a.CreateVault("work")
	if err != nil {
		t.Fatal(err)
	}
	w.name("work", work.ID())
	w.add(t, work, "in work")
	a.Lock()

	b := w.enrolB(t, kit)
	w.name("B", b.Device())
	w.add(t, firstVault(t, b), "of B")
	if work, err = b.Vault("work"); err != nil {
		t.Fatal(err)
	}
	w.add(t, work, "of B in work")
	b.Lock()
	a = w.open(t, cfg)
	edit(t, firstVault(t, a), "edited", "edited 3")
	a.Lock()
	copyTree(t, filepath.Join(w.dir, "present"), filepath.Join(w.dir, "past"))

	w.present(t, cfg)
	return w
}

// open unlocks by the recovery code, which is faster than the password.
func (w *world) open(t *testing.T, cfg vault.Config) *vault.Account {
	t.Helper()
	a, err := vault.OpenByCode(cfg, w.kit.RecoveryCode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Lock)
	return a
}

// enrolB makes the second device.
func (w *world) enrolB(t *testing.T, kit *vault.Kit) *vault.Account {
	t.Helper()
	cfg := w.config("present", "B")
	if err := vault.SetDeviceSecret(cfg, kit.DeviceSecret); err != nil {
		t.Fatal(err)
	}
	return w.open(t, cfg)
}

// present writes what sets the present apart from the past. B writes last, having seen all of A.
func (w *world) present(t *testing.T, cfg vault.Config) {
	t.Helper()
	w.moment = w.moment.Add(time.Minute)
	a := w.open(t, cfg)
	v := firstVault(t, a)
	edit(t, v, "edited", "edited 4")
	w.add(t, v, "added")
	m, err := v.Find(vault.KindItem, seal.ID{}, "purged")
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Purge(m.ID); err != nil {
		t.Fatal(err)
	}
	work, err := a.Vault("work")
	if err != nil {
		t.Fatal(err)
	}
	edit(t, work, "in work", "in work 2")
	a.Lock()
	b := w.open(t, w.config("present", "B"))
	edit(t, firstVault(t, b), "of B", "of B 2")
	b.Lock()
	a = w.open(t, cfg)
	defer a.Lock()
	if f := a.Findings(); len(f) != 0 {
		t.Fatalf("findings before any attack: %v", f)
	}
	w.reads, w.revs = w.served(t, a), map[string][]string{}
	for _, v := range a.Vaults() {
		for _, m := range v.List(vault.KindItem) {
			history, err := v.History(m.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range history {
				item := w.names[m.ID.String()]
				w.revs[item] = append(w.revs[item], h.Rev().String()[:16])
			}
		}
	}
}

func (w *world) config(when, device string) vault.Config {
	return vault.Config{
		AccountDir: filepath.Join(w.dir, when, "account"), StateDir: filepath.Join(w.dir, when, device),
		KDF: seal.FloorKDF(), Now: func() time.Time { return w.moment },
	}
}

// name remembers what an id stands for.
func (n names) name(name string, id seal.ID) { n[id.String()] = name }

// id is the id that has a name.
func (n names) id(name string) string {
	for id, known := range n {
		if known == name {
			return id
		}
	}
	panic("no id is called " + name)
}

// add saves items whose first value is their name and 1.
func (w *world) add(t *testing.T, v *vault.Vault, names ...string) {
	t.Helper()
	for _, name := range names {
		it := newItem(t, name, name+" 1")
		it.ID = w.freshID()
		save(t, v, it)
		w.name(name, it.ID)
	}
}

// freshID is an id that shares its shard with no other one: what is said of a shard is said of one item.
func (n names) freshID() seal.ID {
	id := seal.NewID()
	for other := range n {
		if other[:2] == id.String()[:2] {
			return n.freshID()
		}
	}
	return id
}

// served reads every listed item: "vault/item" → its first value, with its state where that is not ok, or "damaged" where nothing
// can be opened.
func (n names) served(t *testing.T, a *vault.Account) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, v := range a.Vaults() {
		for _, m := range v.List(vault.KindItem) {
			key := n[v.ID().String()] + "/" + n[m.ID.String()]
			it, err := v.Open(m.ID)
			switch {
			case errors.Is(err, vault.ErrDamaged):
				all[key] = "damaged"
				continue
			case err != nil:
				t.Fatalf("opening %s: %v", key, err)
			}
			all[key] = string(bytesOf(t, it.Fields[0].Value))
			if it.State != vault.StateOK {
				all[key] += " (" + string(it.State) + ")"
			}
			if m.State != it.State {
				t.Errorf("%s is listed as %s and opened as %s", key, m.State, it.State)
			}
			it.Destroy()
		}
	}
	return all
}

var (
	revisionPattern = regexp.MustCompile(`-[0-9a-f]{16}\b`)
	folderPattern   = regexp.MustCompile(`\b(items/|\.d/|shard )[0-9a-f]{2}\b`)
	shardPattern    = regexp.MustCompile(`(\.d/xx)-[0-9a-f]{8}`)
	keysetPattern   = regexp.MustCompile(`\b([0-9a-f]{16})-[0-9a-f]{8}\b`)
)

// told are findings as "kind object", with "!" after the kind of an alarm and names in place of ids, sorted,
// each once.
func (n names) told(list []vault.Finding) []string {
	var out []string
	for _, f := range list {
		object := f.Object
		for id, name := range n {
			object = strings.ReplaceAll(object, id, name)
		}
		object = keysetPattern.ReplaceAllString(object, "$1")
		object = revisionPattern.ReplaceAllString(object, "")
		object = folderPattern.ReplaceAllString(object, "${1}xx")
		object = shardPattern.ReplaceAllString(object, "$1")
		mark := ""
		if f.Alarm {
			mark = "!"
		}
		out = append(out, string(f.Kind)+mark+" "+object)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// ground is the files of a copy of the world.
type ground struct {
	*testing.T
	names
	w   *world
	dir string // holds account/, A/ and B/
}

// replica is a copy of the world for one attack, and what its devices do there.
type replica struct {
	ground
	now      time.Time
	password string            // the one in force
	reads    map[string]string // what is served when nothing is wrong
}

func (w *world) replica(t *testing.T) *replica {
	t.Helper()
	r := &replica{
		ground: ground{t, maps.Clone(w.names), w, newScene(t).dir},
		now:    w.moment.Add(time.Hour), password: password, reads: w.reads,
	}
	copyTree(t, filepath.Join(w.dir, "present"), r.dir)
	return r
}

// copy is a replica of the replica.
func (r *replica) copy() *replica {
	r.Helper()
	c := *r
	c.dir = newScene(r).dir
	copyTree(r, r.dir, c.dir)
	return &c
}

// config is device A, B, or another one that holds nothing but the device secret.
func (r *replica) config(device string) vault.Config {
	r.Helper()
	cfg := vault.Config{
		AccountDir: r.path(""), StateDir: filepath.Join(r.dir, device), KDF: seal.FloorKDF(), Now: func() time.Time { return r.now },
	}
	if _, err := os.Stat(cfg.StateDir); errors.Is(err, fs.ErrNotExist) {
		if err := vault.SetDeviceSecret(cfg, r.w.kit.DeviceSecret); err != nil {
			r.Fatal(err)
		}
	}
	return cfg
}

// open unlocks the account, by the recovery code unless the password is another one than at first: that is the same but for the time.
func (r *replica) open(device string) *vault.Account {
	r.Helper()
	var a *vault.Account
	var err error
	if r.password == password {
		a, err = vault.OpenByCode(r.config(device), r.w.kit.RecoveryCode)
	} else {
		a, err = vault.Open(r.config(device), value(r, r.password))
	}
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(a.Lock)
	if _, known := r.names[a.Device().String()]; !known {
		r.name(device, a.Device())
	}
	return a
}

// as lets a device do something and locks it again.
func (r *replica) as(device string, do func(a *vault.Account)) {
	r.Helper()
	a := r.open(device)
	defer a.Lock()
	do(a)
}

// path is a path in the account directory, in which {name} stands for an id.
func (g *ground) path(pattern string) string {
	return filepath.Join(g.dir, "account", filepath.FromSlash(g.resolve(pattern)))
}

// resolve puts ids in the place of {name}.
func (n names) resolve(pattern string) string {
	for id, name := range n {
		pattern = strings.ReplaceAll(pattern, "{"+name+"}", id)
	}
	return pattern
}

// past is the same path in the account's past.
func (g *ground) past(pattern string) string {
	rel, err := filepath.Rel(g.dir, g.path(pattern))
	if err != nil {
		g.Fatal(err)
	}
	return filepath.Join(g.w.dir, "past", rel)
}

// one is the only file that fits a pattern with wildcards.
func (g *ground) one(pattern string) string {
	g.Helper()
	return g.the(g.path(pattern))
}

func (g *ground) the(path string) string {
	g.Helper()
	found, err := filepath.Glob(path)
	if err != nil || len(found) != 1 {
		g.Fatalf("%d files fit %s, want one (%v)", len(found), path, err)
	}
	return found[0]
}

// current is the file of an item's current revision, as the world was made.
func (g *ground) current(vaultName, item string) string {
	g.Helper()
	return g.revision(vaultName, item, 0)
}

// revision is the file of an item's nth revision, counted back from the current one.
func (g *ground) revision(vaultName, item string, n int) string {
	g.Helper()
	return g.one("vaults/{" + vaultName + "}/items/*/{" + item + "}-" + g.w.revs[item][n])
}

// shardOf is the file of the shard in which a device lists an item.
func (g *ground) shardOf(vaultName, device, item string) string {
	g.Helper()
	return g.one("vaults/{" + vaultName + "}/man/{" + device + "}.d/" + g.id(item)[:2] + "-*")
}

// putBack copies what fits a pattern in the past over the present, and leaves what is there besides.
func (g *ground) putBack(patterns ...string) {
	g.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(g.past(pattern))
		if err != nil || len(found) == 0 {
			g.Fatalf("nothing in the past fits %s (%v)", pattern, err)
		}
		for _, path := range found {
			rel, err := filepath.Rel(filepath.Join(g.w.dir, "past"), path)
			if err != nil {
				g.Fatal(err)
			}
			writeFile(g, filepath.Join(g.dir, rel), readFile(g, path))
		}
	}
}

func (g *ground) remove(path string) {
	g.Helper()
	if _, err := os.Lstat(path); err != nil {
		g.Fatal(err)
	}
	if err := os.RemoveAll(path); err != nil {
		g.Fatal(err)
	}
}

// flip changes one bit, counted from the start of the file or, if negative, from its end.
func (g *ground) flip(path string, bit int) {
	g.Helper()
	data := readFile(g, path)
	if bit < 0 {
		bit += 8 * len(data)
	}
	data[bit/8] ^= 0x80 >> (bit % 8)
	writeFile(g, path, data)
}

// swap exchanges the bytes of two files.
func (g *ground) swap(a, b string) {
	g.Helper()
	x, y := readFile(g, a), readFile(g, b)
	if bytes.Equal(x, y) {
		g.Fatalf("%s and %s are the same", a, b)
	}
	writeFile(g, a, y)
	writeFile(g, b, x)
}

// tree is every file below the account directory with its bytes.
func (g *ground) tree() map[string]string {
	g.Helper()
	all := map[string]string{}
	for _, name := range files(g, g.path("")) {
		all[name] = string(readFile(g, filepath.Join(g.path(""), name)))
	}
	return all
}

// undo gives the files in which two trees differ the bytes of the first again.
func (g *ground) undo(before, after map[string]string) {
	g.Helper()
	names := maps.Clone(after)
	maps.Copy(names, before)
	for name := range names {
		path := filepath.Join(g.path(""), name)
		was, had := before[name]
		is, has := after[name]
		switch {
		case had == has && was == is:
		case had:
			writeFile(g, path, []byte(was))
		default:
			if err := os.RemoveAll(path); err != nil {
				g.Fatal(err)
			}
		}
	}
}
