package daemon

import (
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/vault"
)

// addTo stores an item with fields, each of them secret, in a vault.
func addTo(s *scene, vaultName, name, level string, fields ...string) {
	s.t.Helper()
	in := api.ItemAdd{Vault: vaultName, Name: name, Type: "other", Level: level}
	var values []string
	for _, path := range fields {
		section, field, sectioned := strings.Cut(path, "/")
		if !sectioned {
			section, field = "", path
		}
		in.Fields = append(in.Fields, api.FieldIn{Section: section, Name: field, Concealed: true})
		values = append(values, token)
	}
	s.ok(s.do(person(), api.OpItemAdd, in, values...), nil)
}

// newVault makes a vault beside the default one.
func newVault(s *scene, name string) {
	s.t.Helper()
	_, err := s.account.CreateVault(name)
	must(s.t, err)
}

// TestAddresses: what lists, messages and references print is understood by every command that takes an item.
func TestAddresses(t *testing.T) {
	s := newScene(t)
	newVault(s, "team")
	addTo(s, "personal", "db", "use", "password", "net/port", "a/twice", "b/twice")
	addTo(s, "team", "mail", "use", "password")
	ops := map[string]func(name string) any{
		api.OpItemShow:    func(n string) any { return api.ItemShow{Name: n} },
		api.OpItemCheck:   func(n string) any { return api.ItemCheck{Name: n} },
		api.OpItemHistory: func(n string) any { return api.ItemName{Name: n} },
		api.OpItemEdit:    func(n string) any { return api.ItemEdit{Name: n, Tags: &[]string{}} },
	}
	for op, in := range ops {
		for _, name := range []string{"db", "DB", "personal/db", "Personal/DB", "warder://personal/db", "team/mail", "mail"} {
			s.ok(s.do(person(), op, in(name)), nil)
		}
		for name, code := range map[string]api.Code{
			"": api.Usage, "a//b": api.Usage, "/": api.Usage, "op://personal/db": api.Usage, "personal/nothing": api.NotFound,
			"nowhere/db": api.NotFound, "team/db": api.NotFound, "warder://team/db": api.NotFound,
		} {
			s.refused(s.do(person(), op, in(name)), code)
		}
		for _, name := range []string{"personal/db/password", "warder://personal/db/net/port", "personal/db/net/port", "db/net/port", "db/port"} {
			res := s.do(person(), op, in(name))
			if takesField := op == api.OpItemShow || op == api.OpItemCheck; takesField != (res.err == nil) {
				t.Errorf("%s of the field %s: %+v", op, name, res.err)
			}
		}
	}

	// A vault that is named apart must be the one that the text names.
	s.ok(s.do(person(), api.OpItemCheck, api.ItemCheck{Vault: "team", Name: "team/mail"}), nil)
	s.ok(s.do(person(), api.OpItemCheck, api.ItemCheck{Vault: "team", Name: "mail/password"}), nil)
	s.refused(s.do(person(), api.OpItemCheck, api.ItemCheck{Vault: "personal", Name: "warder://team/mail"}), api.NotFound)

	s.ok(s.do(person(), api.OpItemRemove, api.ItemName{Name: "warder://team/mail"}), nil)
	s.ok(s.do(person(), api.OpItemHistory, api.ItemName{Name: "team/mail"}), nil) // from the trash
	s.refused(s.do(person(), api.OpItemHistory, api.ItemName{Name: "personal/mail"}), api.NotFound)
}

// TestAddressesInProjects: links and references take the same, and a reference is kept as one.
func TestAddressesInProjects(t *testing.T) {
	s := newScene(t)
	addTo(s, "personal", "db", "use", "password", "net/port")
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Level: "use"}), nil)
	for _, name := range []string{"personal/db", "warder://personal/db", "db"} {
		s.ok(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "shop", Item: name}), nil)
		s.ok(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: "shop", Item: name, Remove: true}), nil)
	}
	for _, ref := range []string{"warder://personal/db/net/port", "personal/db/net/port", "db/port"} {
		set := api.StageSet{Project: "shop", Stage: "dev", Set: []api.VariableIn{{Name: "PORT", Ref: ref, Concealed: true}}}
		s.ok(s.do(person(), api.OpProjectSet, set), nil)
		var shown api.ProjectShown
		s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), &shown)
		if got := shown.Detail[0].Variables[0].Ref; got != "warder://personal/db/net/port" {
			t.Errorf("%s is kept as %q", ref, got)
		}
	}
	for _, project := range []string{"personal/shop", "PERSONAL/Shop"} {
		s.ok(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: project, Stage: "dev"}), nil)
		s.ok(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: project, Item: "db"}), nil)
		s.ok(s.do(person(), api.OpProjectLink, api.ProjectLink{Project: project, Item: "db", Remove: true}), nil)
	}
	for _, project := range []string{"nowhere/shop", "personal/none", "personal/"} {
		s.refused(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: project}), api.NotFound)
	}
	s.refused(s.do(person(), api.OpProjectSet, api.StageSet{
		Project: "shop", Stage: "dev", Set: []api.VariableIn{{Name: "PORT", Ref: "personal/db", Concealed: true}},
	}), api.Usage)
}

// TestShowOfAField: a reference shows the one field that it names, with its value only after a proof.
func TestShowOfAField(t *testing.T) {
	s := newScene(t)
	addTo(s, "personal", "db", "use", "password", "net/port")
	var out api.ItemShown
	s.ok(s.do(agent(), api.OpItemShow, api.ItemShow{Name: "warder://personal/db/net/port"}), &out)
	if len(out.Fields) != 1 || out.Fields[0].Name != "port" || out.Field != "net/port" {
		t.Errorf("shown: %+v", out)
	}
	reveal := api.ItemShow{Name: "db/password", Reveal: true}
	s.refused(s.do(agent(), api.OpItemShow, reveal), api.Denied)
	s.refused(s.do(person(), api.OpItemShow, reveal), api.NeedsApproval)
	reveal.Presence = true
	res := s.do(person(), api.OpItemShow, reveal, masterPassword)
	if s.ok(res, &out); len(res.values) != 1 || out.Field != "password" {
		t.Errorf("%d values of %q", len(res.values), out.Field)
	}
	reveal.Field = "net/port"
	s.refused(s.do(person(), api.OpItemShow, reveal, masterPassword), api.Usage)
}

// TestAmbiguousAddresses: what means several things is refused, and each of these stands in the message as it can be written.
func TestAmbiguousAddresses(t *testing.T) {
	s := newScene(t)
	newVault(s, "team")
	addTo(s, "personal", "db", "use", "password")
	addTo(s, "personal", "personal", "use", "db", "db/password") // "personal/db" and "personal/db/password" are its, too
	addTo(s, "team", "db", "none", "password")
	addTo(s, "team", "twice", "use", "a/x", "b/x")
	for text, want := range map[string][]string{
		"db":                   {"personal/db", "team/db"},
		"personal/db":          {"warder://personal/db", "warder://personal/personal/db"},
		"personal/db/password": {"warder://personal/db/password", "warder://personal/personal/db/password"},
		"twice/x":              {"warder://team/twice/a/x", "warder://team/twice/b/x"},
	} {
		res := s.do(person(), api.OpItemCheck, api.ItemCheck{Name: text})
		s.refused(res, api.Usage)
		for _, name := range want {
			if !strings.Contains(res.err.Message, name) {
				t.Errorf("%s: %q does not name %s", text, res.err.Message, name)
			}
			if strings.HasPrefix(name, vault.RefScheme) {
				s.ok(s.do(person(), api.OpItemCheck, api.ItemCheck{Name: name}), nil)
			}
		}
	}
	s.ok(s.do(person(), api.OpItemHistory, api.ItemName{Name: "personal/db"}), nil) // no field has a history
	s.ok(s.do(person(), api.OpItemShow, api.ItemShow{Name: "warder://personal/db"}), nil)
	s.refused(s.do(person(), api.OpItemRemove, api.ItemName{Name: "db"}), api.Usage)
	// For an agent team/db is not there, so nothing is ambiguous.
	s.ok(s.do(agent(), api.OpItemCheck, api.ItemCheck{Name: "db"}), nil)
}

// TestS2_29_OneAnswerForAddresses: in every form, what is hidden from an agent is answered as what is not there.
func TestS2_29_OneAnswerForAddresses(t *testing.T) {
	s := newScene(t)
	newVault(s, "hidden")
	addTo(s, "personal", "nothing", "none", "token")
	addTo(s, "personal", "plain", "", "token")
	addTo(s, "hidden", "plain", "none", "token")
	for _, who := range []*client{agent(), subagent(), unknown()} {
		for op, in := range map[string]func(name string) any{
			api.OpItemShow:    func(n string) any { return api.ItemShow{Name: n} },
			api.OpItemCheck:   func(n string) any { return api.ItemCheck{Name: n} },
			api.OpItemHistory: func(n string) any { return api.ItemName{Name: n} },
			api.OpItemRemove:  func(n string) any { return api.ItemName{Name: n} },
			api.OpItemEdit:    func(n string) any { return api.ItemEdit{Name: n, Rename: "other"} },
			api.OpProjectLink: func(n string) any { return api.ProjectLink{Item: n, Project: "shop"} },
		} {
			for _, form := range []string{"personal/NAME", "warder://personal/NAME", "NAME/token"} {
				s.sameAnswers(who, op, func(n string) any { return in(strings.ReplaceAll(form, "NAME", n)) }, "missing", "nothing", "plain")
			}
			s.sameAnswers(who, op, func(n string) any { return in(n + "/plain") }, "nowhere", "hidden")
			if op == api.OpItemShow || op == api.OpItemCheck {
				s.sameAnswers(who, op, func(n string) any { return in("warder://personal/" + n + "/token") }, "missing", "nothing", "plain")
				s.sameAnswers(who, op, func(n string) any { return in("warder://" + n + "/plain/token") }, "nowhere", "hidden")
			}
		}
	}
}

// TestHintsOfWhatIsMissing: whoever named what is not there is told the command that lists what is.
func TestHintsOfWhatIsMissing(t *testing.T) {
	s := newScene(t)
	s.add(person(), "db", "", token)
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "dev"}), nil)
	for _, row := range []struct {
		op   string
		in   any
		hint string
	}{
		{api.OpItemShow, api.ItemShow{Name: "x"}, "warder item list"},
		{api.OpItemShow, api.ItemShow{Name: "x", Vault: "none"}, "the vaults, before the names of what they hold: warder item list"},
		{api.OpItemCheck, api.ItemCheck{Name: "db/x"}, "warder item show personal/db"},
		{api.OpItemEdit, api.ItemEdit{Name: "db", Unset: []string{"x"}}, "warder item show personal/db"},
		{api.OpItemUndo, api.ItemUndo{Tag: "x"}, "warder item history ITEM"},
		{api.OpProjectShow, api.ProjectShowIn{Project: "x"}, "warder project list"},
		{api.OpProjectShow, api.ProjectShowIn{Project: "shop", Stage: "x"}, "warder project show shop"},
		{api.OpProjectUnset, api.StageUnset{Project: "shop", Stage: "dev", Names: []string{"X"}}, "warder project show PROJECT"},
		{api.OpProjectLink, api.ProjectLink{Project: "x", Item: "db"}, "warder project list"},
	} {
		res := s.do(person(), row.op, row.in)
		s.refused(res, api.NotFound)
		if !strings.HasSuffix(res.err.Hint, row.hint) {
			t.Errorf("%s of %+v: the hint is %q", row.op, row.in, res.err.Hint)
		}
	}
	res := s.do(person(), api.OpItemList, api.ItemListIn{Type: "x"})
	if s.refused(res, api.Usage); !strings.Contains(res.err.Message, "api-token") {
		t.Errorf("an unknown type: %q", res.err.Message)
	}
}
