package daemon

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/testkit"
)

// TestCanary stores values in every way there is, does every act with them that needs no presence, and looks for them in every
// answer and error, in the log, and in the account's and the device's files.
func TestCanary(t *testing.T) {
	s := newScene(t)
	var canaries []testkit.Canary
	canary := func(name string) string {
		text := name + "-" + rand.Text()
		canaries = append(canaries, testkit.Canary{Name: name, Value: []byte(text)})
		return text
	}
	var answers []byte
	do := func(who *client, op string, in any, values ...string) {
		res := s.do(who, op, in, values...)
		answers = append(append(answers, res.json...), '\n')
		for _, v := range res.values {
			answers = append(answers, v...)
		}
		if res.err != nil {
			text, err := json.Marshal(res.err)
			must(t, err)
			answers = append(answers, text...)
		}
	}
	callers := []*client{person(), agent(), subagent(), unknown()}
	for i, who := range callers {
		name := string(rune('a' + i))
		field := []api.FieldIn{{Name: "token", Concealed: true}}
		do(who, api.OpItemAdd, api.ItemAdd{Name: name, Type: "other", Level: "use", Fields: field}, canary("added"))
		do(who, api.OpItemEdit, api.ItemEdit{Name: name, Set: field}, canary("edited"))
		do(who, api.OpItemAdd, api.ItemAdd{Name: name, Type: "other", Level: "use", Fields: field}, canary("refused"))
		do(who, api.OpItemAdd, api.ItemAdd{Name: "no/name", Fields: field}, canary("unstorable"))
		do(who, api.OpProjectSet, set("p"+name, "dev", "use", "X"), canary("set"))
		do(who, api.OpProjectSet, set("p"+name, "dev", "use", "LD_PRELOAD"), canary("unsafe"))
		in := api.Import{File: ".env", Project: "p" + name, Stage: "dev"}
		do(who, api.OpImport, in, "Y='"+canary("imported")+"'\n# "+canary("comment"))
		do(who, api.OpImport, in, "Y='"+canary("torn")+"\n")
		do(who, api.OpImport, in, canary("line"))
		in.DryRun = true
		do(who, api.OpImport, in, "Z="+canary("dry"))
		show := api.ItemShow{Name: name, Reveal: true}
		do(who, api.OpItemShow, show)
		show.Presence = true
		do(who, api.OpItemShow, show, canary("wrong password"))
		s.carries = canary("new password")
		do(who, api.OpPasswd, api.Passwd{Act: show.Act}, canary("old password"))
		s.now = s.now.Add(1e11)
	}
	for _, who := range callers {
		do(who, api.OpItemList, api.ItemListIn{})
		do(who, api.OpItemHistory, api.ItemName{Name: "a"})
		do(who, api.OpItemShow, api.ItemShow{Name: "a"})
		do(who, api.OpItemCheck, api.ItemCheck{Name: "a"})
		do(who, api.OpProjectShow, api.ProjectShowIn{Project: "pa"})
		do(who, api.OpExport, api.Export{Format: "json"})
		do(who, api.OpRepairList, nil)
		do(who, api.OpAuditTail, api.AuditTail{N: 10_000})
	}
	s.carries = canary("correct horse battery staple")
	search := testkit.NewSearch(t, canaries...)
	search.RequireCleanBytes(t, "the answers", answers)
	search.RequireClean(t, s.dir)

	// With presence the value comes, and as a value only.
	res := s.do(person(), api.OpItemShow, api.ItemShow{Act: api.Act{Presence: true}, Name: "a", Reveal: true}, masterPassword)
	s.ok(res, nil)
	if len(res.values) != 1 || !strings.HasPrefix(res.values[0], "edited-") {
		t.Errorf("%d values", len(res.values))
	}
	search.RequireCleanBytes(t, "the answer", res.json)
	s.ok(s.do(person(), api.OpPasswd, api.Passwd{Act: api.Act{Presence: true}}, masterPassword), nil)
	search.RequireClean(t, s.dir)
}
