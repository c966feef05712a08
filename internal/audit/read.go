package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strconv"

	"warder/internal/state"
)

// Records yields the records after number after, in order. A line that is no
// record is yielded as ErrDamaged and passed over; any other error ends the
// reading. Records that are still being written may or may not be there, an
// unfinished line is not. Reading proves nothing: see Verify.
func Records(dir *state.Dir, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		segs, err := segments(dir)
		if err != nil {
			yield(Record{}, err)
			return
		}
		for i, seg := range segs {
			if i+1 < len(segs) && segs[i+1].first <= after+1 {
				continue
			}
			if !readRecords(dir, seg, after, yield) {
				return
			}
		}
	}
}

// readRecords yields the records of one segment.
func readRecords(dir *state.Dir, seg segment, after uint64, yield func(Record, error) bool) (more bool) {
	f, err := dir.OpenRead(segmentName(seg.first))
	if errors.Is(err, fs.ErrNotExist) {
		return true // rotated away meanwhile
	}
	if err != nil {
		return yield(Record{}, err) && false
	}
	defer f.Close()
	b := blocks{r: f}
	for {
		block, err := b.next(nil)
		switch {
		case errors.Is(err, io.EOF):
			return true
		case errors.Is(err, errLongLine):
			return yield(Record{}, fmt.Errorf("%w in %s: %w", ErrDamaged, segmentName(seg.first), err))
		case err != nil:
			return yield(Record{}, err) && false
		}
		for len(block) > 0 {
			var text []byte
			text, block = cutLine(block)
			if r, err := decode(text); (err != nil || r.Seq > after) && !yield(r, err) {
				return false
			}
		}
	}
}

// Tail returns the last n records, fewer if there are no more. Lines that are no
// record are left out and counted.
func Tail(dir *state.Dir, n int) (records []Record, damaged int, err error) {
	segs, err := segments(dir)
	if err != nil {
		return nil, 0, err
	}
	for i := len(segs) - 1; i >= 0 && len(records) < n; i-- {
		f, err := dir.OpenRead(segmentName(segs[i].first))
		if errors.Is(err, fs.ErrNotExist) {
			break // rotated away meanwhile, and with it all that is older
		}
		if err != nil {
			return nil, 0, err
		}
		err = linesBackward(f, segs[i].size, func(l tailLine) (enough bool) {
			r, err := decode(l.text)
			switch {
			case err == nil && l.whole:
				records = append(records, r)
			case l.whole:
				damaged++
			}
			return len(records) >= n
		})
		f.Close()
		if err != nil {
			return nil, 0, err
		}
	}
	slices.Reverse(records)
	return records, damaged, nil
}

// Show yields the records of the intent called id, or the one whose number id
// is. Other errors than ErrDamaged end the reading, as in Records.
func Show(dir *state.Dir, id string) iter.Seq2[Record, error] {
	seq, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		seq = 0
	}
	return func(yield func(Record, error) bool) {
		for r, err := range Records(dir, 0) {
			wanted := err == nil && (r.ID == id && id != "" || r.Seq == seq)
			if (wanted || err != nil) && !yield(r, err) {
				return
			}
		}
	}
}

// Follow yields the records after number after, and those to come as they become
// durable, until ctx ends or the log is closed. A reader too slow for the
// rotation gets an error that wraps ErrDamaged in the place of what it missed.
func (l *Log) Follow(ctx context.Context, after uint64) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		f := follower{dir: l.dir, last: after}
		defer f.close()
		for {
			seq, changed, closed := l.look()
			if !f.read(seq, yield) || closed {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// follower is a place in the log. It holds its segment open, so that a rotation
// can't take away what it is reading.
type follower struct {
	dir    *state.Dir
	last   uint64 // the last record that was yielded
	file   *os.File
	seg    uint64
	offset int64 // of the next line in the segment
	b      blocks
	text   []byte // lines that were read and not passed
}

func (f *follower) close() {
	if f.file != nil {
		f.file.Close()
	}
}

// read yields what there is up to record seq. It begins at the offset each time:
// what was read behind the last durable record may have been taken back since.
func (f *follower) read(seq uint64, yield func(Record, error) bool) (more bool) {
	if err := f.seek(f.offset); err != nil {
		return yield(Record{}, err) && false
	}
	for f.last < seq {
		if len(f.text) == 0 {
			ok, err := f.fill()
			if err != nil {
				return yield(Record{}, err) && false
			}
			if !ok {
				return true
			}
		}
		text, rest := cutLine(f.text)
		r, err := decode(text)
		if err == nil && r.Seq > seq {
			return true
		}
		f.text = rest
		f.offset += int64(len(text) + 1)
		if !f.pass(r, err, yield) {
			return false
		}
	}
	return true
}

func (f *follower) seek(offset int64) error {
	f.offset, f.text = offset, nil
	if f.file == nil {
		return nil
	}
	f.b = blocks{r: f.file}
	_, err := f.file.Seek(offset, io.SeekStart)
	return err
}

// pass yields a line, and before it what is missing.
func (f *follower) pass(r Record, err error, yield func(Record, error) bool) (more bool) {
	switch {
	case err != nil:
		return yield(Record{}, err)
	case r.Seq <= f.last:
		return true
	case r.Seq > f.last+1 && f.last > 0:
		gone := fmt.Errorf("%w: the records between number %d and number %d are gone", ErrDamaged, f.last, r.Seq)
		if !yield(Record{}, gone) {
			return false
		}
	}
	f.last = r.Seq
	return yield(r, nil)
}

// fill reads more lines, in the next segment where this one has no more. It
// returns false if there are none.
func (f *follower) fill() (ok bool, err error) {
	for {
		if f.file != nil {
			f.text, err = f.b.next(nil)
			if err == nil {
				return true, nil
			}
			if !errors.Is(err, io.EOF) && !errors.Is(err, errLongLine) {
				return false, err
			}
		}
		if ok, err := f.next(); !ok || err != nil {
			return false, err
		}
	}
}

// next opens the next segment that may hold something new. It returns false if
// there is none.
func (f *follower) next() (bool, error) {
	segs, err := segments(f.dir)
	if err != nil {
		return false, err
	}
	at := uint64(0)
	for _, s := range segs {
		if s.first > f.seg && (at == 0 || s.first <= f.last+1) {
			at = s.first
		}
	}
	if at == 0 {
		return false, nil
	}
	file, err := f.dir.OpenRead(segmentName(at))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // rotated away meanwhile: look again
	}
	if err != nil {
		return false, err
	}
	f.close()
	f.file, f.seg = file, at
	return true, f.seek(0)
}
