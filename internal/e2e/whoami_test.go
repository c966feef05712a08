package e2e_test

import (
	"slices"
	"testing"

	"warder/internal/e2e/person"
)

// identity is what "warder whoami --json" prints.
type identity struct {
	Verdict  string `json:"verdict"`
	Client   string `json:"client"`
	Depth    int    `json:"depth"`
	Masked   bool   `json:"masked"`
	Presence bool   `json:"presence"`
	Evidence []struct {
		PID  int    `json:"pid"`
		Role string `json:"role"`
	} `json:"evidence"`
}

// TestDone1_whoami asks one daemon who is asking, from everywhere in its world.
// The daemon judges, not the caller.
func TestDone1_whoami(t *testing.T) {
	h := newHouse(t, person.Options{})
	ask := []string{h.Warder(), "whoami", "--json"}
	typed := func(s person.Shell, argv ...string) string {
		r := h.Terminal(t, s).Run(t, person.Line(argv...))
		if r.Status != 0 {
			t.Errorf("whoami: %+v", r)
		}
		return r.Output
	}
	run := func(c person.Command) string { return h.Run(t, c).Stdout }
	under := func(name string, argv ...string) []string { return h.Under(t, name, argv...) }
	for _, row := range []struct {
		name   string
		output string
		want   identity
		roles  []string // some of the evidence
	}{
		{"a terminal", typed(person.Shell{}, ask...), identity{Verdict: "person"}, []string{"shell", "terminal"}},
		{"another one", typed(person.Shell{Terminal: "xterm", Shell: []string{"sh", "-i"}}, ask...), identity{Verdict: "person"}, []string{"shell", "terminal"}},
		{"tmux", typed(person.Shell{Terminal: "tmux"}, ask...), identity{Verdict: "person", Masked: true}, []string{"multiplexer"}},
		{"expect", typed(person.Shell{}, under("expect", under("bash", ask...)...)...), identity{Verdict: "person", Masked: true}, []string{"automation"}},
		{"the word person", typed(person.Shell{Env: []string{"WARDER_CALLER=person"}}, under("claude", ask...)...), identity{Verdict: "agent", Client: "claude", Depth: 1, Masked: true}, []string{"agent", "terminal"}},
		{"the word agent", typed(person.Shell{Env: []string{"WARDER_CALLER=agent"}}, ask...), identity{Verdict: "agent", Depth: 1, Masked: true}, nil},
		{"an agent in an agent", run(person.Command{Argv: under("claude", under("bash", under("codex", ask...)...)...)}), identity{Verdict: "agent", Client: "codex", Depth: 2, Masked: true}, []string{"agent", "shell"}},
		{"marks alone", run(person.Command{Argv: ask, Env: []string{"CLAUDECODE=1"}}), identity{Verdict: "agent", Client: "claude", Depth: 1, Masked: true}, nil},
		{"an orphan", run(person.Command{Argv: ask, Orphan: true}), identity{Verdict: "unknown", Masked: true}, nil},
		{"cron", run(person.Command{Argv: under("cron", under("sh", ask...)...)}), identity{Verdict: "unknown", Masked: true}, []string{"automation", "shell"}},
	} {
		got := decode[identity](t, row.output)
		var roles []string
		for _, p := range got.Evidence {
			roles = append(roles, p.Role)
		}
		for _, role := range row.roles {
			if !slices.Contains(roles, role) {
				t.Errorf("%s: the evidence %q lacks %s", row.name, roles, role)
			}
		}
		if got.Verdict != row.want.Verdict || got.Client != row.want.Client || got.Depth != row.want.Depth || got.Masked != row.want.Masked || got.Presence {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}
