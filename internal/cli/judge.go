package cli

import (
	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/daemon"
)

// verdictPerson is the verdict on a person at a terminal.
const verdictPerson = string(caller.Person)

// judgeSelf judges this process as the daemon would, for where none runs: by the
// user's agents, too, so that one of them is led to ask for no password. What it
// says opens nothing, since the daemon judges again.
func (env *Env) judgeSelf() (api.Whoami, error) {
	if env.judge != nil {
		return env.judge()
	}
	places, err := env.places()
	if err != nil {
		return api.Whoami{}, err
	}
	id, err := daemon.JudgeSelf(daemon.Options{Config: places.Config.Path, State: places.State.Path, Getenv: env.Getenv})
	if err != nil {
		return api.Whoami{}, err
	}
	who := api.Whoami{
		Verdict: string(id.Verdict), Client: id.Client, Depth: id.Depth, Masked: id.Masked,
		Presence: id.Presence, Why: id.Why, Evidence: []api.ChainProcess{},
	}
	for _, p := range id.Evidence {
		who.Evidence = append(who.Evidence, api.ChainProcess{
			PID: p.PID, PPID: p.PPID, UID: p.UID, Exe: p.Exe, Argv0: p.Argv0, Role: string(p.Role), Why: p.Why,
		})
	}
	return who, nil
}
