package audit

import (
	"errors"
	"fmt"

	"warder/internal/seal"
	"warder/internal/state"
)

// evidence is what records are held against, beside each other.
type evidence struct {
	opt          VerifyOptions
	known        bool            // there is a key file
	state        seal.AuditState // what it says
	checkpoints  []confirmed     // those that open, the oldest first
	noCheckpoint string          // why there is none that counts
	foreign      *Bad            // the newest checkpoint that does not open
	marks        map[uint64]seal.Hash
	newest       uint64 // the highest mark: records as far as it were acknowledged
}

// confirmed is a checkpoint that opened.
type confirmed struct {
	checkpoint
	next seal.AuditKey // of the record behind it
}

func (e *evidence) destroy() {
	e.state.Next.Destroy()
	for _, c := range e.checkpoints {
		c.next.Destroy()
	}
}

// collect reads what there is. The order matters where a writer is at work: what
// is read first can't be ahead of what is read later, and the segments come last.
func (e *evidence) collect(dir *state.Dir) error {
	for _, m := range e.opt.Marks {
		e.mark(m.Seq, m.Head)
	}
	file, err := readCheckpoints(dir)
	switch {
	case errors.Is(err, errCheckpoints):
		e.noCheckpoint = err.Error()
	case err != nil:
		return err
	}
	if err := e.open(file); err != nil {
		return err
	}
	e.state, err = readState(dir)
	if e.known = err == nil; e.known {
		e.mark(e.state.Seq, e.state.Head)
	} else if !noKey(err) {
		return err
	}
	for _, c := range e.checkpoints {
		e.mark(c.seq, c.head)
	}
	return nil
}

// mark notes a hash that is held elsewhere. Of two that contradict each other no
// record fits both; the later, which is held better, counts.
func (e *evidence) mark(seq uint64, head seal.Hash) {
	if e.marks == nil {
		e.marks = map[uint64]seal.Hash{}
	}
	e.marks[seq] = head
	e.newest = max(e.newest, seq)
}

// open opens the checkpoints, if the root key is there.
func (e *evidence) open(file checkpoints) error {
	if e.opt.Root.IsZero() {
		return nil
	}
	if e.noCheckpoint == "" && (file.account != e.opt.Account || len(file.list) == 0) {
		e.noCheckpoint = "there is no checkpoint of this account"
	}
	if file.account != e.opt.Account {
		return nil
	}
	for _, p := range file.list {
		k, err := seal.OpenCheckpoint(e.opt.Root, p.place(file.account), p.box[:])
		switch {
		case err == nil:
			e.checkpoints = append(e.checkpoints, confirmed{p, k})
		case errors.Is(err, seal.ErrOpen):
			e.foreign = &Bad{p.seq, Key, fmt.Sprintf("the checkpoint at record %d is not one of this account", p.seq)}
		default:
			return err
		}
	}
	return nil
}

// row is the row of keys as far as judging has gone along it.
type row struct {
	key  seal.AuditKey
	at   uint64 // the record whose key it is; 0 is none
	most uint64 // more than the last number that the files have room for
}

// start takes the key of the oldest record, from first on, that there is one
// for: from the newest checkpoint before it, else from the next one behind. A
// break may have changed the key, so there nothing older than its own checkpoint
// serves.
func (r *row) start(checkpoints []confirmed, first uint64, broken bool) (err error) {
	best := -1
	for i, c := range checkpoints {
		switch before := c.seq < first; {
		case before && (broken || first-c.seq > maxSkip):
		case before || best < 0:
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	c := checkpoints[best]
	r.at = max(c.seq+1, first)
	r.key, err = c.next.Skip(r.at - c.seq - 1)
	return err
}

// prove checks the MACs of lines in a row, the first being number first, as far
// as they are records and there is a key. It returns the index of the first line
// whose MAC is wrong, or -1.
func (r *row) prove(lines []line, first uint64) (forged int, err error) {
	if r.at == 0 || r.at >= first+uint64(len(lines)) {
		return -1, nil
	}
	skip := int(r.at - first)
	macs := make([]seal.MACedRecord, 0, len(lines))
	for _, l := range lines[skip:] {
		if l.err != nil {
			break
		}
		macs = append(macs, seal.MACedRecord{Record: l.text[:len(l.text)-macTail], MAC: l.mac})
	}
	good, next, err := r.key.CheckRecords(macs)
	if err != nil {
		return -1, err
	}
	r.key.Destroy()
	r.key, r.at = next, r.at+uint64(good)
	if good < len(macs) {
		return skip + good, nil
	}
	return -1, nil
}

// fits reports whether k, the key of record at, is of the row.
func (r *row) fits(k seal.AuditKey, at uint64) (bool, error) {
	if at > r.most {
		return false, nil
	}
	early, late, n := r.key, k, at-r.at
	if at < r.at {
		early, late, n = k, r.key, r.at-at
	}
	stepped, err := early.Skip(n)
	if err != nil {
		return false, err
	}
	defer stepped.Destroy()
	return stepped.Equal(late), nil
}
