package audit

import (
	"context"
	"errors"
	"fmt"
)

// ErrIntact says that there is no break to declare.
var ErrIntact = errors.New("the audit log is whole")

// seal declares a break if there is one.
func (w *writer) seal(ctx context.Context, marks []Mark) (Break, error) {
	if w.stopped != nil {
		return Break{}, fmt.Errorf("sealing the audit log: %w", w.stopped)
	}
	report, err := Verify(ctx, w.dir, VerifyOptions{Root: w.root, Account: w.account, Marks: marks})
	if err != nil {
		return Break{}, err
	}
	bad := report.FirstBad
	switch {
	case bad != nil:
	case w.damage != nil:
		bad = w.damage // what could not be told in the log
	case w.anew > 0:
		bad = wasTakenAway(w.anew)
	default:
		return Break{}, ErrIntact
	}
	root := w.root // which a rotation gives up whose checkpoint is refused
	if err := w.declare(bad); err != nil {
		return Break{}, fmt.Errorf("sealing the audit log: %w", err)
	}
	w.root, w.known = root, known{}
	return Break{Sealed: w.tip.state.Seq, FirstBad: bad}, w.checkpoint(true)
}

// declare begins a segment that declares the break.
func (w *writer) declare(bad *Bad) error {
	if len(w.tip.redo) > 0 || len(w.tip.notes) > 0 {
		if err := w.commit(nil); err != nil {
			return err
		}
	}
	segs, err := segments(w.dir)
	if err != nil {
		return err
	}
	data := opening{FirstBad: bad}
	for _, s := range segs {
		if s.first > w.tip.state.Seq {
			continue // empty, or a stranger that stays one
		}
		d, err := digestOf(w.dir, s)
		if err != nil {
			return err
		}
		data.Segments = append(data.Segments, sealedSegment{s.first, d})
	}
	w.closeSegment()
	if w.tip.size > 0 {
		w.tip.first = 0
	}
	w.tip.notes = []Record{{Event: EventSealed, Data: encodeData(data)}}
	err = w.commit(nil)
	w.tip.notes = nil // a declaration that failed is none
	return err
}
