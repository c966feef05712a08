package daemon

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/secret"
)

// answers are the operations on the daemon itself.
type answers struct{ *Daemon }

// status says how the daemon and the account are.
func (d answers) status(_ context.Context, call *api.Call) (*api.Reply, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, err
	}
	account, findings := d.keep.status()
	wishes(d).reload(d.keep) // what is said of the user's files is true now
	if d.keep.exists {
		account.DeviceSecretFile = filepath.Join(d.opt.State, "device", "secret") // F7
	}
	if d.keep.unattended {
		account.PasswordFile = filepath.Join(d.opt.State, unattendedDir, unattendedFile)
	}
	d.mu.Lock()
	warnings := slices.Clone(d.warnings)
	d.mu.Unlock()
	wished, pending := wishes(d).says(c.id.Verdict == caller.Person)
	warnings = append(warnings, wished...)
	other := d.isRecorded()
	if other != "" {
		warnings = append(warnings, other)
	}
	s := api.Status{
		Daemon: api.DaemonStatus{
			Running: true, PID: ownPID(), Version: d.opt.Version, SHA256: d.program.sha256(),
			StartedBy: string(d.starter.Verdict), SameBinary: other == "",
			Started: d.begun.UTC().Format(time.RFC3339), Chain: chainOf(d.starter.Evidence),
		},
		Account:       account,
		Findings:      []api.Finding{},
		Audit:         d.auditStatus(),
		Memory:        string(secret.MemoryKind()),
		PolicyPending: pending,
		Warnings:      append([]string{}, warnings...),
	}
	for _, f := range findings {
		s.Findings = append(s.Findings, api.Finding{Kind: string(f.Kind), Object: f.Object, Text: f.Text})
	}
	return &api.Reply{Output: s}, nil
}

// whoami gives the caller the verdict on it.
func (d answers) whoami(_ context.Context, call *api.Call) (*api.Reply, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, err
	}
	return &api.Reply{Output: api.Whoami{
		Verdict: string(c.id.Verdict), Client: c.id.Client, Depth: c.id.Depth, Masked: c.id.Masked, Presence: c.id.Presence,
		Evidence: chainOf(c.id.Evidence), Why: c.id.Why,
	}}, nil
}

// lock locks the account. Whoever asks may: it only takes away.
func (d answers) lock(_ context.Context, call *api.Call) (*api.Reply, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, err
	}
	d.keep.lock(lockAsked, c)
	return nil, nil
}

// stop ends the daemon after the reply.
func (d answers) stop(ctx context.Context, call *api.Call) (*api.Reply, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, err
	}
	journal(d).note(ctx, eventStopAsked, c, nil)
	d.quit("asked")
	return nil, nil
}

// chainOf is a chain as it crosses the socket.
func chainOf(chain []caller.Process) []api.ChainProcess {
	out := make([]api.ChainProcess, 0, len(chain))
	for _, p := range chain {
		out = append(out, api.ChainProcess{
			PID: p.PID, PPID: p.PPID, UID: p.UID, Exe: p.Exe, Argv0: p.Argv0, Role: string(p.Role), Why: p.Why,
		})
	}
	return out
}
