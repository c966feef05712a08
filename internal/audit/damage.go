package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"warder/internal/state"
)

// This file remembers what is wrong with the log and was not declared yet. It is
// told in the first record of a segment, which is begun for it, and again in the
// first of each later segment, so that opening the log finds it by reading one
// record. To take it away is to take acknowledged records away, which is found
// in its turn.

// Witness tells the log what was seen of it from outside: by verifying it, and by
// what the account has signed.
type Witness struct{ *Log }

// Found takes note of what Verify found wrong: it is in Status, in a record, and
// in what Verify says, until Seal declares it. The caller has made sure of it: a
// key that was destroyed while Verify used it opens no checkpoint either.
func (l Witness) Found(bad Bad) error {
	return l.onDisk(func(w *writer) error {
		w.learn(&bad)
		if !w.untold || w.tip.after.Seq == 0 {
			return nil
		}
		return w.commit(nil)
	})
}

// BeginAnew makes it the first record of an empty log that the account had signed
// one up to a record, which is gone. It is told by Status and Verify until Seal
// declares it.
func (l Witness) BeginAnew(signed uint64) error {
	return l.onDisk(func(w *writer) error {
		if w.tip.after.Seq != 0 || len(w.tip.notes) > 0 {
			return errors.New("the audit log has begun")
		}
		w.anew = signed
		w.tip.notes = []Record{{Event: EventBegunAnew, Data: encodeData(opening{Signed: signed})}}
		return w.commit(nil)
	})
}

// Gone reports whether the log's directory was removed. Only the next writer
// begins another one.
func (l Witness) Gone() bool {
	_, err := l.dir.List()
	return errors.Is(err, fs.ErrNotExist)
}

// Keep sets how much the log keeps, as Options at Open do. It counts from the next
// record on; what is too much by then goes with the next rotation.
func (l Witness) Keep(maxSize int64, generations int) {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.w.opt.MaxSize, l.w.opt.Generations = maxSize, generations
	l.w.opt = withDefaults(l.w.opt)
}

// Glance returns the Damage, Signed and First that a writer of the log in dir would
// begin with, as far as the disk tells them, and nothing else. It needs no lock,
// uses no key and is for where no writer runs; Verify knows more. It fails where a
// writer could not open the log: also for the key file, which it opens alone.
func Glance(dir *state.Dir) (Status, error) {
	segs, err := segments(dir)
	if err != nil {
		return Status{}, err
	}
	on, err := toldOnDisk(dir, maxSeq)
	s := Status{Damage: on.Found, Signed: on.Signed}
	if len(segs) > 0 {
		s.First = segs[0].first
	}
	if err != nil {
		return s, err
	}
	if _, err := fileSize(dir, keyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err // one that is missing or damaged stops no writer
	}
	return s, nil
}

// known is what the writer knows of the log beside its records.
type known struct {
	damage *Bad   // what is wrong and not declared; of several the earliest record
	anew   uint64 // the record up to which the account had signed a log that is gone; 0 is none
	untold bool   // the newest segment's first record does not tell damage
}

// learn takes in what is wrong. An earlier record than the one that is known
// counts, a later one is no news: who breaks much makes no segment with each.
func (k *known) learn(bad *Bad) {
	if bad == nil || k.damage != nil && k.damage.Seq <= bad.Seq {
		return
	}
	b := *bad
	b.Text = Trim(b.Text)
	k.damage, k.untold = &b, true
}

// recall takes in what the disk tells at the start. What this process has found
// before counts on, and is told again where the disk does not tell it any more.
func (k *known) recall(told opening) {
	k.untold = k.damage != nil
	if k.damage == nil || told.Found != nil && told.Found.Seq <= k.damage.Seq {
		k.damage, k.untold = told.Found, false
	}
	if told.Signed != 0 {
		k.anew = told.Signed
	}
}

// carry completes the data of a segment's first record, which is number seq.
func (k *known) carry(r Record, seq, oldest uint64) Record {
	var data opening
	if !decodeOpening(r.Data, &data) {
		return r
	}
	data.First = oldest
	if r.Event != EventSealed {
		data.Signed = k.anew
		if own := tells(r.Event, seq, data).Found; own == nil || k.damage == nil || *own != *k.damage {
			data.Found = k.damage // which the event itself does not say
		}
	}
	r.Data = encodeData(data)
	return r
}

// first is the first record of a segment that begins for no reason of load's.
func (k *known) first() Record {
	if k.untold {
		return Record{Event: EventDamaged, Data: encodeData(opening{})}
	}
	return Record{Event: EventRotated, Data: encodeData(opening{})}
}

// tells is what a segment's first record, or a note that will be one, says of the
// log: what was found before it, and by whom else it was written.
func tells(event string, seq uint64, data opening) opening {
	out := opening{Found: data.Found, Signed: data.Signed}
	var bad *Bad
	switch lost := data.Lost; {
	case event == EventSealed:
		return opening{}
	case lost != nil:
		cause, text := whatWasLost(event, lost)
		bad = &Bad{lost.First, cause, text}
	case event == EventBroken:
		bad = &Bad{seq - min(seq, 1), Tamper, "it was another than the one that was written"}
	case event == EventRekeyed:
		bad = &Bad{seq, Key, "from here on the log has another key: " + data.Reason}
	}
	if bad != nil && (out.Found == nil || bad.Seq < out.Found.Seq) {
		out.Found = bad
	}
	return out
}

// told is what the disk tells when the log is opened: the notes that load has
// just made, and the newest segment that begins with a record.
func told(dir *state.Dir, t tip) (opening, error) {
	out, err := toldOnDisk(dir, t.after.Seq)
	for i, r := range t.notes {
		var data opening
		if !decodeOpening(r.Data, &data) {
			continue
		}
		now := tells(r.Event, t.after.Seq+1+uint64(i), data)
		if now.Found != nil && (out.Found == nil || now.Found.Seq < out.Found.Seq) {
			out.Found = now.Found
		}
	}
	return out, err
}

// toldOnDisk is what the newest segment tells that begins with a record up to last.
func toldOnDisk(dir *state.Dir, last uint64) (opening, error) {
	segs, err := segments(dir)
	if err != nil {
		return opening{}, err
	}
	for _, s := range slices.Backward(segs) {
		if s.first > last {
			continue // empty, or a stranger's
		}
		r, err := firstRecord(dir, s)
		if err != nil {
			return opening{}, err
		}
		var data opening
		if r.Seq == s.first && isOwn(r.Event) && decodeOpening(r.Data, &data) {
			return tells(r.Event, r.Seq, data), nil
		}
	}
	return opening{}, nil
}

// firstRecord is the first record of a segment, none if its line is not one.
func firstRecord(dir *state.Dir, s segment) (Record, error) {
	f, err := dir.OpenRead(segmentName(s.first))
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	text, err := bufio.NewReader(io.LimitReader(f, MaxLine+1)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, err
	}
	r, err := decode(bytes.TrimSuffix(text, []byte("\n")))
	if err != nil {
		return Record{}, nil //nolint:nilerr // what is no record tells nothing; verifying finds it
	}
	return r, nil
}

// wasTakenAway is what is declared of a log that began anew.
func wasTakenAway(signed uint64) *Bad {
	return &Bad{1, Cut, fmt.Sprintf("the log before this one, which the account had signed up to record %d, was taken away", signed)}
}
