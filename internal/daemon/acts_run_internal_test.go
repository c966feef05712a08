package daemon

import (
	"strings"
	"testing"

	"warder/internal/api"
)

func TestDumps(t *testing.T) {
	for line, want := range map[string]bool{
		"/usr/bin/env": true, "/usr/bin/env -i A=1": true, "/usr/bin/env -u NAME": true, "/usr/bin/env - A=1": true, "/usr/bin/env -0": true,
		"/usr/bin/env A=1 true": false, "/usr/bin/env -u NAME true": false, "/usr/bin/env -S true": false,
		"/usr/bin/printenv": true, "/usr/bin/printenv V": true, "/bin/sh -c env": false, "/bin/true": false,
		"/bin/cat /proc/self/environ": true, "/bin/cat /proc/1/environ": true, "/bin/cat /proc/self/status": false,
	} {
		argv := strings.Fields(line)
		if got := dumps(argv[0], argv); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}

func TestLikelyVariable(t *testing.T) {
	for item, want := range map[string]string{"github-token": "GITHUB_TOKEN", "db": "DB", "2fa": "_2FA", "a b/c": "A_B_C", "": "_", "ü": "_"} {
		if got := likelyVariable(item); got != want {
			t.Errorf("%q: %q, want %q", item, got, want)
		}
	}
}

// TestLeaseEnds: a lease is open until its holder tells, or the daemon ends; what was not given by then is wiped.
func TestLeaseEnds(t *testing.T) {
	s := newScene(t)
	s.ok(s.do(person(), api.OpItemAdd, api.ItemAdd{
		Name: "gh", Type: "api-token", Level: "use", Fields: []api.FieldIn{{Name: "token", Concealed: true}},
	}, "zq7-Lm2-Xv9-Rk4-Tb8"), nil)
	var permit api.RunPermit
	s.ok(s.do(agent(), api.OpRun, api.RunBegin{
		Item: "gh", Program: "/bin/true", Argv: []string{"true"}, Inject: []api.RunInject{{Var: "V", As: api.ByEnv}},
	}), &permit)
	if !permit.Mask || len(permit.Values) != 1 || permit.Values[0] != (api.RunValue{Var: "V", As: api.ByEnv, Secret: true}) {
		t.Errorf("the permit: %+v", permit)
	}
	if !s.acts.gate.Holds(7) || s.acts.gate.Holds(8) {
		t.Error("the holder is not known")
	}
	s.acts.gate.Shut()
	if s.acts.gate.Holds(7) {
		t.Error("the lease is still open")
	}
	rec := s.records()
	if last := rec[len(rec)-1]; last.Outcome != "unknown" || last.ID != permit.Lease {
		t.Errorf("recorded %+v", last)
	}
}
