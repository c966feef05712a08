package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"warder/internal/audit"
	"warder/internal/seal"
)

// forge makes a log whose chain fits, with the tail from record at on made anew
// by an intruder who has no old key. It returns it with a key file to match.
func forge(s *scene, at int) *scene {
	s.t.Helper()
	forged := s.copy()
	name := s.segments()[0]
	all := lines(s.read(name))
	prev := seal.HashOf(bytes.TrimSuffix(all[at-2], []byte("\n")))
	key, err := seal.NewAuditKey()
	must(s.t, err)
	for i := at - 1; i < len(all); i++ {
		r, err := audit.Decode(bytes.TrimSuffix(all[i], []byte("\n")))
		must(s.t, err)
		r.Decision, r.Prev = "deny", prev
		line := r.Line()
		r.MAC, err = seal.MACRecord(key, line[:len(line)-audit.MacTail])
		must(s.t, err)
		line = r.Line()
		prev = seal.HashOf(line)
		all[i] = append(line, '\n')
		key, err = key.Next()
		must(s.t, err)
	}
	forged.write(name, bytes.Join(all, nil))
	st := seal.AuditState{Seq: uint64(len(all)), Head: prev, Next: key}
	must(s.t, st.File(func(file []byte) error {
		forged.write("key", bytes.Clone(file))
		return nil
	}))
	return forged
}

// TestForgedTail is what the chain alone can't find: everything from record 7 on
// was made anew, with a key file to match. With the root key it is found.
func TestForgedTail(t *testing.T) {
	s := newScene(t).fill(12)
	forged := forge(s, 7)
	forged.wantReport("chain", forged.verify(), 0, "")
	forged.wantReport("full", forged.full(), 7, audit.Key)
	if !forged.full().Full || forged.verify().Full {
		t.Error("Full is not what it says")
	}

	// The log goes on with the intruder's key, and is still found out.
	l := forged.open(audit.Options{})
	forged.add(l, 3)
	must(t, l.Checkpoint(s.root, s.account))
	forged.wantReport("later", forged.full(), 7, audit.Key)
}

// TestForgedFarAway begins a log with a number that no checkpoint reaches, and
// says that all before was rotated away.
func TestForgedFarAway(t *testing.T) {
	s := newScene(t).fill(5)
	for _, first := range []uint64{6, 1 << 12, 1 << 40} {
		far := s.copy()
		far.remove(far.segments()[0])
		key, err := seal.NewAuditKey()
		must(t, err)
		r := audit.Record{Seq: first, Event: audit.EventRotated, Data: fmt.Appendf(nil, `{"first":%d}`, first)}
		line := r.Line()
		r.MAC, err = seal.MACRecord(key, line[:len(line)-audit.MacTail])
		must(t, err)
		next, err := key.Next()
		must(t, err)
		far.write(audit.SegmentName(first), append(r.Line(), '\n'))
		must(t, seal.AuditState{Seq: first, Head: seal.HashOf(r.Line()), Next: next}.File(func(file []byte) error {
			far.write("key", bytes.Clone(file))
			return nil
		}))
		far.wantReport("chain", far.verify(), 0, "")
		far.wantReport("full", far.full(), first, audit.Key)
	}
}

// TestReplacedKeyFile exchanges the key file alone.
func TestReplacedKeyFile(t *testing.T) {
	s := newScene(t).fill(12)
	report := s.verify()
	seq, head := report.Last, seal.HashOf(bytes.TrimSuffix(lines(s.read(s.segments()[0]))[11], []byte("\n")))
	key, err := seal.NewAuditKey()
	must(t, err)
	replace := func(s *scene, st seal.AuditState) {
		must(t, st.File(func(file []byte) error { s.write("key", bytes.Clone(file)); return nil }))
	}

	// By one that fits in all but the key.
	fits := s.copy()
	replace(fits, seal.AuditState{Seq: seq, Head: head, Next: key})
	fits.wantReport("full", fits.full(), 13, audit.Key)
	l := fits.open(audit.Options{})
	fits.add(l, 2)
	must(t, l.Close())
	fits.wantReport("full, later", fits.full(), 13, audit.Key)

	// By another log's.
	foreign := s.copy()
	foreign.write("key", newScene(t).fill(12).read("key"))
	foreign.want(12, audit.Tamper)

	// By one that claims more, and one that claims a number without end.
	more := s.copy()
	replace(more, seal.AuditState{Seq: 40, Head: head, Next: key})
	more.want(13, audit.Cut)
	replace(more, seal.AuditState{Seq: 1 << 62, Head: head, Next: key})
	more.want(13, audit.Cut)

	// By none.
	none := s.copy()
	none.remove("key")
	none.want(13, audit.Key)
	l = none.open(audit.Options{})
	none.add(l, 2)
	must(t, l.Checkpoint(s.root, s.account))
	none.want(13, audit.Key)
	if got := events(none)[12]; got != audit.EventRekeyed {
		t.Errorf("record 13 is %s", got)
	}

	// By an older one of the same log: the keys go on from there.
	old := newScene(t).fill(12)
	before := old.read("key")
	l = old.open(audit.Options{})
	old.add(l, 5)
	must(t, l.Close())
	old.write("key", before)
	old.want(0, "")
	l = old.open(audit.Options{})
	old.add(l, 1)
	old.want(0, "")
	if got := len(records(old)); got != 18 {
		t.Errorf("%d records", got)
	}
}

// TestStolenKey: who had the key file at record 6 may write on from there, until
// a checkpoint pins what stands. He never gets behind it.
func TestStolenKey(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 6)
	stolen, err := seal.OpenAuditState(s.read("key"))
	must(t, err)
	s.add(l, 6)
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 3)
	must(t, l.Close())

	name := s.segments()[0]
	all := lines(s.read(name))
	prev, key := stolen.Head, stolen.Next
	for i := 6; i < len(all); i++ {
		r, err := audit.Decode(bytes.TrimSuffix(all[i], []byte("\n")))
		must(t, err)
		r.Decision, r.Prev = "deny", prev
		line := r.Line()
		r.MAC, err = seal.MACRecord(key, line[:len(line)-audit.MacTail])
		must(t, err)
		prev = seal.HashOf(r.Line())
		all[i] = append(r.Line(), '\n')
		key, err = key.Next()
		must(t, err)
	}
	s.write(name, bytes.Join(all, nil))
	must(t, seal.AuditState{Seq: 15, Head: prev, Next: key}.File(func(file []byte) error {
		s.write("key", bytes.Clone(file))
		return nil
	}))
	s.wantReport("chain", s.verify(), 0, "")
	s.wantReport("full", s.full(), 12, audit.Tamper) // the record that the checkpoint holds
}

// TestCheckpointsOfRecordsBeforeThem pins what was recorded before there was an
// account.
func TestCheckpointsOfRecordsBeforeThem(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	s.add(l, 4)
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 4)
	must(t, l.Checkpoint(s.root, s.account))
	must(t, l.Checkpoint(s.root, s.account)) // says nothing new
	must(t, l.Close())
	if size := len(s.read("checkpoints")); size != 28+2*101 {
		t.Errorf("the checkpoints take %d bytes", size)
	}
	s.want(0, "")
	forged := forge(s, 2)
	forged.wantReport("full", forged.full(), 4, audit.Tamper)
}

// TestCheckpointsStayFew: what is before the log's beginning goes, and many of
// one segment are thinned out.
func TestCheckpointsStayFew(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 4000, Generations: 2})
	must(t, l.Checkpoint(s.root, s.account)) // one at each rotation follows
	s.add(l, 200)
	s.want(0, "")
	if n, segs := (len(s.read("checkpoints"))-28)/101, len(s.segments()); n < segs || n > segs+1 {
		t.Errorf("%d checkpoints of %d segments", n, segs)
	}
	must(t, l.Close())

	s = newScene(t).fill(3)
	s.write(s.segments()[0], s.read(s.segments()[0])[1:])
	l = s.open(audit.Options{})
	_, err := l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	for range 2500 {
		s.add(l, 1)
		must(t, l.Checkpoint(s.root, s.account))
	}
	s.want(0, "")
	if n := (len(s.read("checkpoints")) - 28) / 101; n < 500 || n > 1024 {
		t.Errorf("%d checkpoints", n)
	}
}

// TestSignedLog is a log whose heads the account has signed. No checkpoint covers
// up that it is another, or that its checkpoints are gone.
func TestSignedLog(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 5)
	seq, head := l.Head()
	mark := audit.Mark{Seq: seq, Head: head}
	s.add(l, 5)
	must(t, l.Checkpoint(s.root, s.account))
	must(t, l.Close())

	keep := func(*scene) {}
	for name, c := range map[string]struct {
		change func(*scene)
		marks  []audit.Mark
		want   error
		cause  audit.Cause
	}{
		"nothing": {keep, []audit.Mark{mark}, nil, ""},
		"removed": {func(c *scene) {
			for _, name := range append(c.segments(), "key", "checkpoints") {
				c.remove(name)
			}
		}, []audit.Mark{mark}, audit.ErrBehind, audit.Cut},
		"no checkpoints":            {func(c *scene) { c.remove("checkpoints") }, []audit.Mark{mark}, audit.ErrNoCheckpoints, audit.Key},
		"damaged checkpoints":       {func(c *scene) { c.write("checkpoints", nil) }, []audit.Mark{mark}, audit.ErrNoCheckpoints, audit.Key},
		"another record":            {keep, []audit.Mark{{Seq: 5, Head: seal.Hash{1}}}, audit.ErrBehind, audit.Tamper},
		"a record that is no more":  {keep, []audit.Mark{mark, {Seq: 11, Head: head}}, audit.ErrBehind, audit.Cut},
		"the first checkpoint ever": {func(c *scene) { c.remove("checkpoints") }, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c2 := s.copy()
			c2.t = t
			c.change(c2)
			l := c2.open(audit.Options{MaxSize: 2000})
			err := l.Checkpoint(c2.root, c2.account, c.marks...)
			if !errors.Is(err, c.want) || (c.want == nil) != (err == nil) {
				t.Errorf("sealing: %v, want %v", err, c.want)
			}
			if damaged := l.Status().Damage != nil; damaged != (c.want != nil) {
				t.Errorf("damage: %+v", l.Status().Damage)
			}
			verify := func() audit.Report {
				return c2.verifyWith(audit.VerifyOptions{Root: c2.root, Account: c2.account, Marks: c.marks})
			}
			r := verify()
			if c.cause == "" {
				c2.wantReport("signed", r, 0, "")
				if r.Full != (name == "nothing") || r.Proved == 0 {
					t.Errorf("full %t, proved from %d on", r.Full, r.Proved)
				}
				return
			}
			if r.OK || r.FirstBad.Cause != c.cause {
				t.Errorf("%s, want %s", show(r), c.cause)
			}
			if c.cause == audit.Key {
				c2.add(l, 8) // over a rotation
				if r := verify(); r.OK {
					t.Error("a rotation covers it up")
				}
			}
			_, err = l.Seal(t.Context(), c2.root, c2.account, c.marks...)
			must(t, err)
			if l.Status().Damage != nil {
				t.Errorf("declared, and still damaged: %+v", l.Status().Damage)
			}
		})
	}
}

func TestCheckpointFileIsJudged(t *testing.T) {
	s := newScene(t).fill(5)
	file := s.read("checkpoints")
	for _, c := range []struct {
		what   string
		change func([]byte) []byte
		full   bool
		chain  bool
	}{
		{"the box changed", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }, false, true},
		{"another number", func(b []byte) []byte { b[36] ^= 1; return b }, false, true},
		{"another account", func(b []byte) []byte { b[12] ^= 1; return b }, false, true},
		{"cut", func(b []byte) []byte { return b[:len(b)-1] }, false, false},
		{"emptied", func([]byte) []byte { return nil }, false, false},
		{"no magic", func(b []byte) []byte { b[0] ^= 1; return b }, false, false},
		{"an entry twice", func(b []byte) []byte { return append(b, b[28:]...) }, false, false},
	} {
		bad := s.copy()
		bad.write("checkpoints", c.change(bytes.Clone(file)))
		for how, r := range map[bool]audit.Report{true: bad.full(), false: bad.verify()} {
			ok := c.chain && !how || c.full && how
			if r.OK != ok || !ok && r.FirstBad.Cause != audit.Key {
				t.Errorf("%s, full %v: %s", c.what, how, show(r))
			}
		}
		// The log goes on, and so does unlocking.
		l := bad.open(audit.Options{})
		bad.add(l, 1)
		if err := l.Checkpoint(s.root, s.account); err != nil && !errors.Is(err, audit.ErrBehind) {
			t.Errorf("%s: %v", c.what, err)
		}
		must(t, l.Close())
	}
	none := s.copy()
	none.remove("checkpoints")
	none.wantReport("chain", none.verify(), 0, "")
	none.wantReport("full", none.full(), 1, audit.Key)

	newer := s.copy()
	file[9] = 2
	newer.write("checkpoints", file)
	if _, err := audit.Verify(t.Context(), newer.dir, audit.VerifyOptions{}); err == nil || !strings.Contains(err.Error(), "format 2") {
		t.Errorf("another version: %v", err)
	}
}
