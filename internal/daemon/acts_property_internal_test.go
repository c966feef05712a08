package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/vault"
)

// TestAgentsCanNotWiden runs random acts of persons and agents over few names, and looks after each of an agent's whether
//
//   - anything of a person's is open wider than before,
//   - anything that a person or another agent made, or had the last hand on, was changed, overwritten or removed: items, variables, links,
//     levels of projects and stages,
//   - a value may go to a host or command to which it could not go before, or an item of another's became part of a project,
//   - a name that steers programs is there that was not, in any spelling,
//   - a name that is hidden from it is in the answer, or one that is hidden from some agent in what was recorded,
//   - a value is in an answer that took no presence.
func TestAgentsCanNotWiden(t *testing.T) {
	done, byAgents := 0, 0
	for range 6 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			p := &play{scene: newScene(t), random: rand.New(rand.NewPCG(seed, 1)), owners: map[string]string{}}
			for range 90 {
				p.step()
			}
			done, byAgents = done+p.done, byAgents+p.byAgents
		})
	}
	if done < 60 || byAgents < 20 {
		t.Errorf("only %d acts were done, %d by agents: this shows nothing", done, byAgents)
	}
}

// play is a random sequence of acts.
type play struct {
	*scene
	random         *rand.Rand
	owners         map[string]string // who had the last hand on what there is
	values         []string          // ever stored
	tags           []string
	done, byAgents int
	last           string // the act, for messages
	said           string // its input
}

// snapshot is what there is: content by object, and how far it is open to each client.
type snapshot struct {
	content map[string][32]byte // items, levels of projects and stages, variables, links
	reach   map[string]bool     // to which host or command which item may go
	unsafe  map[string]bool     // names that steer programs, by where they are
	names   map[seal.ID]string
	levels  *levels
}

// clientNames are those of the agents that play.
var clientNames = [...]string{"claude", "codex", ""}

func (p *play) look() snapshot {
	p.t.Helper()
	v, err := p.account.Vault(vault.DefaultVault)
	must(p.t, err)
	s := snapshot{map[string][32]byte{}, map[string]bool{}, map[string]bool{}, map[seal.ID]string{}, levelsOf(v.List())}
	for _, m := range v.List() {
		if !m.Trashed.IsZero() {
			continue
		}
		if m.Kind != vault.KindVault {
			s.names[m.ID] = m.Name
		}
		it, err := v.Open(m.ID)
		must(p.t, err)
		s.add(&m, it)
		it.Destroy()
	}
	return s
}

// add notes one object.
func (s *snapshot) add(m *vault.Meta, it *vault.Item) {
	id := m.ID.String()
	key := string(m.Kind) + " " + id
	s.steers(key, m.Name)
	for _, f := range it.Fields {
		s.steers(key, f.Name)
	}
	if m.Kind == vault.KindItem {
		s.content[key] = digest(m.Name, m.Level, m.Tags, m.Hosts, m.Commands, fieldTexts(it))
		for _, h := range m.Hosts {
			s.reach[id+" host "+h.Host] = true
		}
		for _, c := range m.Commands {
			s.reach[id+" command "+c.Path] = true
		}
		if len(m.Commands) == 0 {
			s.reach[id+" any command"] = true
		}
		return
	}
	s.content[key] = digest(m.Name, m.Level)
	for _, f := range it.Fields {
		s.content[id+" "+f.Name] = digest(fieldTexts(&vault.Item{Fields: []vault.Field{f}}))
	}
	for _, item := range m.Links {
		s.content["link "+id+" "+item.String()] = digest()
	}
}

// steering are names that steer programs, as no table of the daemon's says it: the first words of them, in small letters.
var steering = [...]string{"ld_", "dyld_", "git_", "ssl_cert_", "python", "perl5", "ruby"}

// steers notes a name that steers programs, whatever its spelling.
func (s *snapshot) steers(where, name string) {
	spelled := strings.ToLower(strings.Map(func(c rune) rune {
		if strings.ContainsRune(" .-", c) {
			return '_'
		}
		return c
	}, name))
	bad := slices.ContainsFunc(steering[:], func(first string) bool { return strings.HasPrefix(spelled, first) }) ||
		strings.HasSuffix(spelled, "_proxy") ||
		slices.Contains([]string{"node_options", "bash_env", "env", "java_tool_options", "path"}, spelled)
	if bad {
		s.unsafe[where+" "+name] = true
	}
}

func digest(parts ...any) [32]byte { return sha256.Sum256(fmt.Append(nil, parts...)) }

func fieldTexts(it *vault.Item) (texts []string) {
	for _, f := range it.Fields {
		_ = f.Value.Use(func(b []byte) { texts = append(texts, fmt.Sprint(f.Section, f.Name, f.Concealed, f.Level, f.Ref, b)) })
	}
	return texts
}

// step is one act and the look at what it did.
func (p *play) step() {
	p.t.Helper()
	who := [...]*client{person(), person(), agent(), agent(), subagent(), unknown()}[p.random.IntN(6)]
	before, records := p.look(), len(p.records())
	res := p.act(who)
	after := p.look()
	if res.err == nil {
		p.done++
	}
	if who.id.Verdict != "person" {
		p.checkAgent(who, before, after)
		p.checkReach(who, before, after)
		p.checkAnswer(who.id.Client, before, after, res)
		if res.err == nil {
			p.byAgents++
		}
	}
	p.owned(who, before, after)
	for _, v := range p.values {
		if bytes.Contains(res.json, []byte(v)) || res.err != nil && strings.Contains(res.err.Message+res.err.Hint, v) {
			p.t.Fatalf("%s: a value in the answer", p.last)
		}
	}
	p.checkRecords(before, after, p.records()[records:])
}

// hand is who a caller is as an owner.
func hand(who *client) string {
	if who.id.Verdict == "person" {
		return "a person"
	}
	return "agent " + who.id.Client
}

// owned notes whose act it was that left what there is as it is.
func (p *play) owned(who *client, before, after snapshot) {
	for key, d := range after.content {
		if was, there := before.content[key]; !there || was != d {
			p.owners[key] = hand(who)
		}
	}
	maps.DeleteFunc(p.owners, func(key, _ string) bool { _, there := after.content[key]; return !there })
}

// checkReach looks at where an agent's act lets values go, at what it brought into a project, and at the names that it made.
func (p *play) checkReach(who *client, before, after snapshot) {
	p.t.Helper()
	for way := range after.reach {
		id, _, _ := strings.Cut(way, " ")
		if _, there := before.content["item "+id]; there && !before.reach[way] {
			p.t.Fatalf("%s by %s: %s is new", p.last, who.id.Client, way)
		}
	}
	for key := range after.content {
		project, item, isLink := strings.Cut(strings.TrimPrefix(key, "link "), " ")
		if _, there := before.content[key]; isLink && strings.HasPrefix(key, "link ") && !there && p.owners["item "+item] != hand(who) {
			p.t.Fatalf("%s by %s linked %s to %s", p.last, who.id.Client, item, project)
		}
	}
	for name := range after.unsafe {
		if !before.unsafe[name] {
			p.t.Fatalf("%s by %s: %s", p.last, who.id.Client, name)
		}
	}
}

// checkAgent looks at what an agent's act did to what is another's.
func (p *play) checkAgent(who *client, before, after snapshot) {
	p.t.Helper()
	for key, d := range before.content {
		if now, there := after.content[key]; (!there || now != d) && p.owners[key] != hand(who) {
			p.t.Fatalf("%s by %s changed %s of %s", p.last, who.id.Client, key, p.owners[key])
		}
	}
	for id, m := range before.levels.metas {
		for _, client := range clientNames {
			now, then := after.levels.of(id, client), before.levels.of(id, client)
			own := m.Kind != vault.KindItem && m.Kind != vault.KindStage || m.Origin.By == vault.ByAgent
			if !own && isOpen(now) && now > then {
				p.t.Fatalf("%s by %s raised %s from %s to %s for %q", p.last, who.id.Client, m.Name, then, now, client)
			}
		}
	}
}

// checkAnswer looks for names in an answer that the caller may not know and did not say itself.
func (p *play) checkAnswer(client string, before, after snapshot, res result) {
	p.t.Helper()
	text := string(res.json)
	if res.err != nil {
		text += res.err.Message + res.err.Hint
	}
	for id, name := range before.names {
		if !isOpen(before.levels.of(id, client)) && !isOpen(after.levels.of(id, client)) && !strings.Contains(p.said, name) && strings.Contains(text, name) {
			p.t.Fatalf("%s: %q is hidden from %q, which got %s", p.last, name, client, text)
		}
	}
	if len(res.values) > 0 {
		p.t.Fatalf("%s: an agent got a value", p.last)
	}
}

// checkRecords looks for names in records that some agent may not know, and for any variable's and value.
func (p *play) checkRecords(before, after snapshot, records []audit.Record) {
	p.t.Helper()
	for _, rec := range records {
		line := string(rec.Line())
		for id, name := range before.names {
			if !before.levels.toAll(id) && !after.levels.toAll(id) && strings.Contains(line, name) {
				p.t.Fatalf("%s: the record names %q: %s", p.last, name, line)
			}
		}
		for _, secret := range append([]string{"VariableQq"}, p.values...) {
			if strings.Contains(line, secret) {
				p.t.Fatalf("%s: the record holds a variable or a value: %s", p.last, line)
			}
		}
	}
}

// name picks one of few names. An agent writes it in another way than a person, so that what it is told back of its own words
// is told from what it may not know.
func (p *play) name(who *client, kind string) string {
	name := fmt.Sprintf("%sQq%dxZ", kind, p.random.IntN(4))
	if who.id.Verdict != "person" {
		return strings.ToUpper(name)
	}
	return name
}

func (p *play) level() string {
	return [...]string{"", "", "unset", "none", "ask", "use", "use", "read"}[p.random.IntN(8)]
}

// variable picks a name of a variable, now and then one that steers programs.
func (p *play) variable() string {
	if p.random.IntN(8) == 0 {
		return strings.ReplaceAll(spelling(p.random), " ", "-")
	}
	return fmt.Sprint("VariableQq", p.random.IntN(3))
}

// spelling is a name that steers programs, in some spelling.
func spelling(random *rand.Rand) string {
	names := []string{"LD_PRELOAD", "NODE_OPTIONS", "PATH", "GIT_SSH_COMMAND", "HTTPS_PROXY", "PYTHONPATH", "SSL_CERT_FILE", "BASH_ENV"}
	return strings.Map(func(c rune) rune {
		switch random.IntN(3) {
		case 0:
			return unicode.ToLower(c)
		case 1:
			if c == '_' {
				return ' '
			}
		}
		return c
	}, names[random.IntN(len(names))])
}

// some picks some of a few words.
func some(random *rand.Rand, words ...string) []string {
	return slices.DeleteFunc(words, func(string) bool { return random.IntN(2) == 0 })
}

// value makes one that was never stored.
func (p *play) value() string {
	v := fmt.Sprintf("val-%016x", p.random.Uint64())
	p.values = append(p.values, v)
	return v
}

// act does one random act.
func (p *play) act(who *client) result {
	p.t.Helper()
	op, in, values := p.draw(who)
	// A person's proof takes long, so not every act has one that needs it.
	if who.id.Verdict == "person" && p.random.IntN(3) == 0 {
		text, err := json.Marshal(in)
		must(p.t, err)
		var members map[string]any
		must(p.t, json.Unmarshal(text, &members))
		if res := p.do(who, op, in, values...); res.err == nil || res.err.Code != api.NeedsApproval {
			return p.noted(op, in, res)
		}
		members["presence"] = true
		return p.noted(op, in, p.do(who, op, members, append(slices.Clone(values), masterPassword)...))
	}
	return p.noted(op, in, p.do(who, op, in, values...))
}

// noted keeps the tag of an act, and its text for messages.
func (p *play) noted(op string, in any, res result) result {
	input, err := json.Marshal(in)
	must(p.t, err)
	p.said = string(input)
	p.last = op + " " + p.said
	var out struct{ Undo string }
	if json.Unmarshal(res.json, &out) == nil && out.Undo != "" {
		p.tags = append(p.tags, out.Undo)
	}
	records := p.records()
	p.tags = append(p.tags, records[len(records)-1].ID) // acts that tell no tag have one too
	return res
}

// draw chooses an operation and its input.
func (p *play) draw(who *client) (op string, in any, values []string) {
	item, project := p.name(who, "Item"), p.name(who, "Proj")
	stage, variable := project[:len(project)-2]+fmt.Sprint("St", p.random.IntN(2)), p.variable()
	concealed := p.random.IntN(3) > 0
	level := p.level()
	switch p.random.IntN(14) {
	case 0, 1, 2:
		return api.OpItemAdd, api.ItemAdd{
			Name: item, Type: "other", Level: level, Fields: []api.FieldIn{{Name: "token", Concealed: concealed}},
			Hosts: some(p.random, "h.example.com", "g.example.com"),
		}, []string{p.value()}
	case 3:
		in := api.ItemEdit{Name: item, Set: []api.FieldIn{{Name: "token", Concealed: concealed}}}
		return api.OpItemEdit, in, []string{p.value()}
	case 4:
		hosts := some(p.random, "h.example.com", "g.example.com")
		in := api.ItemEdit{Name: item, Level: &level, Hosts: &hosts}
		switch p.random.IntN(4) {
		case 0:
			in.Rename = p.name(who, "Item")
		case 1:
			in.Rename = spelling(p.random)
		case 2:
			in.Commands = &[]api.Command{{Name: "sh", Path: "/bin/sh"}}
		}
		return api.OpItemEdit, in, nil
	case 5:
		return api.OpItemRemove, api.ItemName{Name: item}, nil
	case 6:
		if len(p.tags) > 0 {
			return api.OpItemUndo, api.ItemUndo{Tag: p.tags[p.random.IntN(len(p.tags))]}, nil
		}
		return api.OpItemList, api.ItemListIn{}, nil
	case 7, 8:
		in := api.StageSet{Project: project, Stage: stage, Level: level, Set: []api.VariableIn{{Name: variable, Concealed: concealed}}}
		if p.random.IntN(4) == 0 {
			in.Set[0].Ref = "warder://personal/" + item + "/token"
			return api.OpProjectSet, in, nil
		}
		return api.OpProjectSet, in, []string{p.value()}
	case 9:
		return api.OpProjectStage, api.StageIn{Project: project, Stage: [...]string{"", stage}[p.random.IntN(2)], Level: level}, nil
	case 10:
		return api.OpProjectLink, api.ProjectLink{Project: project, Item: item, Remove: p.random.IntN(4) == 0}, nil
	case 11:
		in := api.Import{File: ".env", Project: project, Stage: stage, Level: level, DryRun: p.random.IntN(4) == 0}
		return api.OpImport, in, []string{variable + "=" + p.value() + "\n" + p.variable() + "=" + p.value()}
	case 12:
		return api.OpProjectUnset, api.StageUnset{Project: project, Stage: stage, Names: []string{variable}}, nil
	}
	return p.drawLook(item, project, stage)
}

// drawLook chooses an operation that should change nothing.
func (p *play) drawLook(item, project, stage string) (op string, in any, values []string) {
	switch p.random.IntN(7) {
	case 0:
		return api.OpItemList, api.ItemListIn{}, nil
	case 1:
		return api.OpItemShow, api.ItemShow{Name: item, Reveal: p.random.IntN(2) == 0}, nil
	case 2:
		return api.OpItemHistory, api.ItemName{Name: item}, nil
	case 3:
		return api.OpProjectList, nil, nil
	case 4:
		return api.OpProjectShow, api.ProjectShowIn{Project: project}, nil
	case 5:
		return api.OpExport, api.Export{Format: "env", Project: project, Stage: stage}, nil
	}
	return api.OpItemCheck, api.ItemCheck{Name: item, Field: "token"}, nil
}
