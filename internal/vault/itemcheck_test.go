package vault_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

// badContents are changes that make of an item one whose form is right and that says what it must not, with a word of the reason.
func badContents(t testing.TB) map[string]struct {
	change func(it *vault.Item)
	reason string
} {
	host := func(h string) func(*vault.Item) {
		return func(it *vault.Item) { it.Hosts = append(it.Hosts, vault.Host{Host: h}) }
	}
	command := func(name, path string) func(*vault.Item) {
		return func(it *vault.Item) { it.Commands = append(it.Commands, vault.Command{Name: name, Path: path}) }
	}
	ref := func(r string) func(*vault.Item) {
		return func(it *vault.Item) { it.Fields = append(it.Fields, vault.Field{Name: "ref", Ref: r}) }
	}
	tag := func(s string) func(*vault.Item) { return func(it *vault.Item) { it.Tags = append(it.Tags, s) } }
	client := func(s string) func(*vault.Item) {
		return func(it *vault.Item) { it.Clients = map[string]vault.Level{s: vault.LevelUse} }
	}
	return map[string]struct {
		change func(it *vault.Item)
		reason string
	}{
		"an unknown type":              {func(it *vault.Item) { it.Type = "passkey" }, "type"},
		"an unknown origin":            {func(it *vault.Item) { it.Origin.By = "robot" }, "origin"},
		"an unknown way":               {func(it *vault.Item) { it.Delivery = []vault.Delivery{"pigeon"} }, "delivery"},
		"env and never env":            {func(it *vault.Item) { it.NeverEnv, it.Delivery = true, []vault.Delivery{vault.DeliverEnv} }, "never-env"},
		"no host":                      {host(""), "host number 1"},
		"a host with a scheme":         {host("https://example.org"), "scheme"},
		"a host with another scheme":   {host("https:example.org"), "scheme"},
		"a host with a path":           {host("example.org/a"), "path"},
		"a host with a user":           {host("me@example.org"), "host"},
		"a host with a control":        {host("example.org\n"), "host"},
		"a host with a space":          {host("example .org"), "host"},
		"a host with a word as port":   {host("example.org:https"), "port"},
		"a host with no port":          {host("example.org:"), "port"},
		"a zone of this machine":       {host("fe80::1%eth0"), "host"},
		"a command without a name":     {command("", "/bin/x"), "command"},
		"a command without a path":     {command("x", ""), "absolute"},
		"a command by PATH":            {command("x", "x"), "absolute"},
		"a command below here":         {command("x", "./x"), "absolute"},
		"a mark of nobody":             {func(it *vault.Item) { it.Fields[0].NonSecret = "everybody" }, "nobody"},
		"no scheme":                    {ref("personal/item/field"), "warder://"},
		"another scheme":               {ref("op://personal/item/field"), "warder://"},
		"a reference to an item":       {ref("warder://personal/item"), "warder://"},
		"a reference with a part more": {ref("warder://personal/item/section/field/x"), "warder://"},
		"a reference with a gap":       {ref("warder://personal//field"), "warder://"},
		"a reference with a control":   {ref("warder://personal/item/fi\neld"), "warder://"},
		"an empty tag":                 {tag(""), "tag number 1"},
		"a tag with a control":         {tag("a\x1b[2Jb"), "tag"},
		"an invisible tag":             {tag("\u200b"), "tag"},
		"an empty client":              {client(""), "client"},
		"a client with a control":      {client("a\tb"), "client"},
		"C-09: one byte for hosts":     {func(it *vault.Item) { host("example.org")(it); it.Fields[0].Put(value(t, "1")) }, "at least 4"},
		"C-09: three bytes for hosts":  {func(it *vault.Item) { host("example.org")(it); it.Fields[0].Put(value(t, "123")) }, "hosts away"},
	}
}

func TestContentThatIsRefused(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	before := a.StateCode()
	for name, bad := range badContents(t) {
		it := newItem(t, "refused", "value")
		bad.change(it)
		err := v.Save(it)
		refused := new(vault.ContentError)
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), bad.reason) {
			t.Errorf("%s: %v, want %q", name, err, bad.reason)
		}
		if a.StateCode() != before {
			t.Fatalf("%s: saved", name)
		}
	}
}

func TestContentThatIsTaken(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	it := newItem(t, "taken", "1234") // C-09: the least for hosts
	for _, h := range []string{
		"example.org", "example.org:8443", "*.example.org", "localhost", "127.0.0.1", "127.0.0.1:80", "::1", "[::1]", "[2001:db8::1]:443", "bücher.example", "a_b",
	} {
		it.Hosts = append(it.Hosts, vault.Host{Host: h})
	}
	it.Fields = append(it.Fields,
		vault.Field{Name: "empty", Concealed: true}, vault.Field{Name: "user", Value: value(t, "me")}, // neither can be masked, nor need be
		vault.Field{Name: "ref 1", Ref: "warder://personal/an item/password"}, vault.Field{Name: "ref 2", Ref: "warder://personal/item/section/Ünï"},
		vault.Field{Name: "imported", NonSecret: vault.ByImport, Value: value(t, "x")},
	)
	it.Delivery = vault.Deliveries()
	it.Commands = []vault.Command{{Name: "./run me", Path: "/home/a b/run me"}}
	save(t, v, it)
	short := newItem(t, "short", "123") // without hosts
	save(t, v, short)
	plain := newItem(t, "no type", "value")
	plain.Type, plain.NeverEnv, plain.Delivery = "", true, []vault.Delivery{vault.DeliverFile}
	save(t, v, plain)
}

// TestContentOfOthersIsKept: what the item held before, because a later version or a laxer one wrote it, is no reason to refuse a write.
func TestContentOfOthersIsKept(t *testing.T) {
	oneThread(t)
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	for name, bad := range badContents(t) {
		if name == "an unknown origin" {
			continue // each write has its own
		}
		it := newItem(t, "of a later version", "value")
		bad.change(it)
		vault.SaveUnjudged(t, v, it)
		got, err := v.Open(it.ID)
		must(t, err)
		got.Level = vault.LevelAsk
		if err := v.Save(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		bad.change(got)
		got.Hosts = slices.Insert(got.Hosts, 0, vault.Host{Host: "a host/with a path"})
		if err := v.Save(got); err == nil {
			t.Errorf("%s: it lets another fault in", name)
		}
		got.Destroy()
		must(t, v.Trash(it.ID, vault.Origin{By: vault.ByPerson}))
		must(t, v.Restore(it.ID, vault.Origin{By: vault.ByPerson}))
		must(t, v.Purge(it.ID))
	}
	a.Lock()
	calm(t, open(t, cfg))
}

// TestC29_AnAgentCanNotSpeakForAPerson: that a value is no secret is a person's word on that value, whoever writes the item next.
func TestC29_AnAgentCanNotSpeakForAPerson(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	agent, person := vault.Origin{By: vault.ByAgent, Client: "client"}, vault.Origin{By: vault.ByPerson}
	it := newItem(t, "item", "value")
	it.Fields = append(it.Fields, vault.Field{Name: "user", Value: value(t, "me"), NonSecret: vault.ByPerson})
	it.Origin = agent
	refused := func(what string, it *vault.Item) {
		t.Helper()
		if err := v.Save(it); !errors.As(err, new(*vault.ContentError)) || !strings.Contains(err.Error(), "person") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("a new item", it)
	it.Origin = person
	save(t, v, it)
	marked := it.Rev()

	edited := func(change func(it *vault.Item)) *vault.Item {
		t.Helper()
		it, err := v.Open(it.ID)
		must(t, err)
		t.Cleanup(it.Destroy)
		it.Origin = agent
		change(it)
		return it
	}
	refused("a mark on another field", edited(func(it *vault.Item) { it.Fields[0].NonSecret = vault.ByPerson }))
	refused("another value under the mark", edited(func(it *vault.Item) { it.Fields[1].Put(value(t, "the password")) }))
	refused("another field under its name", edited(func(it *vault.Item) {
		it.Fields[0].Name, it.Fields[1].Name = "user", "x"
		it.Fields[0].NonSecret, it.Fields[1].NonSecret = vault.ByPerson, ""
	}))
	refused("a reference under the mark", edited(func(it *vault.Item) { it.Fields[1].Ref = "warder://personal/other/password" }))
	save(t, v, edited(func(it *vault.Item) { it.Tags = []string{"by an agent"} })) // the mark stays a person's
	save(t, v, edited(func(it *vault.Item) { it.Fields[1].NonSecret = vault.ByAgent; it.Origin.Tag = "act" }))
	if err := v.Revert(it.ID, marked, agent); !errors.As(err, new(*vault.ContentError)) {
		t.Errorf("reverting to the mark: %v", err)
	}
	if _, err := v.Undo("act", agent); !errors.As(err, new(*vault.ContentError)) {
		t.Errorf("undoing its end: %v", err)
	}
	_, err := v.Undo("act", person)
	must(t, err)
	if got, err := v.Open(it.ID); err != nil || got.Field("", "user").NonSecret != vault.ByPerson {
		t.Errorf("a person's undo: %v", err)
	} else {
		got.Destroy()
	}
	must(t, v.Trash(it.ID, agent)) // takes nothing in
}

// TestVariableNames: what a .env file may hold is kept as it is; what it can't hold is no variable of a stage.
func TestVariableNames(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	good := []string{"A", "a", "_", "A_1", "A.b", "a-b", "1A", "A..b", strings.Repeat("x", 128)}
	var set []vault.Field
	for _, name := range good {
		set = append(set, variables(t, name, "value")...)
	}
	planned(t, a, v, vault.StageChange{Project: "shop", Stage: "dev", Set: set})
	code := a.StateCode()
	for _, name := range []string{"ü", "A B", "A=B", "$A", "A:b", "Ａ", "A\u200b"} {
		change := vault.StageChange{Project: "shop", Stage: "dev", Set: variables(t, name, "value")}
		if _, err := v.PlanStage(change); err == nil {
			t.Errorf("%q: planned", name)
		}
		if _, err := v.ChangeStage(change); err == nil {
			t.Errorf("%q: set", name)
		}
	}
	if a.StateCode() != code {
		t.Error("something was changed")
	}
	// A name of another version can be unset.
	p, err := v.Find(vault.KindProject, seal.ID{}, "shop")
	must(t, err)
	vault.SaveUnjudged(t, v, &vault.Item{
		Meta:   vault.Meta{Kind: vault.KindStage, Name: "old", Project: p.ID},
		Fields: variables(t, "A B", "value", "B", "value"),
	})
	planned(t, a, v, vault.StageChange{Project: "shop", Stage: "old", Set: variables(t, "B", "2")})
	planned(t, a, v, vault.StageChange{Project: "shop", Stage: "old", Unset: []string{"A B"}})
}
