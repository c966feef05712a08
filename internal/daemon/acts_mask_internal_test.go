package daemon

import (
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/caller"
)

// strongValue makes a value that nobody guesses.
func strongValue() string { return rand.Text() }

// maskText has texts masked: the pieces of the first, and of a second behind "|".
func maskText(s *scene, who *client, in api.MaskBegin, pieces ...string) (shown string, res result) {
	s.t.Helper()
	s.pieces = nil
	text := 0
	for _, p := range append(pieces, "|") {
		if p == "|" {
			s.pieces = append(s.pieces, frame.Piece{Text: text, Last: true})
			text++
			continue
		}
		s.pieces = append(s.pieces, frame.Piece{Text: text, Bytes: []byte(p)})
	}
	res = s.do(who, api.OpMask, in)
	return strings.Join(s.heard[:text], "|"), res
}

// wantMasked wants a text to be shown in a way.
func wantMasked(s *scene, who *client, in api.MaskBegin, text, want string) {
	s.t.Helper()
	shown, res := maskText(s, who, in, text)
	s.ok(res, nil)
	if shown != want {
		s.t.Errorf("%s sees %q of %q, want %q", who.id.Verdict, shown, text, want)
	}
}

// TestMaskWhat: a person's output is hidden by all that is concealed, an agent's by what says nothing and by what it was lent, under the names
// that each knows.
func TestMaskWhat(t *testing.T) {
	s := newScene(t)
	open, closed, pin, word := strongValue(), strongValue(), "p1N!", "dragonfly"
	s.add(person(), "open", "use", open)
	s.add(person(), "closed", "none", closed)
	s.add(person(), "pin", "use", pin)
	s.add(person(), "word", "use", word)
	user := "someone-with-a-name"
	var out api.ItemAdded
	second := strongValue()
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{Name: "login", Level: "use", Fields: []api.FieldIn{
		{Name: "user"}, {Name: "password", Concealed: true}, {Name: "key", Section: "api", Concealed: true},
	}}, user, "abc", second), &out)
	staged := strongValue()
	s.ok(s.do(person(), api.OpProjectStage, api.StageIn{Project: "shop", Stage: "test", Level: "use"}), nil)
	s.ok(s.do(person(), api.OpProjectSet, api.StageSet{Project: "shop", Stage: "test", Set: []api.VariableIn{{Name: "SHOP_KEY", Concealed: true}}}, staged), nil)
	text := strings.Join([]string{open, closed, pin, word, user, "abc", second, staged}, " ")
	all := api.MaskBegin{}
	wantMasked(s, person(), all, text, "****(open) ****(closed) ****(pin) ****(word) "+user+" abc ****(login/api/key) ****(SHOP_KEY)")
	forAgent := "****(open) **** p1N! dragonfly " + user + " abc ****(login/api/key) ****(SHOP_KEY)"
	wantMasked(s, agent(), all, text, forAgent)
	wantMasked(s, unknown(), all, text, forAgent)

	wantMasked(s, person(), api.MaskBegin{Items: []string{"pin", "personal/closed"}}, text,
		strings.Join([]string{open, "****(closed)", "****(pin)", word, user, "abc", second, staged}, " "))
	for _, in := range []api.MaskBegin{{Items: []string{"closed"}}, {Items: []string{"open", "nothing"}}} {
		_, res := maskText(s, agent(), in, text)
		s.refused(res, api.NotFound)
	}
	_, res := maskText(s, person(), api.MaskBegin{Items: []string{"nothing"}}, text)
	s.refused(res, api.NotFound)

	// What an agent is lent is hidden from it, and from no other.
	s.ok(s.do(agent(), api.OpRun, api.RunBegin{
		Item: "pin", Inject: []api.RunInject{{Var: "PIN", As: api.ByEnv}}, Program: "/bin/true", Argv: []string{"true"},
	}), nil)
	wantMasked(s, agent(), all, pin+" "+word, "****(pin) "+word)
	wantMasked(s, agent(), api.MaskBegin{Items: []string{"pin"}}, pin+" "+open, "****(pin) "+open)
	wantMasked(s, subagent(), all, pin, pin)
}

// TestMaskFollowsTheAccount: what is stored later is hidden in the next output, and what is removed for good in none.
func TestMaskFollowsTheAccount(t *testing.T) {
	s := newScene(t)
	first, second := strongValue(), strongValue()
	wantMasked(s, person(), api.MaskBegin{}, first, first)
	s.add(person(), "a", "use", first)
	for range 2 { // by a new set, and by that again
		wantMasked(s, person(), api.MaskBegin{}, first+" "+second, "****(a) "+second)
	}
	kept := s.acts.needles.kept[0]
	wantMasked(s, person(), api.MaskBegin{}, first, "****(a)")
	if s.acts.needles.kept[0] != kept || len(s.acts.needles.kept) != 1 || len(s.acts.needles.inUse) > 0 {
		t.Error("a set was made though nothing changed, or an old one is kept")
	}
	s.add(person(), "b", "use", second)
	wantMasked(s, person(), api.MaskBegin{}, first+" "+second, "****(a) ****(b)")
	for i := range keptSets + 3 {
		who := agent()
		who.id.Instance = caller.Instance{PID: i + 1}
		wantMasked(s, who, api.MaskBegin{}, "text", "text")
	}
	if n := len(s.acts.needles.kept); n != keptSets {
		t.Errorf("%d sets are kept", n)
	}
}

// TestMaskFollows_meanwhile: what is stored, changed or lent while an output comes is hidden in what comes of it then.
func TestMaskFollows_meanwhile(t *testing.T) {
	old, changed, added, weak := strongValue(), strongValue(), strongValue(), "p1N!"
	for _, row := range []struct {
		name  string
		who   *client
		items []string
		want  string
	}{
		{"a person", person(), nil, "****(a) ****(a) ****(b) ****(pin)"},
		{"an agent", agent(), nil, "****(a) ****(a) ****(b) ****(pin)"},
		{"of items", agent(), []string{"a", "pin"}, "****(a) ****(a) " + added + " ****(pin)"},
		{"another agent", subagent(), nil, "****(a) ****(a) ****(b) " + weak},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newScene(t)
			s.add(person(), "a", "use", old)
			s.add(person(), "pin", "use", weak)
			said := 0
			s.heed = func() {
				if said++; said != 2 {
					return
				}
				s.heed = nil
				s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "a", Set: []api.FieldIn{{Name: "token", Concealed: true}}}, changed), nil)
				s.add(person(), "b", "use", added)
				s.ok(s.do(agent(), api.OpRun, api.RunBegin{
					Item: "pin", Inject: []api.RunInject{{Var: "PIN", As: api.ByEnv}}, Program: "/bin/true", Argv: []string{"true"},
				}), nil)
			}
			shown, res := maskText(s, row.who, api.MaskBegin{Items: row.items}, "first ", strings.Join([]string{old, changed, added, weak}, " "))
			s.ok(res, nil)
			if shown != "first "+row.want {
				t.Errorf("%q is shown, want %q", shown, row.want)
			}
			if n := len(s.acts.needles.inUse); n > 0 {
				t.Errorf("%d sets are in use", n)
			}
		})
	}
}

// TestMaskLocked: with the account the sets are gone, also under the hands of who masks.
func TestMaskLocked(t *testing.T) {
	s := newScene(t)
	value := strongValue()
	s.add(person(), "a", "use", value)
	for _, who := range []*client{person(), agent()} {
		said := 0
		s.heed = func() {
			if said++; said == 2 {
				s.acts.needles.close()
			}
		}
		shown, res := maskText(s, who, api.MaskBegin{}, value[:10], value[10:]+" and more")
		s.refused(res, api.Locked)
		if shown != "" {
			t.Errorf("%s sees %q", who.id.Verdict, shown)
		}
		_, res = maskText(s, who, api.MaskBegin{}, "text")
		s.refused(res, api.Locked)
		s.acts.needles = &needles{}
	}
	if events := s.events(); !slices.Equal(events, []string{"tool_intent.created", "permission.decided allow", "tool_execution.failed locked"}) {
		t.Errorf("recorded: %q", events)
	}
}

// TestMaskAtItsEnd: an agent gets an output when that has ended, a person as it comes (L53).
func TestMaskAtItsEnd(t *testing.T) {
	s := newScene(t)
	value := strongValue()
	s.add(person(), "a", "use", value)
	for _, row := range []struct {
		who  *client
		live bool
	}{{person(), true}, {agent(), false}, {unknown(), false}} {
		var early []string
		s.heed = func() { early = append(early, s.heard[0]) }
		shown, res := maskText(s, row.who, api.MaskBegin{}, "one "+value+" ", "two")
		s.ok(res, nil)
		if shown != "one ****(a) two" {
			t.Errorf("%s sees %q", row.who.id.Verdict, shown)
		}
		if got := early[1] != "" && early[2] != ""; got != row.live {
			t.Errorf("%s saw %q before the end", row.who.id.Verdict, early)
		}
	}
	if n := s.acts.withheld.Load(); n != 0 {
		t.Errorf("%d bytes are counted as kept back", n)
	}
}

// TestMaskTooLarge: what is kept back has an end, of one output and of all.
func TestMaskTooLarge(t *testing.T) {
	s := newScene(t)
	large := make([]byte, frame.MaxPiece)
	fill := func() {
		for range maxWithheld/len(large) + 1 {
			s.pieces = append(s.pieces, frame.Piece{Bytes: large})
		}
	}
	fill()
	s.refused(s.do(agent(), api.OpMask, nil), api.TooLarge)
	if n := s.acts.withheld.Load(); n != 0 || s.heard[0] != "" {
		t.Errorf("%d bytes are counted as kept back, %d were shown", n, len(s.heard[0]))
	}
	s.acts.withheld.Store(maxAllWithheld - 10)
	_, res := maskText(s, agent(), api.MaskBegin{}, "more than ten bytes")
	s.refused(res, api.TooLarge)
	wantMasked(s, person(), api.MaskBegin{}, "more than ten bytes", "more than ten bytes")
	s.acts.withheld.Store(0)
}

// TestMaskGuesses: who prints more than a few values that it was not lent is stopped and told of, by one output and by several.
func TestMaskGuesses(t *testing.T) {
	s := newScene(t)
	var warned []string
	s.acts.warn = func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) }
	var values []string
	fields := api.ItemAdd{Name: "many", Level: "use"}
	for i := range mostGuesses + 1 {
		values = append(values, strongValue())
		fields.Fields = append(fields.Fields, api.FieldIn{Name: fmt.Sprintf("f%d", i), Concealed: true})
	}
	s.ok(s.do(person(), api.OpItemAdd, fields, values...), nil)
	probes := func() (n int) {
		for _, rec := range s.records() {
			if rec.Event == eventProbe {
				n++
				if rec.Item != "" || rec.Principal.Verdict == "" || rec.Tool != api.OpMask {
					t.Errorf("recorded: %s", rec.Line())
				}
			}
		}
		return n
	}
	all := strings.Join(values, " ")
	if _, res := maskText(s, person(), api.MaskBegin{}, all); res.err != nil || probes() != 0 {
		t.Errorf("a person: %v", res.err)
	}
	shown, res := maskText(s, agent(), api.MaskBegin{}, all)
	s.refused(res, api.Denied)
	if shown != "" || probes() != 1 || len(warned) != 1 {
		t.Errorf("shown %q, %d events, warned %q", shown, probes(), warned)
	}
	// One output may hold some; the third within a minute is one too many, unless it is no news, and others are not stopped by it.
	named := []string{"****(many)", "****(many/f1)"}
	for i := range guessHits - 1 {
		for range guessHits {
			wantMasked(s, agent(), api.MaskBegin{}, values[i], named[i])
			wantMasked(s, agent(), api.MaskBegin{}, "nothing", "nothing")
		}
	}
	shown, res = maskText(s, agent(), api.MaskBegin{}, values[5]+" guessed", "|", "beside it")
	s.refused(res, api.Denied)
	if shown != "|" || probes() != 2 || len(warned) != 2 {
		t.Errorf("shown %q, %d events, warned %q", shown, probes(), warned)
	}
	_, res = maskText(s, agent(), api.MaskBegin{}, "nothing")
	s.refused(res, api.Denied)
	wantMasked(s, subagent(), api.MaskBegin{}, values[0], "****(many)")
	s.now = s.now.Add(guessTime)
	wantMasked(s, agent(), api.MaskBegin{}, values[0], "****(many)")
	wantMasked(s, agent(), api.MaskBegin{}, values[7], "****(many/f7)")
}

// TestMaskGuesses_lent: what an agent was lent it may print as often as it likes.
func TestMaskGuesses_lent(t *testing.T) {
	s := newScene(t)
	for i := range 2 * guessHits {
		name, value := fmt.Sprint("item-", i), strongValue()
		s.add(person(), name, "use", value)
		s.ok(s.do(agent(), api.OpRun, api.RunBegin{
			Item: name, Inject: []api.RunInject{{Var: "V", As: api.ByEnv}}, Program: "/bin/true", Argv: []string{"true"},
		}), nil)
		wantMasked(s, agent(), api.MaskBegin{}, value, "****("+name+")")
	}
}

// TestGuesses: three within a minute are too many, and are forgotten after it.
func TestGuesses(t *testing.T) {
	var g guesses
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	hit := func(key string, after time.Duration, want bool) {
		t.Helper()
		now = now.Add(after)
		if _, tooMany := g.hit(key, now); tooMany != want {
			t.Errorf("%s after %v: %v", key, after, tooMany)
		}
	}
	hit("a", 0, false)
	hit("a", 30*time.Second, false)
	hit("b", 0, false)
	hit("a", 30*time.Second, false) // the first is a minute old
	hit("a", 29*time.Second, true)
	if until, stopped := g.stopped("a", now.Add(guessTime-1)); !stopped || until != now.Add(guessTime) {
		t.Errorf("stopped %v until %v", stopped, until)
	}
	for _, key := range []string{"b", "c"} {
		if _, stopped := g.stopped(key, now); stopped {
			t.Errorf("%s is stopped", key)
		}
	}
	if _, stopped := g.stopped("a", now.Add(guessTime)); stopped {
		t.Error("it is stopped for longer than that")
	}
	hit("c", guessTime, false)
	if len(g.hits) != 1 || len(g.stop) != 0 {
		t.Errorf("remembered: %v, %v", g.hits, g.stop)
	}
}
