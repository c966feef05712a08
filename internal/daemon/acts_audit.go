package daemon

import (
	"context"
	"errors"
	"iter"
	"strconv"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/policy"
	"warder/internal/seal"
)

// planAuditTail streams the last records, and those to come if they are followed.
func planAuditTail(r *request) (*act, error) {
	var in api.AuditTail
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.N < 0 {
		return nil, usage("the number of records can't be negative")
	}
	audit.Settle(r.acts.log)    // how a run has just ended may be on its way
	end, _ := r.acts.log.Head() // before this act's own records
	after := end - min(end, uint64(in.N))
	return &act{
		needs: []policy.Need{policy.ToLook}, text: "read the audit log",
		stream: func(ctx context.Context, send func(any) error) error {
			all := func(audit.Record) bool { return true }
			if !in.Follow {
				return sendRecords(r, until(r.acts.log.Follow(ctx, after), end), send, all)
			}
			err := sendRecords(r, r.acts.log.Follow(ctx, after), send, all)
			if ctx.Err() != nil {
				return nil // whoever followed has gone, which is how following ends
			}
			return err
		},
	}, nil
}

// planAuditShow streams the records of an intent, or the one of a number.
func planAuditShow(r *request) (*act, error) {
	var in api.AuditShow
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.ID == "" {
		return nil, usage("the id of an intent or the number of a record is missing")
	}
	audit.Settle(r.acts.log)
	end, _ := r.acts.log.Head()
	number, err := strconv.ParseUint(in.ID, 10, 64)
	after := uint64(0)
	switch {
	case err == nil && number > end:
		return nil, noRecord(in.ID) // to follow the log there would be to wait for it
	case err == nil && number > 0:
		after, end = number-1, number
	}
	return &act{
		needs: []policy.Need{policy.ToLook}, text: "read the audit log",
		stream: func(ctx context.Context, send func(any) error) error {
			found := false
			err := sendRecords(r, until(r.acts.log.Follow(ctx, after), end), send, func(rec audit.Record) bool {
				match := rec.ID == in.ID || number > 0 && rec.Seq == number
				found = found || match
				return match
			})
			if err == nil && !found {
				return noRecord(in.ID)
			}
			return err
		},
	}, nil
}

// noRecord is the error for what is not in the log.
func noRecord(id string) error {
	return api.Errorf(api.NotFound, "there is no record %s", printable(id)).WithHint("see what there is: warder audit tail")
}

// until ends a sequence with the record number end.
func until(records iter.Seq2[audit.Record, error], end uint64) iter.Seq2[audit.Record, error] {
	return func(yield func(audit.Record, error) bool) {
		if end == 0 {
			return
		}
		for rec, err := range records {
			if err == nil && rec.Seq > end || !yield(rec, err) || err == nil && rec.Seq == end {
				return
			}
		}
	}
}

// sendRecords sends the wanted records, but for this act's own. Lines that are no records are told at the end.
func sendRecords(r *request, records iter.Seq2[audit.Record, error], send func(any) error, wanted func(audit.Record) bool) error {
	damaged, begun := 0, false
	for rec, err := range records {
		begun = begun || err == nil
		switch {
		case errors.Is(err, audit.ErrDamaged):
			if begun { // what is missing before the first was rotated away
				damaged++
			}
		case err != nil:
			return err
		case rec.ID != r.ID && wanted(rec):
			rec.Item = openedName(r, rec.Item)
			if err := send(api.AuditRecord(rec.Line())); err != nil {
				return err
			}
		}
	}
	if damaged > 0 {
		return api.Errorf(api.Integrity, "%d lines of the log are damaged", damaged).WithHint("see which: warder audit verify")
	}
	return nil
}

// opened is the item of a record as the caller may know it: a person reads sealed names while the account is unlocked.
func openedName(r *request, item string) string {
	if !r.isPerson() || r.account == nil || item == "" {
		return item
	}
	id, name := r.account.ID(), item
	err := r.account.WithRoot(func(root seal.RootKey) (err error) {
		name, err = audit.OpenName(root, id, item)
		return err
	})
	if err != nil {
		return item // locked since, or of another account
	}
	return name
}
