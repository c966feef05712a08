package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"warder/internal/seal"
	"warder/internal/state"
)

// store is how the log changes files; state.Dir is the real one.
type store interface {
	WriteNew(name string, data []byte) error
	Replace(name string, data []byte) error
	Remove(name string) error
	openAppend(name string) (appender, error)
}

// appender is a segment that is open to be written.
type appender interface {
	Write(p []byte) (int, error)
	Sync() error
	Truncate(size int64) error
	Stat() (fs.FileInfo, error)
	Close() error
}

type dirStore struct{ *state.Dir }

func (s dirStore) openAppend(name string) (appender, error) {
	f, err := s.OpenAppend(name)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// writer is what changes the files, one at a time.
type writer struct {
	dir   *state.Dir // to read from
	store store
	opt   Options

	tip      tip
	file     appender     // the current segment, once something was to be written
	root     seal.RootKey // seals a checkpoint at a rotation while it is alive
	account  seal.ID
	sealed   bool  // there must be checkpoints
	stopped  error // why nothing can be written any more
	rotation error // why the last segment could not be begun
	failing  error // why the last commit failed
	known
}

// tip is where the log ends and how it goes on.
type tip struct {
	// state is what the key file has: the last record that was acknowledged.
	state seal.AuditState
	first uint64 // of the current segment; 0 where the next commit must begin one
	size  int64  // of the current segment as far as state
	// redo are the lines behind size that verify but were never acknowledged,
	// and after is the state behind them. The next commit writes them again: the
	// sync that they saw may have failed.
	redo  []byte
	after seal.AuditState
	dirty bool     // there is more behind size
	notes []Record // what must be recorded before anything else
	// oldest is the first record that is kept.
	oldest uint64
}

func (t *tip) destroy() {
	t.state.Next.Destroy()
	t.after.Next.Destroy()
}

// replacedBy destroys the keys that lines have gone on from.
func (t *tip) replacedBy(lines lines) {
	switch {
	case lines.owned:
		t.destroy()
	case t.state.Seq != t.after.Seq: // lines were only written again
		t.state.Next.Destroy()
	}
}

// commit makes a batch durable as a whole, or nothing of it.
func (w *writer) commit(batch []*pending) error {
	w.failing = tryCommit(w, batch)
	return w.failing
}

// tryCommit writes the lines, then the key that went on.
//
// Of the two syncs, the first is the records': a crash between them leaves
// records ahead of the key, which load steps over, while a key ahead of the
// records would look like a cut.
func tryCommit(w *writer, batch []*pending) error {
	if w.stopped == nil && w.file != nil && !undisturbed(w.dir, w.file, w.tip) {
		w.close()
		w.stopped = w.start()
	}
	if w.stopped != nil {
		return fmt.Errorf("the audit log has stopped: %w", w.stopped)
	}
	w.makeRoom(batch)
	if err := w.openSegment(); err != nil {
		return err
	}
	dropped := w.keepFrom()
	lines, err := w.build(batch)
	if err != nil {
		return err
	}
	if err := w.write(lines); err != nil {
		lines.destroy()
		return err
	}
	began := w.tip.size == 0 && w.tip.first > 1
	w.untold = w.untold && !lines.told
	w.tip.replacedBy(lines)
	w.tip = tip{
		state: lines.at, after: lines.at,
		first: w.tip.first, size: w.tip.size + int64(len(lines.buf)), oldest: w.tip.oldest,
	}
	if began {
		w.began(dropped)
	}
	return nil
}

// undisturbed reports whether the open segment is still the file that its name
// means, and ends where the last commit ended. If somebody else cut, exchanged or
// removed it, going on would lose records or glue one to half a line.
func undisturbed(dir *state.Dir, file appender, t tip) bool {
	f, err := dir.OpenRead(segmentName(t.first))
	if err != nil {
		return false
	}
	defer f.Close()
	named, err := f.Stat()
	if err != nil {
		return false
	}
	open, err := file.Stat()
	return err == nil && os.SameFile(named, open) && named.Size() == t.size
}

// makeRoom begins a new segment if the batch would make the current one too
// large, or if there is damage to be told. A failure is told and the old segment grows: no record is lost to a
// rotation (S1-18).
func (w *writer) makeRoom(batch []*pending) {
	t := &w.tip
	if t.size == 0 || len(t.redo) > 0 || len(t.notes) > 0 {
		return
	}
	size := t.size
	for _, p := range batch {
		size += int64(p.size())
	}
	if size <= w.opt.MaxSize && !w.untold {
		return
	}
	first := t.after.Seq + 1
	if w.rotated(w.store.WriteNew(segmentName(first), nil)) != nil {
		return
	}
	w.closeSegment()
	t.first, t.size = first, 0
}

// openSegment opens the current segment for writing, or begins one. Whatever
// lies behind the last acknowledged record goes: load has taken note of it.
func (w *writer) openSegment() error {
	if w.file != nil {
		return nil
	}
	t := &w.tip
	if t.first == 0 {
		first := t.after.Seq + 1
		if err := w.store.WriteNew(segmentName(first), nil); err != nil {
			return fmt.Errorf("beginning a segment of the audit log: %w", err)
		}
		t.first, t.size = first, 0
	}
	file, err := w.store.openAppend(segmentName(t.first))
	if err != nil {
		return fmt.Errorf("opening the audit log's segment: %w", err)
	}
	if t.dirty {
		if err := file.Truncate(t.size); err != nil {
			return errors.Join(fmt.Errorf("cutting off a torn line: %w", err), file.Close())
		}
		t.dirty = false
	}
	w.file = file
	return nil
}

// lines are lines under construction and the state behind them.
type lines struct {
	buf   []byte
	at    seal.AuditState
	owned bool // at's key is the lines' own
	told  bool // a segment's first record is among them, with all that is known
}

func (l *lines) destroy() {
	if l.owned {
		l.at.Next.Destroy()
	}
}

// add appends one line.
func (l *lines) add(body []byte) error {
	seq := l.at.Seq + 1
	if seq > maxSeq {
		return errors.New("the audit log has no more numbers")
	}
	start := len(l.buf)
	l.buf = appendHead(l.buf, seq, body, l.at.Head)
	mac, err := seal.MACRecord(l.at.Next, l.buf[start:])
	if err != nil {
		return err
	}
	l.buf = appendMAC(l.buf, mac)
	next, err := l.at.Next.Next()
	if err != nil {
		return err
	}
	l.destroy()
	l.at, l.owned = seal.AuditState{Seq: seq, Head: seal.HashOf(l.buf[start:]), Next: next}, true
	l.buf = append(l.buf, '\n')
	return nil
}

// build makes the lines of a commit: what is to be written again, what must be
// noted first, the batch. A segment that does not begin the log begins with one
// of the log's own events.
func (w *writer) build(batch []*pending) (out lines, err error) {
	t := &w.tip
	out = lines{buf: append([]byte(nil), t.redo...), at: t.after}
	notes := t.notes
	if t.size == 0 && t.first > 1 && len(t.redo) == 0 {
		if len(notes) == 0 {
			notes = []Record{w.first()}
		}
		notes = append([]Record{w.carry(notes[0], out.at.Seq+1, t.oldest)}, notes[1:]...)
		out.told = true
	}
	for _, r := range notes {
		r.Time = stamp(w.opt.Now())
		if err = out.add(appendBody(nil, &r)); err != nil {
			break
		}
	}
	for _, p := range batch {
		for _, body := range p.bodies {
			if err != nil {
				break
			}
			err = out.add(body)
		}
		p.seq = out.at.Seq
	}
	if err != nil {
		out.destroy()
		return lines{}, err
	}
	return out, nil
}

// write makes lines durable and the key file with them. After an error the
// files are as before, or the log has stopped.
func (w *writer) write(lines lines) error {
	if _, err := w.file.Write(lines.buf); err != nil {
		return w.undo(err)
	}
	if err := w.file.Sync(); err != nil {
		// Which of the pages are on disk is unknown from here on.
		_ = w.file.Truncate(w.tip.size)
		w.stopped = err
		return err
	}
	err := saveState(w.store, lines.at)
	if err == nil {
		return nil
	}
	if now, readErr := readState(w.dir); readErr == nil {
		now.Next.Destroy()
		if now.Seq == w.tip.state.Seq {
			return w.undo(err)
		}
	}
	// The new key is in place, perhaps not durably: the records must stay.
	w.stopped = err
	return err
}

// undo takes a failed commit back, so that it does not count in half. Only where
// that fails too has the log stopped.
func (w *writer) undo(cause error) error {
	err := w.file.Truncate(w.tip.size)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		w.stopped = errors.Join(cause, err)
	}
	return cause
}

// keepFrom decides, at the start of a segment, which older ones are dropped: the
// oldest, until the others are no larger than so many generations. It returns
// what is to go once the new segment's first record, which tells it, is durable.
func (w *writer) keepFrom() (drop []segment) {
	t := &w.tip
	if t.size > 0 || t.first <= 1 || len(t.redo) > 0 {
		return nil // no segment begins, or its first record was made before
	}
	segs, err := segments(w.dir)
	if err != nil {
		_ = w.rotated(err)
		return nil
	}
	for len(segs) > 0 && segs[len(segs)-1].first >= t.first {
		segs = segs[:len(segs)-1]
	}
	n := 0
	for total(segs[n:]) > w.opt.MaxSize*int64(w.opt.Generations) {
		n++
	}
	switch {
	case n == 0 && !declares(t.notes): // what is missing in front was not dropped, and must not look so
	case n < len(segs):
		t.oldest = segs[n].first
	default:
		t.oldest = t.first
	}
	return segs[:n]
}

// declares says whether the segment that begins declares a break. What is missing in front is declared with it.
func declares(notes []Record) bool { return len(notes) > 0 && notes[0].Event == EventSealed }

// began ends a rotation, once the new segment's first record is durable: it
// removes old segments, and seals a checkpoint if the account is unlocked.
func (w *writer) began(drop []segment) {
	for _, s := range drop {
		if err := w.store.Remove(segmentName(s.first)); err != nil {
			w.opt.Log.Warn("the audit log could not remove an old segment", slog.Any("error", err))
		}
	}
	if w.root.IsZero() {
		return
	}
	if err := w.checkpoint(false); err != nil {
		// The usual cause is that the account was locked meanwhile.
		w.opt.Log.Debug("no audit checkpoint at a rotation", slog.Any("error", err))
		w.root = seal.RootKey{}
	}
}

// rotated notes whether a rotation worked, and tells the first that did not.
func (w *writer) rotated(err error) error {
	if err != nil && w.rotation == nil {
		w.opt.Log.Warn("the audit log could not begin a new segment and goes on in the old one", slog.Any("error", err))
	}
	w.rotation = err
	return err
}

// start loads the tip and settles what the last writer left.
func (w *writer) start() error {
	// All writers take the lock, so whatever is temporary is dead.
	if err := w.dir.CleanTemp(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil && !state.IsReadOnly(err) {
		return err
	}
	tip, err := load(w.dir, w.store)
	if err != nil {
		return err
	}
	w.tip, w.stopped = tip, nil
	if on, err := told(w.dir, tip); err == nil { // verifying tells what can't be read
		w.recall(on)
	}
	if len(tip.redo) == 0 && len(tip.notes) == 0 {
		return nil
	}
	if err := w.commit(nil); err != nil {
		w.opt.Log.Warn("the audit log could not note how its last writer ended", slog.Any("error", err))
	}
	return nil
}

// close gives up the open segment and the keys. All that counts is synced.
func (w *writer) close() {
	w.closeSegment()
	w.tip.destroy()
}

func (w *writer) closeSegment() {
	if w.file != nil {
		_ = w.file.Close()
		w.file = nil
	}
}
