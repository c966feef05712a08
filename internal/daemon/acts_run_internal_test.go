package daemon

import (
	"testing"

	"warder/internal/api"
)

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
