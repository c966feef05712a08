package audit

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"warder/internal/seal"
	"warder/internal/state"
)

// The checkpoints file (F2.4): the key and the head of the log at some of its
// records, wrapped under the account's root key.

const (
	checkpointsFile    = "checkpoints"
	checkpointsMagic   = "WARDERAC"
	checkpointsVersion = 1
	checkpointsPrefix  = len(checkpointsMagic) + 2 + 2 + len(seal.ID{})
	checkpointSize     = 1 + 8 + len(seal.Hash{}) + seal.WrappedKeySize

	// maxCheckpoints bounds the file at about 100 KB. Beyond that the older
	// half is thinned out.
	maxCheckpoints = 1024

	checkpointsLimit = checkpointsPrefix + 2*maxCheckpoints*checkpointSize
)

// checkpoint is one entry.
type checkpoint struct {
	broken bool // it confirms the declaration of a break
	seq    uint64
	head   seal.Hash
	box    [seal.WrappedKeySize]byte
}

func (c checkpoint) place(account seal.ID) seal.CheckpointPlace {
	return seal.CheckpointPlace{Account: account, Seq: c.seq, Head: c.head, Break: c.broken}
}

// genuine reports whether the checkpoint opens.
func (c checkpoint) genuine(root seal.RootKey, account seal.ID) bool {
	k, err := seal.OpenCheckpoint(root, c.place(account), c.box[:])
	k.Destroy()
	return err == nil
}

// checkpoints is the file.
type checkpoints struct {
	account seal.ID
	list    []checkpoint // by seq, the oldest first
}

// errCheckpoints says that the file is not one of ours.
var errCheckpoints = errors.New("the audit log's checkpoints are damaged")

// readCheckpoints returns an empty file if there is none.
func readCheckpoints(dir *state.Dir) (checkpoints, error) {
	file, err := dir.Read(checkpointsFile, int64(checkpointsLimit))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return checkpoints{}, nil
	case errors.Is(err, state.ErrTooLarge):
		return checkpoints{}, errCheckpoints
	case err != nil:
		return checkpoints{}, err
	}
	return decodeCheckpoints(file)
}

func decodeCheckpoints(file []byte) (c checkpoints, err error) {
	if len(file) < checkpointsPrefix || !bytes.HasPrefix(file, []byte(checkpointsMagic)) {
		return c, errCheckpoints
	}
	file = file[len(checkpointsMagic):]
	if v := binary.BigEndian.Uint16(file); v != checkpointsVersion {
		return c, fmt.Errorf("the audit log's checkpoints have format %d, this warder reads %d", v, checkpointsVersion)
	}
	if int(binary.BigEndian.Uint16(file[2:])) != len(c.account) {
		return c, errCheckpoints
	}
	file = file[4+copy(c.account[:], file[4:]):]
	if len(file)%checkpointSize != 0 {
		return c, errCheckpoints
	}
	for ; len(file) > 0; file = file[checkpointSize:] {
		next := checkpoint{broken: file[0] == 1, seq: binary.BigEndian.Uint64(file[1:])}
		n := 9 + copy(next.head[:], file[9:])
		copy(next.box[:], file[n:])
		if file[0] > 1 || next.seq > maxSeq || len(c.list) > 0 && next.seq <= c.list[len(c.list)-1].seq {
			return checkpoints{}, errCheckpoints
		}
		c.list = append(c.list, next)
	}
	return c, nil
}

func (c *checkpoints) encode() []byte {
	out := append(make([]byte, 0, checkpointsPrefix+len(c.list)*checkpointSize), checkpointsMagic...)
	out = binary.BigEndian.AppendUint16(out, checkpointsVersion)
	out = binary.BigEndian.AppendUint16(out, uint16(len(c.account)))
	out = append(out, c.account[:]...)
	for _, p := range c.list {
		kind := byte(0)
		if p.broken {
			kind = 1
		}
		out = append(out, kind)
		out = binary.BigEndian.AppendUint64(out, p.seq)
		out = append(out, p.head[:]...)
		out = append(out, p.box[:]...)
	}
	return out
}

// add puts a newer checkpoint at the end, in the place of one for the same
// record, and drops what is of no more use when the log begins at oldest.
func (c *checkpoints) add(p checkpoint, oldest uint64) {
	for len(c.list) > 0 && c.list[len(c.list)-1].seq >= p.seq {
		c.list = c.list[:len(c.list)-1]
	}
	c.list = append(c.list, p)
	// Of those before the log's beginning, the newest still gives its keys.
	for len(c.list) > 1 && c.list[1].seq < oldest {
		c.list = c.list[1:]
	}
	if len(c.list) > maxCheckpoints {
		c.thin()
	}
}

// thin drops every second of the older half, but not the first and none that
// confirms a break.
func (c *checkpoints) thin() {
	kept := c.list[:1:1]
	for i, p := range c.list[1:] {
		if i >= maxCheckpoints/2 || i%2 == 1 || p.broken {
			kept = append(kept, p)
		}
	}
	c.list = kept
}

// ErrBehind says that the log is not the one that its newest checkpoint saw: it
// was rolled back, or the checkpoint is not genuine. Verify says which; a new
// checkpoint would cover that up.
var ErrBehind = errors.New("the audit log is behind its newest checkpoint")

// ErrNoCheckpoints says that the log's checkpoints are gone or not this
// account's, although there were some. To begin anew would cover that up.
var ErrNoCheckpoints = errors.New("the audit log's checkpoints are missing")

// contradicts returns ErrBehind if the log is not the one of which the marks
// were noted. Records that were rotated away can't be compared.
func contradicts(w *writer, marks []Mark) error {
	segs, err := segments(w.dir)
	if err != nil {
		return err
	}
	for _, m := range marks {
		if m.Seq < w.tip.oldest {
			continue
		}
		held, err := holds(w.dir, segs, m)
		if err == nil && (m.Seq > w.tip.state.Seq || !held) {
			err = ErrBehind
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holds looks for a record, from the end of its segment: marks are of late.
func holds(dir *state.Dir, segs []segment, m Mark) (found bool, err error) {
	at := -1
	for i, s := range segs {
		if s.first <= m.Seq {
			at = i
		}
	}
	if at < 0 {
		return false, nil
	}
	f, err := dir.OpenRead(segmentName(segs[at].first))
	if err != nil {
		return false, err
	}
	defer f.Close()
	err = linesBackward(f, segs[at].size, func(l tailLine) (enough bool) {
		seq, ok := seqOf(l.text)
		found = ok && l.whole && seq == m.Seq && seal.HashOf(l.text) == m.Head
		return found
	})
	return found, err
}

// resumeCheckpoints is checkpoint for a log of which the account has signed
// marks before, if it has any.
func resumeCheckpoints(w *writer, marks []Mark) error {
	w.sealed = w.sealed || len(marks) > 0
	err := contradicts(w, marks)
	if err == nil {
		err = w.checkpoint(false)
	}
	if errors.Is(err, ErrBehind) || errors.Is(err, ErrNoCheckpoints) {
		w.root = seal.RootKey{} // no rotation covers it up either
		w.learn(contradiction(w, marks, err))
	}
	return err
}

// contradiction is what there is to be said of a log that resumeCheckpoints
// refuses. Verify may find more, and earlier.
func contradiction(w *writer, marks []Mark, err error) *Bad {
	if errors.Is(err, ErrNoCheckpoints) {
		return &Bad{w.tip.oldest, Key, err.Error()}
	}
	last, newest := w.tip.state.Seq, uint64(0)
	for _, m := range marks {
		newest = max(newest, m.Seq)
	}
	if newest > last {
		return &Bad{last + 1, Cut, fmt.Sprintf("the log ends at record %d of %d", last, newest)}
	}
	return &Bad{max(newest, w.tip.oldest), Tamper, err.Error()}
}

// checkpoint seals the present state. Only one that confirms a break goes over
// those that contradict it, or takes the place of those that are missing.
func (w *writer) checkpoint(broken bool) error {
	file, err := readCheckpoints(w.dir)
	gone := errors.Is(err, errCheckpoints) || err == nil && (file.account != w.account || len(file.list) == 0)
	if gone && w.sealed && !broken {
		return fmt.Errorf("sealing an audit checkpoint: %w", ErrNoCheckpoints)
	}
	switch {
	case errors.Is(err, errCheckpoints):
		// They prove nothing any more; the manifests' signed heads do.
		w.opt.Log.Warn("the audit log's checkpoints were damaged and begin anew")
	case err != nil:
		return fmt.Errorf("sealing an audit checkpoint: %w", err)
	}
	if file.account != w.account {
		file = checkpoints{account: w.account}
	}
	now := checkpoint{broken: broken, seq: w.tip.state.Seq, head: w.tip.state.Head}
	if n := len(file.list); n > 0 && !broken {
		newest := file.list[n-1]
		if newest.seq > now.seq || newest.seq == now.seq && newest.head != now.head {
			return fmt.Errorf("sealing an audit checkpoint: %w", ErrBehind)
		}
		if newest.seq == now.seq && newest.genuine(w.root, w.account) {
			w.sealed = true
			return nil // it says the same
		}
	}
	now.box, err = seal.SealCheckpoint(w.root, now.place(w.account), w.tip.state.Next)
	if err != nil {
		return err
	}
	file.add(now, w.tip.oldest)
	if err := w.store.Replace(checkpointsFile, file.encode()); err != nil {
		return fmt.Errorf("sealing an audit checkpoint: %w", err)
	}
	w.sealed = true
	return nil
}
