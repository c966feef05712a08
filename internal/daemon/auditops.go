package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/policy"
	"warder/internal/seal"
	"warder/internal/state"
	"warder/internal/vault"
)

// auditVerify reads the whole log and says whether it is whole: with the account's key while that is open, else the chain.
func (d answers) auditVerify(ctx context.Context, call *api.Call) (*api.Reply, error) {
	if _, err := clientOf(call); err != nil {
		return nil, err
	}
	report, err := d.verify(ctx)
	if err != nil {
		return nil, err
	}
	out := reportOf(report)
	switch {
	case out.OK:
	case (audit.Witness{Log: d.audit}).Gone():
		out.Hint = goneHint(d.keep.unattended)
	case d.keep.unattended:
		out.Hint = unattendedHint(d.opt.State)
	}
	return &api.Reply{Output: out}, nil
}

// auditStatus is what status tells of the log.
func (d answers) auditStatus() api.AuditStatus {
	log := d.audit.Status()
	s := api.AuditStatus{Seq: log.Seq, First: log.First, OK: log.Damage == nil, Signed: log.Signed}
	if log.Damage != nil {
		s.FirstBad, s.Hint = badOf(log.Damage), damageHint(d.opt.State, d.keep.unattended)
	}
	err := log.Failing
	if log.Stopped != nil {
		err = log.Stopped
	}
	if err != nil {
		s.OK, s.Fault = false, fmt.Sprintf("nothing can be recorded in %s, so nothing is lent: %v", journal(d).auditPlace(), err)
		s.Hint = journal(d).faultHint(err)
	}
	if (audit.Witness{Log: d.audit}).Gone() {
		s.OK, s.Hint = false, goneHint(d.keep.unattended)
		if s.FirstBad == nil && s.Fault == "" {
			s.Fault = journal(d).auditPlace() + " was removed"
		}
	}
	if at := d.checked.Load(); at != nil {
		s.Checked = at.UTC().Format(time.RFC3339)
	}
	return s
}

// auditPlace is the log's directory.
func (d journal) auditPlace() string { return filepath.Join(d.opt.State, auditDirName) }

// faultHint is what to do about a log that can't be written.
func (d journal) faultHint(err error) string {
	if hint := state.Hint(err); hint != "" {
		return hint
	}
	return fmt.Sprintf("see who may write there: ls -la %s; then: warder daemon restart", d.auditPlace())
}

// goneHint is what to do about a log whose directory was removed under its daemon.
func goneHint(unattended bool) string {
	const anew = "find out who removed it; a new log begins with: warder daemon restart"
	if unattended {
		return anew
	}
	return anew + ", then declare what is missing: warder audit seal"
}

// damageHint is what to do about a damaged log.
func damageHint(stateDir string, unattended bool) string {
	if unattended {
		return unattendedHint(stateDir)
	}
	return "see what it is: warder audit verify; to keep the broken part as evidence and go on: warder audit seal"
}

// LogOnDisk is what the log of a state directory tells of itself where no daemon runs that knows more: damage that an earlier one
// found and nobody declared. There is no number of records in it.
func LogOnDisk(stateDir string, unattended bool) api.AuditStatus {
	s := api.AuditStatus{OK: true}
	dir, err := state.OpenDir(filepath.Join(stateDir, auditDirName))
	if errors.Is(err, fs.ErrNotExist) {
		return s
	}
	if err == nil {
		defer dir.Close() //nolint:errcheck // nothing is written through it
		var told audit.Status
		if told, err = audit.Glance(dir); err == nil && told.Damage != nil {
			s.OK, s.FirstBad, s.Hint = false, badOf(told.Damage), damageHint(stateDir, unattended)
		}
		s.Signed, s.First = told.Signed, told.First
	}
	if err != nil {
		s.OK, s.Fault, s.Hint = false, fmt.Sprintf("it can't be read, so no daemon can start: %v", err), state.Hint(err)
	}
	return s
}

// unattendedHint is what mends a broken log where nobody has a password to declare the break with.
func unattendedHint(stateDir string) string {
	return fmt.Sprintf("nobody can declare a break for an unattended account: warder daemon stop, move %s away and keep it; the next daemon begins anew and records that",
		filepath.Join(stateDir, auditDirName))
}

// verify reads the whole log, and takes note of what is wrong: status tells it from then on, until a person declares it.
func (d answers) verify(ctx context.Context) (audit.Report, error) {
	report, err := d.judgeLog(ctx)
	if err != nil {
		return report, err
	}
	now := d.clock.now()
	d.checked.Store(&now)
	if report.FirstBad != nil {
		if err := (audit.Witness{Log: d.audit}).Found(*report.FirstBad); err != nil { // the status has it all the same
			d.log.LogAttrs(ctx, slog.LevelWarn, "what is wrong with the audit log is not recorded yet", slog.String("cause", err.Error()))
		}
	}
	return report, nil
}

func (d answers) judgeLog(ctx context.Context) (audit.Report, error) {
	a, err := d.keep.get()
	if err != nil {
		return d.audit.Verify(ctx, audit.VerifyOptions{})
	}
	opt, err := verifyOptions(a)
	if err == nil {
		var report audit.Report
		report, err = d.audit.Verify(ctx, opt)
		// A key that went while it was used opens nothing, which looks like a false checkpoint.
		if now, gone := d.keep.get(); gone == nil && now == a {
			return report, err
		}
	}
	if err != nil && !errors.Is(err, vault.ErrLocked) {
		return audit.Report{}, err
	}
	return d.audit.Verify(ctx, audit.VerifyOptions{})
}

// verifyOptions is what the open account knows of the log. The key is used without holding on to the account, which may take
// seconds otherwise.
func verifyOptions(a *vault.Account) (audit.VerifyOptions, error) {
	opt := audit.VerifyOptions{Account: a.ID(), Marks: marksOf(a)}
	err := a.WithRoot(func(root seal.RootKey) error {
		opt.Root = root
		return nil
	})
	return opt, err
}

// marksOf are the states of the log that the account has signed.
func marksOf(a *vault.Account) (marks []audit.Mark) {
	for _, m := range vault.AuditMarks(a) {
		if m.Seq > 0 {
			marks = append(marks, audit.Mark{Seq: m.Seq, Head: m.Head})
		}
	}
	return marks
}

// seal is acts' operation, after which the log's new end is signed.
func (d answers) seal(a *acts) api.Op {
	op := a.sealOp()
	declare := op.Call
	op.Call = func(ctx context.Context, call *api.Call) (*api.Reply, error) {
		reply, err := declare(ctx, call)
		if err == nil {
			journal(d).declared()
		}
		return reply, err
	}
	return op
}

// sealOp is the operation that declares a break of the log. It is an act like those on the account: decided, proved and
// recorded.
func (a *acts) sealOp() api.Op {
	seal := operation{api.OpAuditSeal, proof, false, changes, planAuditSeal}
	return api.Op{Takes: seal.takes, Call: func(ctx context.Context, call *api.Call) (*api.Reply, error) {
		return a.perform(ctx, &seal, call, way{})
	}}
}

// planAuditSeal looks at what is wrong, so that the person who declares it reads it.
func planAuditSeal(r *request) (*act, error) {
	var in api.Act
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	opt, err := verifyOptions(r.account)
	if err != nil {
		return nil, err
	}
	report, err := r.acts.log.Verify(context.Background(), opt)
	if err != nil {
		return nil, err
	}
	text, err := sealText(report.FirstBad, r.acts.log.Status())
	if err != nil {
		return nil, err
	}
	return &act{
		needs: []policy.Need{policy.ToSeal},
		text:  text,
		run: func(ctx context.Context) (*api.Reply, error) {
			sealed, err := sealLog(ctx, r.acts.log, r.account)
			if err != nil {
				return nil, err
			}
			return &api.Reply{Output: sealed}, nil
		},
	}, nil
}

// sealText says what a person declares. Where records are missing behind the last one, the number moves with each record that
// is made, that of the question among them, and would make another act of it each time.
func sealText(bad *audit.Bad, known audit.Status) (string, error) {
	if bad == nil {
		bad = known.Damage // which could not be told in the log yet
	}
	switch {
	case bad == nil && known.Signed > 0:
		return fmt.Sprintf("declare that the audit log before this one, which the account had signed up to record %d, was taken away", known.Signed), nil
	case bad == nil:
		return "", api.Errorf(api.Usage, "the audit log is whole: there is no break to declare")
	case bad.Cause == audit.Cut:
		return "declare the audit log cut, records that the account has signed being missing at its end, and go on behind it", nil
	}
	return fmt.Sprintf("declare the audit log broken at seq %d (%s: %s) and go on behind it", bad.Seq, bad.Cause, bad.Text), nil
}

// sealLog declares the break under the account's key.
func sealLog(ctx context.Context, log *audit.Log, a *vault.Account) (api.AuditSealed, error) {
	var b audit.Break
	marks := marksOf(a)
	err := a.WithRoot(func(root seal.RootKey) (err error) {
		b, err = log.Seal(ctx, root, a.ID(), marks...)
		return err
	})
	if err != nil {
		return api.AuditSealed{}, err
	}
	out := api.AuditSealed{Seq: b.Sealed}
	if b.FirstBad != nil {
		out.Text = fmt.Sprintf("seq %d: %s", b.FirstBad.Seq, b.FirstBad.Text)
	}
	return out, nil
}

func reportOf(r audit.Report) api.AuditReport {
	out := api.AuditReport{
		OK: r.OK, Events: r.Events, First: r.First, Segments: r.Segments, Full: r.Full, Proved: r.Proved, Signed: r.Signed,
	}
	if r.FirstBad != nil {
		out.FirstBad = badOf(r.FirstBad)
	}
	if r.Found != nil {
		out.Found = badOf(r.Found)
	}
	if r.Break != nil {
		declared := api.AuditDeclared{Seq: r.Break.Sealed}
		if r.Break.FirstBad != nil {
			declared.Text = r.Break.FirstBad.Text
		}
		out.Breaks = append(out.Breaks, declared)
	}
	return out
}

func badOf(bad *audit.Bad) *api.AuditBad {
	return &api.AuditBad{Seq: bad.Seq, Cause: string(bad.Cause), Text: bad.Text}
}
