package audit

import (
	"fmt"
	"strings"

	"warder/internal/seal"
)

// judge goes through the lines of a log in order and stops at the first that is
// wrong. A line is held against three things: its MAC, if the key is there; the
// hash that the next line holds; and marks, which are hashes held elsewhere.
type judge struct {
	evidence
	report Report
	err    error // why judging can't go on

	row    row
	told   opening   // what the newest segment tells of what was found before
	spoken bool      // there is such a segment
	oldest uint64    // the first record that must be there
	from   uint64    // number of the first line that is judged
	expect uint64    // number of the next line
	head   seal.Hash // of the line before
	// suspect is a line whose hash the line behind it contradicts; 0 is none.
	// Which of the two was changed, a third tells.
	suspect uint64

	seg    uint64 // the segment that is being read
	opened bool   // none of its lines came yet
	rest   int64  // bytes of an unfinished line at the end of the segment before
}

// bad notes the first fault. A suspect is an earlier one.
func (j *judge) bad(seq uint64, cause Cause, text string) {
	switch {
	case j.report.FirstBad != nil:
	case j.suspect != 0:
		j.report.FirstBad = &Bad{j.suspect, Tamper, "the record behind it holds another hash"}
	default:
		j.report.FirstBad = &Bad{seq, cause, text}
	}
}

// badLine is bad for the next line. Behind the last acknowledged record nothing
// can be tampered with: what stands there is what a crash left.
func (j *judge) badLine(text string) {
	if j.expect > j.newest && j.known {
		j.bad(j.expect, Tear, "what stands behind the last record is none: "+text)
		return
	}
	j.bad(j.expect, Tamper, text)
}

// begin sets the judge before the first line of segs[from].
func (j *judge) begin(segs []segment, from int) {
	j.expect, j.report.First, j.oldest = 1, 1, max(j.oldest, 1)
	if len(segs) > 0 {
		j.expect, j.report.First = segs[from].first, segs[0].first
	}
	j.from = j.expect
	j.row.most = j.expect + uint64(total(segs[from:]))/uint64(minLine) + 1
	j.err = j.row.start(j.checkpoints, j.expect, j.report.Break != nil)
	// The record that declares a break is proved by its own checkpoint.
	proved := j.expect
	if j.report.Break != nil {
		proved++
	}
	j.report.Full = j.row.at > 0 && j.row.at <= proved
	j.report.Proved = j.row.at
}

// part judges one part of a segment.
func (j *judge) part(p *part) (enough bool) {
	if j.seg != p.seg.first {
		j.seg, j.opened = p.seg.first, true
	}
	if p.end {
		j.endSegment(p)
		return j.report.FirstBad != nil
	}
	forged, err := j.row.prove(p.lines, j.expect)
	for i := 0; i < len(p.lines) && err == nil && j.report.FirstBad == nil; i++ {
		err = j.line(&p.lines[i], i == forged)
	}
	j.err = err
	return j.err != nil || j.report.FirstBad != nil
}

// endSegment judges what follows the last line of a segment.
func (j *judge) endSegment(p *part) {
	switch {
	case p.long:
		j.badLine("a line is too long")
	case j.opened && j.rest > 0:
		j.unfinished()
	case j.opened && p.seg.first != j.expect:
		j.misplaced()
	}
	j.rest = p.rest
}

// unfinished says that a segment ends in an unfinished line though another
// follows, which a writer would have begun with what was lost.
func (j *judge) unfinished() {
	if j.newest == j.expect {
		j.bad(j.expect, Tear, "its line is unfinished")
		return
	}
	j.bad(j.expect, Tamper, "an unfinished line stands before the next segment")
}

// misplaced says that the segment does not begin where the one before ends.
func (j *judge) misplaced() {
	if j.seg > j.expect && j.expect <= j.newest {
		j.bad(j.expect, Gap, fmt.Sprintf("the next segment begins with record %d", j.seg))
		return
	}
	j.bad(j.seg, Tamper, segmentName(j.seg)+" does not belong to the log: move it away")
}

// line judges one line.
func (j *judge) line(l *line, forged bool) error {
	if l.err != nil && j.opened && j.seg != j.expect {
		j.misplaced()
		return nil
	}
	if l.err != nil {
		j.badLine(strings.TrimPrefix(l.err.Error(), ErrDamaged.Error()+": "))
		return nil
	}
	if j.opened && !j.opening(l) {
		return nil
	}
	switch {
	case l.seq > j.expect && l.prev != j.head:
		j.bad(j.expect, Gap, fmt.Sprintf("record %d follows", l.seq))
	case l.seq != j.expect:
		j.badLine(fmt.Sprintf("it has the number %d", l.seq))
	case forged:
		return j.forged()
	default:
		j.chain(l)
	}
	return nil
}

// chain judges a line by its neighbours' hashes and by its mark.
func (j *judge) chain(l *line) {
	// What came before the first line that is judged is not known, unless it is
	// the log's first.
	follows := l.prev == j.head || j.expect == j.from && j.from > 1
	mark, marked := j.marks[j.expect]
	switch {
	case j.suspect != 0 && !follows:
		j.suspect++ // both its neighbours contradict the line behind it
		j.bad(j.suspect, Tamper, "")
	case j.suspect != 0:
		j.bad(j.suspect, Tamper, "")
	case marked && mark != l.hash:
		j.bad(j.expect, Tamper, "another hash was noted for it")
	case follows:
	case j.expect == 1:
		j.badLine("it holds a hash of a record before the first")
	default:
		j.suspect = j.expect - 1
	}
	j.head = l.hash
	j.expect++
}

// fits reports whether the key file's key is of the row that judging has gone
// along.
func (j *judge) fits() (bool, error) {
	if !j.known {
		return false, nil
	}
	return j.row.fits(j.state.Next, j.state.Seq+1)
}

// forged judges a line whose MAC is wrong. If the key file's key goes on from
// the keys so far, the line was changed; if not, the key was.
func (j *judge) forged() error {
	fits, err := j.fits()
	if fits || !j.known || j.expect > j.newest {
		j.badLine("its MAC is wrong")
	} else {
		j.bad(j.expect, Key, "from here on the key is not the one that the account confirmed")
	}
	return err
}

// opening judges the first line of a segment.
func (j *judge) opening(l *line) (ok bool) {
	rest := j.rest
	j.opened, j.rest = false, 0
	data, own := l.opening()
	switch lost := data.Lost; {
	case own && lost != nil && lost.Last+1 == l.seq && (lost.First == j.expect || j.expect == j.from):
		cause, text := whatWasLost(l.event, lost)
		j.bad(lost.First, cause, text)
	case own && l.event == EventBroken && j.expect == j.from:
		j.bad(l.seq-1, Tamper, "it was another than the one that was written")
	case rest > 0:
		j.unfinished()
	case j.seg != j.expect:
		j.misplaced()
	case l.seq != j.seg:
		j.badLine(fmt.Sprintf("%s begins with record %d", segmentName(j.seg), l.seq))
	case j.seg > 1 && (!own || data.First == 0 || data.First > j.seg):
		j.badLine("no segment begins so")
	case own && l.event == EventRekeyed:
		j.bad(j.expect, Key, "from here on the log has another key: "+data.Reason)
	}
	return j.report.FirstBad == nil
}

// whatWasLost is what the writer found missing when it went on.
func whatWasLost(event string, lost *span) (Cause, string) {
	if event == EventTorn {
		return Tear, "its line is torn"
	}
	return Cut, fmt.Sprintf("the log ended at record %d of %d", lost.First-1, lost.Last)
}

// finish judges the end of the log.
func (j *judge) finish() (Report, error) {
	if j.report.FirstBad == nil && j.err == nil {
		j.end()
	}
	if j.err != nil {
		return Report{}, j.err
	}
	j.front()
	last := j.expect - 1
	if bad := j.report.FirstBad; bad != nil {
		last = min(last, bad.Seq-1)
	}
	if j.report.Last = last; last >= j.from {
		j.report.Events = last - j.from + 1
	}
	j.report.Found, j.report.Signed = j.told.Found, j.told.Signed
	j.report.OK = j.report.FirstBad == nil
	return j.report, nil
}

// front judges the beginning of the log. Where the newest segment may be missing,
// nobody knows what it said of the oldest.
func (j *judge) front() {
	if j.report.First <= j.oldest {
		return
	}
	if bad := j.report.FirstBad; bad == nil || bad.Cause == Tamper || bad.Cause == Gap {
		j.report.FirstBad = &Bad{j.oldest, Gap, fmt.Sprintf("the log begins with record %d", j.report.First)}
	}
}

// end compares the end of the log with the marks, the key file and the
// checkpoints.
func (j *judge) end() {
	switch {
	case j.newest == j.expect && j.rest > 0:
		j.unfinished()
	case j.newest >= j.expect:
		j.bad(j.expect, Cut, fmt.Sprintf("the log ends at record %d of %d", j.expect-1, j.newest))
	case j.suspect != 0:
		j.bad(j.suspect, Tamper, "")
	case !j.known && (j.expect > 1 || len(j.checkpoints) > 0):
		j.bad(j.expect, Key, "the key file is missing or damaged")
	}
	j.report.Unfinished = j.rest
	if j.row.at == j.expect && j.known {
		fits, err := j.fits()
		if err != nil {
			j.err = err
		} else if !fits {
			j.bad(j.state.Seq+1, Key, "the key file's key is not the one that the account confirmed")
		}
	}
	if j.foreign != nil && (j.report.Break == nil || j.foreign.Seq >= j.from) {
		j.bad(j.foreign.Seq, j.foreign.Cause, j.foreign.Text)
	}
	switch {
	case j.expect == 1:
	case j.noCheckpoint != "":
		j.bad(j.report.First, Key, j.noCheckpoint)
	case len(j.checkpoints) > 0 && j.row.at == 0:
		j.bad(j.report.First, Key, "no checkpoint reaches the log")
	}
}
