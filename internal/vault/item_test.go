package vault_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/vault"
)

// fullItem is an item in which no member is left at its zero value.
func fullItem(t testing.TB) *vault.Item {
	t.Helper()
	day := time.Date(2031, 2, 3, 4, 5, 6, 7_000_000, time.UTC)
	return &vault.Item{
		Meta: vault.Meta{
			Kind: vault.KindItem, Name: "Datenbank ☃ »prod«", Type: vault.TypeDatabase, Tags: []string{"prod", "a\"b\\c/", "Ünïcode 🗝"},
			Level: vault.LevelUse, Clients: map[string]vault.Level{"one": vault.LevelNone, "two": vault.LevelRead, "a \"b\"": vault.LevelAsk},
			Hosts: []vault.Host{
				{Host: "db.example.org:5432"},
				{Host: "*.example.org", Methods: []string{"GET", "POST"}, Paths: []string{"/v1/*", "/"}},
			},
			Commands: []vault.Command{{Name: "psql", Path: "/usr/bin/psql"}, {Name: "./run me", Path: "/home/a b/run me"}},
			Delivery: []vault.Delivery{vault.DeliverBroker, vault.DeliverStdin}, NeverEnv: true, MaxUses: 1<<53 - 1, Expires: day,
			Origin: vault.Origin{By: vault.ByPerson, Client: "client", Tag: "tag-1"}, Links: []seal.ID{seal.NewID(), seal.NewID()},
		},
		Fields: []vault.Field{
			{Name: "password", Concealed: true, Value: value(t, "kX9#vQ2!mZ7p")},
			{Name: "user", Type: "text", Value: value(t, "amélie"), NonSecret: vault.ByPerson},
			{Name: "user", Section: "replica", Type: "text", Value: value(t, "bob"), NonSecret: vault.ByAgent},
			{Name: "url", Section: "replica", Type: "url", Ref: "warder://personal/other/url", Level: vault.LevelAsk},
			{Name: "nothing", Concealed: true},
			{Name: "bytes", Concealed: true, Value: value(t, "\x00\xff\x00\xff")},
		},
	}
}

// likeItem compares items as callers see them.
func likeItem() cmp.Options {
	return cmp.Options{
		cmp.Comparer(func(a, b secret.Value) bool { return a.Equal(b) }),
		cmp.FilterPath(func(p cmp.Path) bool {
			f, ok := p.Last().(cmp.StructField)
			return ok && (f.Name() == "link" || f.Name() == "extra")
		}, cmp.Ignore()),
	}
}

func TestItemIsKept(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	it := fullItem(t)
	for i := range it.Fields {
		if v := reflect.ValueOf(it.Fields[i]); v.IsZero() {
			t.Fatal("a field holds nothing")
		}
	}
	save(t, firstVault(t, a), it)
	if it.ID.IsZero() || it.Rev() == (seal.Hash{}) || it.State != vault.StateOK || !it.Created.Equal(now.now) || !it.Modified.Equal(now.now) {
		t.Errorf("after Save: %+v", it.Meta)
	}
	want := *it
	keptIn := func(a *vault.Account) {
		t.Helper()
		v := firstVault(t, a)
		got, err := v.Open(it.ID)
		must(t, err)
		defer got.Destroy()
		if diff := cmp.Diff(&want, got, likeItem()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(want.Meta, meta(t, v, it.ID), likeItem()); diff != "" {
			t.Errorf("listed: %s", diff)
		}
		if got.Rev() != want.Rev() {
			t.Errorf("revision %s, not %s", got.Rev(), want.Rev())
		}
	}
	keptIn(a)
	a.Lock()
	now.pass()
	keptIn(open(t, cfg))
}

// TestItemKindsAndTypes saves one of each.
func TestItemKindsAndTypes(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	project := &vault.Item{Meta: vault.Meta{ID: seal.NewID(), Kind: vault.KindProject, Name: "shop"}}
	items := []*vault.Item{project, {Meta: vault.Meta{Kind: vault.KindStage, Name: "dev", Project: project.ID}}}
	for _, kind := range vault.Types() {
		items = append(items, &vault.Item{Meta: vault.Meta{Kind: vault.KindItem, Type: kind, Name: "a " + string(kind)}})
	}
	save(t, v, items...)
	a.Lock()
	v = firstVault(t, open(t, cfg))
	for _, it := range items {
		if m := meta(t, v, it.ID); m.Kind != it.Kind || m.Type != it.Type || m.Name != it.Name || m.Project != it.Project {
			t.Errorf("saved %+v, listed %+v", it.Meta, m)
		}
		if m, err := v.Find(it.Kind, it.Project, strings.ToUpper(it.Name)); err != nil || m.ID != it.ID {
			t.Errorf("%s %q: %v", it.Kind, it.Name, err)
		}
	}
	if n := len(v.List(vault.KindItem)); n != len(vault.Types()) {
		t.Errorf("%d items", n)
	}
	if n := len(v.List(vault.KindProject, vault.KindStage)); n != 2 {
		t.Errorf("%d projects and stages", n)
	}
	if list := v.List(vault.KindVault); len(list) != 1 || list[0].ID != v.ID() || list[0].Name != vault.DefaultVault {
		t.Errorf("the vault's own: %+v", list)
	}
}

// TestItemsThatAreRefused are those that no reader of F1 would take, or that would mean something else to one.
func TestItemsThatAreRefused(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	mine := func(change func(it *vault.Item)) *vault.Item {
		it := newItem(t, "refused", "value")
		change(it)
		return it
	}
	before := a.StateCode()
	for name, it := range map[string]*vault.Item{
		"nil":                         nil,
		"the zero item":               {},
		"no kind":                     mine(func(it *vault.Item) { it.Kind = "" }),
		"no name":                     mine(func(it *vault.Item) { it.Name = "" }),
		"a name with a slash":         mine(func(it *vault.Item) { it.Name = "a/b" }),
		"a level that is none":        mine(func(it *vault.Item) { it.Level = vault.LevelRead + 1 }),
		"a level below":               mine(func(it *vault.Item) { it.Level = -1 }),
		"a client's level":            mine(func(it *vault.Item) { it.Clients = map[string]vault.Level{"x": 9} }),
		"a field's level":             mine(func(it *vault.Item) { it.Fields[0].Level = 9 }),
		"a field without a name":      mine(func(it *vault.Item) { it.Fields[0].Name = "" }),
		"a bad section":               mine(func(it *vault.Item) { it.Fields[0].Section = "a/b" }),
		"a field twice":               mine(func(it *vault.Item) { it.Fields = append(it.Fields, vault.Field{Name: "PASSWORD"}) }),
		"fewer uses than none":        mine(func(it *vault.Item) { it.MaxUses = -1 }),
		"more uses than JSON counts":  mine(func(it *vault.Item) { it.MaxUses = 1 << 53 }),
		"a time that stands for none": mine(func(it *vault.Item) { it.Expires = time.Unix(0, 0) }),
		"a time beyond JSON":          mine(func(it *vault.Item) { it.Expires = time.Unix(1<<50, 0) }),
		"a tag that is no text":       mine(func(it *vault.Item) { it.Tags = []string{"\xff"} }),
		"a host that is no text":      mine(func(it *vault.Item) { it.Hosts = []vault.Host{{Host: "\xff"}} }),
		"a path that is no text":      mine(func(it *vault.Item) { it.Hosts = []vault.Host{{Paths: []string{"\xff"}}} }),
		"a command that is no text":   mine(func(it *vault.Item) { it.Commands = []vault.Command{{Path: "\xff"}} }),
		"a client that is no text":    mine(func(it *vault.Item) { it.Clients = map[string]vault.Level{"\xff": vault.LevelUse} }),
		"an origin that is no text":   mine(func(it *vault.Item) { it.Origin.Tag = "\xff" }),
		"a reference that is no text": mine(func(it *vault.Item) { it.Fields[0].Ref = "\xff" }),
		"a project on an item":        mine(func(it *vault.Item) { it.Project = seal.NewID() }),
		"a stage without a project":   mine(func(it *vault.Item) { it.Kind = vault.KindStage }),
		"another vault's name":        mine(func(it *vault.Item) { it.Kind = vault.KindVault }),
		"an item under the vault's":   mine(func(it *vault.Item) { it.ID = v.ID() }),
		"a value that is gone":        mine(func(it *vault.Item) { it.Fields[0].Value.Destroy() }),
		"an old value that is gone":   mine(func(it *vault.Item) { it.Fields[0].Set = time.Unix(1, 0); it.Fields[0].Value.Destroy() }),
	} {
		if err := v.Save(it); err == nil {
			t.Errorf("%s: saved", name)
		}
		// It spoils a whole batch.
		good := newItem(t, "good", "value")
		if err := v.Save(good, it); err == nil {
			t.Errorf("%s: saved beside another", name)
		}
		if len(v.List()) != 0 || a.StateCode() != before {
			t.Fatalf("%s: listed are %+v", name, v.List())
		}
	}
	save(t, v, mine(func(*vault.Item) {}))
	calm(t, a)
}

func TestValuesAreAnyBytes(t *testing.T) {
	cfg, a, _ := newAccount(t)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	random := make([]byte, 65535)
	_, _ = rand.Read(random)
	values := [][]byte{
		nil,
		{},
		{0},
		{0, 0},
		all, bytes.Repeat([]byte{0}, 300), []byte("\xff\xfe\xfd"), []byte("\r\n\n\r"), []byte(" a "),
		[]byte(`"quoted" \ {}`), []byte("\ufeff"), bytes.Repeat([]byte("a"), 65534), random,
	}
	it := newItem(t, "bytes", "")
	it.Fields = nil
	for i, b := range values {
		it.Fields = append(it.Fields, vault.Field{Name: fmt.Sprintf("field %d", i), Concealed: i%2 == 0, Value: value(t, string(b))})
	}
	save(t, firstVault(t, a), it)
	a.Lock()
	got, err := firstVault(t, open(t, cfg)).Open(it.ID)
	must(t, err)
	defer got.Destroy()
	if len(got.Fields) != len(values) {
		t.Fatalf("%d fields", len(got.Fields))
	}
	for i, b := range values {
		if !bytes.Equal(bytesOf(t, got.Fields[i].Value), b) {
			t.Errorf("field %d of %d bytes came back changed", i, len(b))
		}
	}
}

func TestValueSizes(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	save(t, v, newItem(t, "largest", strings.Repeat("x", 65535)))
	err := v.Save(newItem(t, "too large", strings.Repeat("x", 65536)))
	var size *vault.SizeError
	if !errors.As(err, &size) || size.Have != 65536 || size.Max != 65535 || !strings.Contains(size.Error(), "password") {
		t.Errorf("65536 bytes: %v", err)
	}
	// 16 values of 65535 bytes are 1.4 MB of base64.
	it := newItem(t, "too much", "")
	for i := range 16 {
		it.Fields = append(it.Fields, vault.Field{Name: fmt.Sprintf("field %d", i), Value: value(t, strings.Repeat("x", 65535))})
	}
	if err := v.Save(it); !errors.As(err, &size) || size.Max != 1<<20 || size.Have <= 1<<20 {
		t.Errorf("too much in one item: %v", err)
	}
	it.Fields = it.Fields[:12]
	save(t, v, it)
	if n := len(v.List()); n != 2 {
		t.Errorf("%d items", n)
	}
	calm(t, a)
}

// TestFileSizesTellLittle: the plaintext has one of few sizes, so a file's size tells them apart and no more.
func TestFileSizesTellLittle(t *testing.T) {
	const overhead = 8 + 2 + 2 + 100 + 24 + 16 // clear part, nonce and tag (F1.3)
	sizes := map[int]bool{256: true, 1024: true, 4096: true, 16384: true}
	for s := 16384; s < 1<<21; {
		s += s / 4
		sizes[s] = true
	}
	for _, s := range []int{20480, 25600, 32000, 40000, 50000, 62500, 78125, 97656} {
		if !sizes[s] {
			t.Fatalf("%d is not among the sizes", s)
		}
	}
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	sizeOf := func(n int) int {
		it := newItem(t, fmt.Sprintf("with %06d", n), strings.Repeat("x", n))
		save(t, v, it)
		list := itemFiles(t, cfg, it.ID)
		if len(list) != 1 {
			t.Fatalf("files %q", list)
		}
		info, err := os.Stat(filepath.Join(cfg.AccountDir, list[0]))
		must(t, err)
		padded := int(info.Size()) - overhead
		if !sizes[padded] {
			t.Errorf("a value of %d bytes makes a plaintext of %d", n, padded)
		}
		if padded < n*4/3 {
			t.Errorf("a value of %d bytes in a plaintext of %d", n, padded)
		}
		return padded
	}
	for _, near := range [][]int{{1, 20}, {250, 251, 400}, {900, 1500, 2000}, {4000, 8000, 11000}, {12500, 13500, 14000}, {30000, 30100}, {65000, 65535}} {
		want := sizeOf(near[0])
		for _, n := range near[1:] {
			if got := sizeOf(n); got != want {
				t.Errorf("values of %d and %d bytes are told apart: %d and %d", near[0], n, want, got)
			}
		}
	}
}

func TestStrengthAndTimeAreNoted(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	v := firstVault(t, a)
	it := newItem(t, "item", "password1")
	it.Fields = append(it.Fields, vault.Field{Name: "user", Value: value(t, "amélie")}, vault.Field{Name: "none"})
	save(t, v, it)
	made := now.now
	noted := func(n int, score int, set time.Time) {
		t.Helper()
		got, err := v.Open(it.ID)
		must(t, err)
		defer got.Destroy()
		if f := got.Fields[n]; f.Score != score || !f.Set.Equal(set) {
			t.Errorf("field %q: strength %d set %s, want %d %s", f.Name, f.Score, f.Set, score, set)
		}
	}
	weak, strong := secret.Strength([]byte("password1")), secret.Strength([]byte(otherPassword))
	if weak >= strong || strong == 0 {
		t.Fatalf("strengths %d and %d", weak, strong)
	}
	noted(0, weak, made)
	noted(1, 0, made) // not concealed, so nobody's password
	noted(2, 0, time.Time{})

	now.pass()
	it.Name = "renamed"
	save(t, v, it)
	noted(0, weak, made)
	it.Field("", "PASSWORD").Put(value(t, otherPassword))
	if f := it.Fields[0]; f.Score != 0 || !f.Set.IsZero() {
		t.Errorf("after Put: %d %s", f.Score, f.Set)
	}
	now.pass()
	save(t, v, it)
	noted(0, strong, now.now)
	noted(1, 0, made)
}

// TestPutTakesOver: the former value is wiped and a reference is dropped.
func TestPutTakesOver(t *testing.T) {
	old, fresh := value(t, "old"), value(t, "new")
	f := vault.Field{Value: old, Ref: "warder://a/b/c"}
	f.Put(fresh)
	if err := old.Use(func([]byte) {}); !errors.Is(err, secret.ErrDestroyed) {
		t.Errorf("the former value: %v", err)
	}
	if f.Ref != "" || !f.Value.Equal(fresh) {
		t.Error("the field holds something else")
	}
}

// TestTimesOfAnItem: made once, modified with each save, whoever holds the item.
func TestTimesOfAnItem(t *testing.T) {
	now := newClock()
	cfg := config(t.TempDir())
	cfg.Now = now.Now
	a, _ := create(t, cfg)
	v := firstVault(t, a)
	it := newItem(t, "item", "1")
	save(t, v, it)
	made := now.now
	for range 3 {
		now.pass()
		save(t, v, it)
		now.pass()
		change(t, v, it.ID, "2")
		again, err := v.Open(it.ID)
		must(t, err)
		it.Destroy()
		it = again
		if m := meta(t, v, it.ID); !m.Created.Equal(made) || !m.Modified.Equal(now.now) || !it.Created.Equal(made) {
			t.Errorf("created %s, modified %s, opened %s", m.Created, m.Modified, it.Created)
		}
	}
	it.Destroy()
}

// TestTimesInMemoryAreThoseOfTheFile: a list says the same before and after unlocking again.
func TestTimesInMemoryAreThoseOfTheFile(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678_912_345, time.FixedZone("", 3600)) }
	a, _ := create(t, cfg)
	it := newItem(t, "item", "1")
	save(t, firstVault(t, a), it)
	must(t, firstVault(t, a).Trash(it.ID, vault.Origin{}))
	before := meta(t, firstVault(t, a), it.ID)
	a.Lock()
	after := meta(t, firstVault(t, open(t, cfg)), it.ID)
	if before.Created != after.Created || before.Modified != after.Modified || before.Trashed != after.Trashed {
		t.Errorf("created %s modified %s trashed %s, then %s, %s, %s",
			before.Created, before.Modified, before.Trashed, after.Created, after.Modified, after.Trashed)
	}
}

// TestListIsACopy: what a caller does to a list is not done to the vault.
func TestListIsACopy(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := fullItem(t)
	save(t, v, it)
	want := it.Meta
	for _, m := range []vault.Meta{v.List()[0], meta(t, v, it.ID), mustFind(t, v, it.Name)} {
		m.Tags[0], m.Clients["one"], m.Hosts[0].Host, m.Commands[0].Path, m.Delivery[0] = "x", vault.LevelRead, "x", "x", "x"
		m.Hosts[1].Methods[0], m.Hosts[1].Paths[0], m.Links[0] = "x", "x", seal.ID{}
		want := *fullItem(t)
		got := meta(t, v, it.ID)
		got.ID, got.Created, got.Modified, got.State = seal.ID{}, time.Time{}, time.Time{}, ""
		got.Links, want.Links = nil, nil
		if diff := cmp.Diff(want.Meta, got, likeItem()); diff != "" {
			t.Fatal(diff)
		}
		if got := meta(t, v, it.ID); got.Links[0].IsZero() {
			t.Fatal("a link was changed")
		}
	}
	if it.ID != want.ID {
		t.Error("the item was changed")
	}
}

func mustFind(t testing.TB, v *vault.Vault, name string) vault.Meta {
	t.Helper()
	m, err := v.Find(vault.KindItem, seal.ID{}, name)
	must(t, err)
	return m
}

// TestC26_C29_WhoSaidIt: what an agent declared stays an agent's word, whoever saves the item next, and one undo takes an agent's act back.
func TestC26_C29_WhoSaidIt(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "by an agent", "1")
	it.Level, it.Origin = vault.LevelUse, vault.Origin{By: vault.ByAgent, Client: "client", Tag: "act"}
	it.Fields = append(it.Fields,
		vault.Field{Name: "agent", NonSecret: vault.ByAgent, Value: value(t, "x")}, vault.Field{Name: "person", Value: value(t, "y")})
	save(t, v, it)
	it.Fields[2].NonSecret, it.Origin = vault.ByPerson, vault.Origin{By: vault.ByPerson}
	save(t, v, it)
	it.Level, it.Origin = vault.LevelAsk, vault.Origin{By: vault.ByAgent, Client: "client", Tag: "act"}
	save(t, v, it)
	a.Lock()
	a = open(t, cfg)
	v = firstVault(t, a)
	if m := meta(t, v, it.ID); m.Origin != (vault.Origin{By: vault.ByAgent, Client: "client", Tag: "act"}) {
		t.Errorf("origin %+v", m.Origin)
	}
	n, err := v.Undo("act", vault.Origin{By: vault.ByPerson})
	must(t, err)
	if m := meta(t, v, it.ID); n != 1 || m.Level != vault.LevelUse {
		t.Errorf("%d taken back, the level is %s", n, m.Level)
	}
	got, err := v.Open(it.ID)
	must(t, err)
	defer got.Destroy()
	if got.Field("", "agent").NonSecret != vault.ByAgent || got.Field("", "person").NonSecret != vault.ByPerson || got.Fields[0].NonSecret != "" {
		t.Errorf("%+v", got.Fields)
	}
	if got.Origin != (vault.Origin{By: vault.ByPerson}) {
		t.Errorf("origin %+v", got.Origin)
	}
}
