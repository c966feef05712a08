package audit

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"warder/internal/state"
)

const (
	// verifyTries bounds how often Verify begins again because the log was
	// rotated under it.
	verifyTries = 10

	// maxSkip is how many keys are stepped over to reach the beginning of the
	// log: half a minute's work. Names and numbers in files must not make for
	// more.
	maxSkip = 1 << 26
)

// Verify reads the log in dir and says whether it is whole. It changes nothing
// and needs no lock: a writer may be at work in this process or another.
//
// Without the root key it finds what does not fit together: a changed record, a
// gap, an end that is not where the key file says. Whoever can write the files
// can make a false log that fits, and a new key file. With the root key that is
// found too, back to the oldest checkpoint that is kept, but for records newer
// than an intruder who had the key file. The error is that of reading; what is
// wrong with the log is in the report.
func Verify(ctx context.Context, dir *state.Dir, opt VerifyOptions) (report Report, err error) {
	for range verifyTries {
		var rotated bool
		report, rotated, err = verifyOnce(ctx, dir, opt)
		if !rotated && !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return Report{}, fmt.Errorf("verifying the audit log: %w", err)
	}
	return report, nil
}

// verifyOnce verifies what is there now. It reports rotated if the log is not
// whole and has other segments now: listing a directory is no single moment, so
// the oldest may have gone and the newest not have come.
func verifyOnce(ctx context.Context, dir *state.Dir, opt VerifyOptions) (r Report, rotated bool, err error) {
	j := judge{evidence: evidence{opt: opt}}
	defer func() { j.evidence.destroy(); j.row.key.Destroy() }()
	if err := j.collect(dir); err != nil {
		return Report{}, false, err
	}
	segs, err := segments(dir)
	if err != nil {
		return Report{}, false, err
	}
	j.report.Segments = len(segs)
	from, err := base(&j, dir, segs)
	if err == nil {
		j.begin(segs, from)
		err = j.err
	}
	if err == nil && j.report.FirstBad == nil {
		err = scan(ctx, dir, segs[from:], j.part)
	}
	if err != nil {
		return Report{}, false, err
	}
	r, err = j.finish()
	if err != nil || r.OK {
		return r, false, err
	}
	now, err := segments(dir)
	same := slices.EqualFunc(segs, now, func(a, b segment) bool { return a.first == b.first })
	return r, !same, err
}

// base finds where judging begins: at the newest declared break, with all before
// it as it was found then, else at the oldest segment.
func base(j *judge, dir *state.Dir, segs []segment) (from int, err error) {
	for i := len(segs) - 1; i >= 0; i-- {
		first, err := firstLine(dir, segs[i])
		if err != nil {
			return 0, err
		}
		data, ok := first.opening()
		if first.err != nil || !ok {
			continue
		}
		j.oldest = max(j.oldest, data.First)
		if !j.spoken {
			j.spoken, j.told = true, tells(first.event, first.seq, data)
		}
		if first.event != EventSealed {
			continue
		}
		j.report.Break = &Break{first.seq, data.FirstBad}
		if !j.opt.Root.IsZero() && !j.confirms(first) {
			j.bad(first.seq, Tamper, "it declares a break that the account did not confirm")
			return i, nil
		}
		bad, err := closed(dir, segs[:i], data.Segments, j.oldest)
		if bad != nil {
			j.report.FirstBad = bad
		}
		return i, err
	}
	return 0, nil
}

// confirms reports whether a checkpoint confirms the declaration of a break:
// only who had the root key can have made one.
func (e *evidence) confirms(declaration line) bool {
	return slices.ContainsFunc(e.checkpoints, func(c confirmed) bool {
		return c.broken && c.seq == declaration.seq && c.head == declaration.hash
	})
}

// closed compares the segments before a break with what was declared.
func closed(dir *state.Dir, segs []segment, want []sealedSegment, oldest uint64) (*Bad, error) {
	for len(want) > 0 && (len(segs) == 0 || segs[0].first > want[0].First) && want[0].First < oldest {
		want = want[1:] // rotated away since
	}
	for i := range max(len(segs), len(want)) {
		switch {
		case i == len(want) || i < len(segs) && segs[i].first < want[i].First:
			return &Bad{segs[i].first, Tamper, segmentName(segs[i].first) + " was not there when the break was declared"}, nil
		case i == len(segs) || segs[i].first > want[i].First:
			return &Bad{want[i].First, Gap, segmentName(want[i].First) + " is missing"}, nil
		}
		got, err := digestOf(dir, segs[i])
		if err != nil {
			return nil, err
		}
		if got != want[i].Digest {
			return &Bad{segs[i].first, Tamper, segmentName(segs[i].first) + " was changed after the break was declared"}, nil
		}
	}
	return nil, nil
}

// firstLine reads the first line of a segment.
func firstLine(dir *state.Dir, seg segment) (line, error) {
	f, err := dir.OpenRead(segmentName(seg.first))
	if err != nil {
		return line{}, err
	}
	defer f.Close()
	text, err := bufio.NewReader(io.LimitReader(f, MaxLine+1)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return line{err: ErrDamaged}, nil
	}
	if err != nil {
		return line{}, err
	}
	text = text[:len(text)-1]
	return readLine(text), nil
}

func digestOf(dir *state.Dir, seg segment) (Digest, error) {
	f, err := dir.OpenRead(segmentName(seg.first))
	if err != nil {
		return Digest{}, err
	}
	defer f.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	return Digest{SHA256: hex.EncodeToString(hash.Sum(nil)), Bytes: n}, err
}
