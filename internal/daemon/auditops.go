package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/seal"
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
	if !out.OK && d.keep.unattended {
		out.Hint = d.unattendedHint()
	}
	return &api.Reply{Output: out}, nil
}

// unattendedHint is what mends a broken log where nobody has a password to declare the break with.
func (d answers) unattendedHint() string {
	return fmt.Sprintf("nobody can declare a break for an unattended account: warder daemon stop, move %s away and keep it; the next daemon begins anew and records that",
		filepath.Join(d.opt.State, auditDirName))
}

func (d answers) verify(ctx context.Context) (audit.Report, error) {
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
		return a.perform(ctx, &seal, call, nil)
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
	if report.FirstBad == nil {
		return nil, api.Errorf(api.Usage, "the audit log is whole: there is no break to declare")
	}
	bad := report.FirstBad
	return &act{
		needs: []need{toSeal},
		text:  sealText(bad),
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
func sealText(bad *audit.Bad) string {
	if bad.Cause == audit.Cut {
		return "declare the audit log cut, records that the account has signed being missing at its end, and go on behind it"
	}
	return fmt.Sprintf("declare the audit log broken at seq %d (%s: %s) and go on behind it", bad.Seq, bad.Cause, bad.Text)
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
	out := api.AuditReport{OK: r.OK, Events: r.Events, Segments: r.Segments, Full: r.Full, Proved: r.Proved}
	if r.FirstBad != nil {
		out.FirstBad = &api.AuditBad{Seq: r.FirstBad.Seq, Cause: string(r.FirstBad.Cause), Text: r.FirstBad.Text}
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
