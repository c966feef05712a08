package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"warder/internal/seal"
	"warder/internal/state"
)

// This file finds out how the last writer ended. It changes nothing but to make
// the key file of an empty log; what it finds is written by the next commit.

const (
	keyFile = "key"
	// keyFileLimit is more than any version of the key file will need.
	keyFileLimit = 4096
)

// saveState writes the key file: the old key is gone from it.
func saveState(s store, st seal.AuditState) error {
	return st.File(func(file []byte) error { return s.Replace(keyFile, file) })
}

// readState reads the key file. noKey says of its error that there is no key to
// be had.
func readState(dir *state.Dir) (seal.AuditState, error) {
	file, err := dir.Read(keyFile, keyFileLimit)
	if errors.Is(err, state.ErrTooLarge) {
		return seal.AuditState{}, seal.ErrOpen
	}
	if err != nil {
		return seal.AuditState{}, err
	}
	return seal.OpenAuditState(file)
}

func noKey(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, seal.ErrOpen)
}

// redoLimit is more than one commit writes. More unacknowledged lines than that
// are no crash's work: they were durable, and the key file is an older one.
const redoLimit = 4 << 20

// minLine is shorter than any line, in bytes.
const minLine = lineTail + 200

// load returns the tip of the log in dir.
func load(dir *state.Dir, s store) (tip, error) {
	segs, err := segments(dir)
	if err != nil {
		return tip{}, err
	}
	st, err := readState(dir)
	switch {
	case err == nil:
		return resume(dir, segs, st)
	case !noKey(err):
		return tip{}, err
	case len(segs) > 0 || errors.Is(err, seal.ErrOpen):
		return rekey(dir, segs, "the key file is missing or damaged")
	}
	next, err := seal.NewAuditKey()
	if err != nil {
		return tip{}, err
	}
	st = seal.AuditState{Next: next}
	return fresh(st, 1), saveState(s, st)
}

// fresh is a tip where the next commit begins a segment.
func fresh(st seal.AuditState, oldest uint64, notes ...Record) tip {
	return tip{state: st, after: st, oldest: oldest, notes: notes}
}

// resume goes on from what the key file says.
func resume(dir *state.Dir, segs []segment, st seal.AuditState) (tip, error) {
	// A name with a number that the files have no room for is a stranger's.
	for len(segs) > 0 && segs[len(segs)-1].first > st.Seq+2+uint64(total(segs))/uint64(minLine) {
		segs = segs[:len(segs)-1]
	}
	current := -1
	for i, s := range segs {
		if s.first <= st.Seq+1 {
			current = i
		}
	}
	if current < 0 {
		if len(segs) == 0 && st.Seq == 0 {
			return fresh(st, 1), nil
		}
		if len(segs) == 0 {
			return fresh(st, 1, lostNote(EventCut, 1, st.Seq)), nil
		}
		st.Next.Destroy()
		return rekey(dir, segs, "the key file is older than all segments")
	}
	w := walk{dir: dir, segs: segs, at: current, tip: tip{state: st, after: st, oldest: segs[0].first}}
	found, err := w.findHead()
	if err != nil {
		return tip{}, err
	}
	if found {
		err = w.stepOver()
	}
	switch {
	case err != nil:
		return tip{}, err
	case w.at < len(segs)-1:
		w.tip.destroy()
		return rekey(dir, segs, "there are segments that the key file does not know")
	case !found:
		return w.damaged()
	case w.tip.first == st.Seq+1 && w.tip.after.Seq == st.Seq && current > 0:
		return w.begun()
	}
	return w.tip, nil
}

// walk reads the log from the last acknowledged record on.
type walk struct {
	dir  *state.Dir
	segs []segment
	at   int // the segment that it is in
	tip  tip
}

// findHead finds the end of the last acknowledged record in the current segment.
func (w *walk) findHead() (found bool, err error) {
	seg, st := w.segs[w.at], w.tip.state
	w.tip.first = seg.first
	if seg.first == st.Seq+1 {
		return true, nil
	}
	err = w.withFile(func(f *os.File) error {
		return linesBackward(f, seg.size, func(l tailLine) (enough bool) {
			seq, ok := seqOf(l.text)
			if found = ok && l.whole && seq == st.Seq && seal.HashOf(l.text) == st.Head; found {
				w.tip.size = l.offset + int64(len(l.text)) + 1
			}
			return found // a smaller number does not end the search: a stranger's line can have any
		})
	})
	return found, err
}

func (w *walk) withFile(f func(*os.File) error) error {
	file, err := w.dir.OpenRead(segmentName(w.segs[w.at].first))
	if err != nil {
		return err
	}
	defer file.Close()
	return f(file)
}

// stepOver goes on over records that were never acknowledged but verify, also
// into later segments, and makes a note of what is behind them.
func (w *walk) stepOver() error {
	for {
		var end int64
		err := w.withFile(func(f *os.File) (err error) {
			if _, err = f.Seek(w.tip.size, io.SeekStart); err != nil {
				return err
			}
			end, err = w.stepLines(&blocks{r: f}, w.tip.size)
			return err
		})
		if err != nil {
			return err
		}
		more := w.at+1 < len(w.segs) && w.segs[w.at+1].first == w.tip.after.Seq+1
		if end < w.segs[w.at].size || !more {
			return w.noteTorn(end)
		}
		w.settle(end)
		w.at++
		w.tip.first, w.tip.size = w.segs[w.at].first, 0
	}
}

// settle takes what was stepped over for durable.
func (w *walk) settle(end int64) {
	t := &w.tip
	if t.after.Seq != t.state.Seq {
		t.state.Next.Destroy()
		t.state = t.after
	}
	t.redo, t.size = nil, end
}

// stepLines steps over the lines of one segment from offset on and returns where
// the last that verifies ends.
func (w *walk) stepLines(b *blocks, offset int64) (int64, error) {
	for {
		block, err := b.next(nil)
		if errors.Is(err, io.EOF) || errors.Is(err, errLongLine) {
			return offset, nil
		}
		if err != nil {
			return offset, err
		}
		for len(block) > 0 {
			var line []byte
			line, block = cutLine(block)
			ok, err := w.step(line)
			if err != nil || !ok {
				return offset, err
			}
			offset += int64(len(line) + 1)
			w.keep(line, offset)
		}
	}
}

// step goes on over one line if it is the next record.
func (w *walk) step(line []byte) (bool, error) {
	after := w.tip.after
	r, err := decode(line)
	if err != nil || r.Seq != after.Seq+1 {
		return false, nil //nolint:nilerr // what is no record is what is looked for
	}
	good, next, err := after.Next.CheckRecords([]seal.MACedRecord{{Record: line[:len(line)-macTail], MAC: r.MAC}})
	if err != nil {
		return false, err
	}
	if good == 0 {
		next.Destroy()
		return false, nil
	}
	if after.Seq != w.tip.state.Seq {
		after.Next.Destroy()
	}
	w.tip.after = seal.AuditState{Seq: r.Seq, Head: seal.HashOf(line), Next: next}
	return true, nil
}

// keep remembers a line that must be written again.
func (w *walk) keep(line []byte, offset int64) {
	t := &w.tip
	t.redo = append(append(t.redo, line...), '\n')
	if len(t.redo) > redoLimit {
		w.settle(offset)
	}
}

// noteTorn makes a note of what is behind the last record, which nobody was
// told is recorded.
func (w *walk) noteTorn(end int64) error {
	t := &w.tip
	t.dirty = len(t.redo) > 0
	if end == w.segs[w.at].size {
		return nil
	}
	t.dirty = true
	part, err := w.torn(end)
	if err == nil {
		t.notes = append(t.notes, Record{Event: EventTorn, Data: encodeData(opening{Torn: &part})})
	}
	return err
}

// torn describes the current segment from offset on.
func (w *walk) torn(offset int64) (part torn, err error) {
	err = w.withFile(func(f *os.File) error {
		if _, err := f.Seek(offset, io.SeekStart); err != nil {
			return err
		}
		text := make([]byte, MaxInput+1)
		n, err := io.ReadFull(f, text)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
			return err
		}
		hash := sha256.New()
		hash.Write(text[:n])
		more, err := io.Copy(hash, f)
		part = torn{
			Digest: Digest{SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: int64(n) + more},
			Text:   Trim(string(text[:n])),
		}
		return err
	})
	return part, err
}

// damaged goes on behind acknowledged records that are not what they were. They
// stay as they are: the log continues in a new segment, with the hash and the
// key that the key file holds.
func (w *walk) damaged() (tip, error) {
	st := w.tip.state
	last, end, err := w.lastRecord()
	if err != nil {
		return tip{}, err
	}
	note := Record{Event: EventBroken, Data: encodeData(opening{Reason: "the last record is not the one that was written"})}
	switch unfinished := end < w.segs[w.at].size; {
	case last.Seq+1 == st.Seq && unfinished:
		part, err := w.torn(end)
		if err != nil {
			return tip{}, err
		}
		note = Record{Event: EventTorn, Data: encodeData(opening{Lost: &span{st.Seq, st.Seq}, Torn: &part})}
	case last.Seq < st.Seq:
		note = lostNote(EventCut, last.Seq+1, st.Seq)
	}
	return fresh(st, w.tip.oldest, note), nil
}

// begun goes on in a segment whose first record was never acknowledged. It may
// have been begun because the one before was damaged.
func (w *walk) begun() (tip, error) {
	before := walk{dir: w.dir, segs: w.segs[:w.at], at: w.at - 1, tip: w.tip}
	if found, err := before.findHead(); found || err != nil {
		return w.tip, err
	}
	t, err := before.damaged()
	t.first, t.dirty = w.tip.first, w.tip.dirty
	return t, err
}

func lostNote(event string, first, last uint64) Record {
	return Record{Event: event, Data: encodeData(opening{Lost: &span{first, last}})}
}

// lastRecord returns the number and hash of the last record of the current
// segment and where its line ends; without one, the number before the segment.
// The number is no larger than the segment's size allows, whatever a line says.
func (w *walk) lastRecord() (last seal.AuditState, end int64, err error) {
	seg := w.segs[w.at]
	last.Seq = seg.first - 1
	most := seg.first + uint64(seg.size)/uint64(minLine)
	err = w.withFile(func(f *os.File) error {
		return linesBackward(f, seg.size, func(l tailLine) (found bool) {
			r, err := decode(l.text)
			if found = l.whole && err == nil && r.Seq >= seg.first && r.Seq <= most; found {
				last = seal.AuditState{Seq: r.Seq, Head: seal.HashOf(l.text)}
				end = l.offset + int64(len(l.text)) + 1
			}
			return found
		})
	})
	return last, end, err
}

// rekey goes on behind the last record with a key of its own, because there is
// none that fits. Only a new segment can follow: what it continues is unproven.
func rekey(dir *state.Dir, segs []segment, reason string) (tip, error) {
	st, oldest := seal.AuditState{}, uint64(1)
	for i := len(segs) - 1; i >= 0 && st.Seq == 0; i-- {
		w := walk{dir: dir, segs: segs, at: i}
		last, end, err := w.lastRecord()
		if err != nil {
			return tip{}, err
		}
		if end > 0 || i == 0 {
			st = last
		}
		oldest = segs[0].first
	}
	for _, s := range segs {
		if s.first == st.Seq+1 {
			st.Seq++ // the name is taken, by a segment without a record
		}
	}
	if st.Seq >= maxSeq {
		return tip{}, fmt.Errorf("%s is not of this log: move it away", segmentName(segs[len(segs)-1].first))
	}
	next, err := seal.NewAuditKey()
	if err != nil {
		return tip{}, err
	}
	st.Next = next
	return fresh(st, oldest, Record{Event: EventRekeyed, Data: encodeData(opening{Reason: reason})}), nil
}

// decodeOpening reads the data of one of the log's own events.
func decodeOpening(data json.RawMessage, out *opening) bool {
	return data != nil && json.Unmarshal(data, out) == nil
}
