package daemon

import (
	"fmt"
	"strings"

	"warder/internal/api"
	"warder/internal/credential"
	"warder/internal/gate"
	"warder/internal/policy"
	"warder/internal/secret"
	"warder/internal/vault"
)

// planRead gives one value to a person who wants to see it.
//
// On that person's own terminal it takes no proof where a program may have the value anyway: "run" would print it there as
// well. The client's word that it is one counts, since it is the recorded program, and nothing but the person reads that
// terminal. Everywhere else it takes presence.
func planRead(r *request) (*act, error) {
	var in api.Read
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	a, err := findPart(&r.lookup, "", in.Ref)
	if err != nil {
		return nil, err
	}
	return &act{
		needs: []policy.Need{readNeed(r, a.found, in.Terminal)},
		text:  fmt.Sprintf("show the value of %s", strings.TrimPrefix(a.name(), vault.RefScheme)),
		lend:  func(p *gate.Permit) (*api.Reply, error) { return lendOne(r, a, p) },
	}, nil
}

// lendOne begins the lease of one value.
func lendOne(r *request, a addressed, p *gate.Permit) (*api.Reply, error) {
	it, err := a.vault.Open(a.ID)
	if err != nil {
		return nil, err
	}
	defer it.Destroy()
	field, err := credential.Wanted(finder{r}, finder{r}.source(a.found), it, a.path)
	if err != nil {
		return nil, err
	}
	value, err := field.Value.Clone()
	if err != nil {
		return nil, err
	}
	if err := (clientStarter{r}).Start(p, []secret.Value{value}); err != nil {
		value.Destroy()
		return nil, err
	}
	return &api.Reply{Output: api.RunLease{Lease: r.ID}}, nil
}

// readNeed is what printing a value takes.
func readNeed(r *request, f found, terminal bool) policy.Need {
	c, err := clientOf(r.call)
	open := r.levels(f.vault).of(f.ID, "") >= vault.LevelUse
	if err != nil || !terminal || !open || r.who.Masked || !r.acts.holding.ours(c) {
		return policy.ToReveal
	}
	return policy.ToPrint
}
