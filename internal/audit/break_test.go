package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"syscall"
	"testing"

	"warder/internal/audit"
	"warder/internal/seal"
)

// TestU_143_TornLine cuts the last line as a crash does, before and after it was
// acknowledged.
func TestU_143_TornLine(t *testing.T) {
	s := newScene(t).fill(20)
	name := s.segments()[0]
	data := s.read(name)

	// Acknowledged: the record is lost, and no crash of ours can do that.
	lost := s.copy()
	lost.write(name, data[:len(data)-300])
	lost.want(20, audit.Tear)
	l := lost.open(audit.Options{})
	lost.add(l, 2)
	lost.want(20, audit.Tear)
	if got := events(lost)[19]; got != audit.EventTorn {
		t.Errorf("behind record 19 comes %s", got)
	}
	if !bytes.Equal(lost.read(name), data[:len(data)-300]) {
		t.Error("the torn segment was changed")
	}

	// Never acknowledged: an entry of its own, and all is well.
	for _, rest := range [][]byte{
		[]byte(`{"v":1,"seq":21,"time":"20`), []byte("x"), bytes.Repeat([]byte{0}, 5000), bytes.Repeat([]byte("x"), 2*audit.MaxLine),
		append(bytes.Repeat([]byte{0}, 1000), "\n{}\n"...),
	} {
		torn := s.copy()
		torn.write(name, append(bytes.Clone(data), rest...))
		if !bytes.Contains(rest, []byte("\n")) && len(rest) < audit.MaxLine {
			torn.want(0, "")
			if r := torn.verify(); r.Unfinished != int64(len(rest)) {
				t.Errorf("%d bytes unfinished", r.Unfinished)
			}
		} else {
			torn.want(21, audit.Tear)
		}
		l := torn.open(audit.Options{})
		torn.add(l, 2)
		torn.want(0, "")
		must(t, l.Close())
		torn.want(0, "")
		got := records(torn)
		if got[20].Event != audit.EventTorn || len(got) != 23 {
			t.Fatalf("record 21 is %s, of %d", got[20].Event, len(got))
		}
		var told struct {
			Torn struct {
				audit.Digest
				Text string
			}
		}
		must(t, json.Unmarshal(got[20].Data, &told))
		if told.Torn.Digest != audit.DigestOf(rest) || told.Torn.Text != audit.Trim(string(rest)) {
			t.Errorf("told: %.200s", got[20].Data)
		}
	}
}

// TestStatusTellsOfDamage: what was found when the log was opened stands in its
// status until it is declared; a torn line is no damage.
func TestStatusTellsOfDamage(t *testing.T) {
	for name, row := range map[string]struct {
		harm   func(text []byte) []byte
		damage bool
	}{
		"none":    {func(text []byte) []byte { return text }, false},
		"torn":    {func(text []byte) []byte { return append(text, `{"v":1,"s`...) }, false},
		"cut":     {func(text []byte) []byte { return text[:bytes.LastIndexByte(text[:len(text)-1], '\n')+1] }, true},
		"changed": {func(text []byte) []byte { return append(text[:len(text)-3], "0\"\n"...) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t).fill(10)
			file := s.segments()[0]
			s.write(file, row.harm(s.read(file)))
			l := s.open(audit.Options{})
			if got := l.Status().Damage; (got != nil) != row.damage {
				t.Fatalf("damage %+v", got)
			}
			if !row.damage {
				return
			}
			s.add(l, 1)
			must(t, l.Close())
			l = s.open(audit.Options{})
			if l.Status().Damage == nil {
				t.Error("forgotten by the next writer")
			}
			_, err := l.Seal(t.Context(), s.root, s.account)
			must(t, err)
			if got := l.Status().Damage; got != nil {
				t.Errorf("after it was declared: %+v", got)
			}
		})
	}
}

// TestU_145_SealABreak alters an entry, seals, and goes on.
func TestU_145_SealABreak(t *testing.T) {
	s := newScene(t).fill(10)
	name := s.segments()[0]
	broken := bytes.Replace(s.read(name), []byte(`"seq":4,`), []byte(`"seq":5,`), 1)
	s.write(name, broken)
	s.want(4, audit.Tamper)
	l := s.open(audit.Options{})
	s.add(l, 1)
	s.want(4, audit.Tamper)
	before := s.read(name)
	b, err := l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	if b.Sealed != 12 || b.FirstBad.Seq != 4 {
		t.Errorf("declared %+v", b)
	}
	s.add(l, 2)
	s.want(0, "")
	if !bytes.Equal(s.read(name), before) {
		t.Error("the broken segment was changed")
	}
	r := s.full()
	if r.Break == nil || r.Break.FirstBad.Seq != 4 || r.Break.FirstBad.Cause != audit.Tamper || r.Events != 3 || r.Segments != 2 {
		t.Errorf("reported %+v", r)
	}
	if _, err := l.Seal(t.Context(), s.root, s.account); !errors.Is(err, audit.ErrIntact) {
		t.Errorf("sealing what is whole: %v", err)
	}
	must(t, l.Close())

	changed := s.copy()
	changed.write(name, bytes.Replace(before, []byte("allow"), []byte("deny "), 1))
	changed.want(1, audit.Tamper)
	gone := s.copy()
	gone.remove(name)
	gone.want(1, audit.Gap)
	added := s.copy()
	added.write(audit.SegmentName(7), []byte("{}\n"))
	added.want(7, audit.Tamper)

	// A second break, and rotation across both.
	l = s.open(audit.Options{MaxSize: 4000, Generations: 2})
	s.add(l, 5)
	must(t, l.Close())
	segs := s.segments()
	last := segs[len(segs)-1]
	s.write(last, s.read(last)[:len(s.read(last))-5])
	l = s.open(audit.Options{MaxSize: 4000, Generations: 2})
	_, err = l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	for range 40 {
		s.add(l, 1)
		s.want(0, "")
	}
}

// TestOnlyTheAccountSeals: without the root key nobody can declare a break that
// verifying with it believes, though he has the log's own key.
func TestOnlyTheAccountSeals(t *testing.T) {
	s := newScene(t).fill(10)
	name := s.segments()[0]
	s.write(name, bytes.Replace(s.read(name), []byte(`"seq":4,`), []byte(`"seq":5,`), 1))
	other, err := seal.NewRootKey()
	must(t, err)
	defer other.Destroy()
	l := s.open(audit.Options{})
	_, err = l.Seal(t.Context(), other, s.account)
	must(t, err)
	if r := s.full(); r.OK {
		t.Error("another's seal counts")
	}
	// Nor does the account's own count without its checkpoint.
	unconfirmed := s.copy()
	rest := unconfirmed.read("checkpoints")
	unconfirmed.write("checkpoints", rest[:len(rest)-101])
	unconfirmed.wantReport("full", unconfirmed.full(), 11, audit.Tamper)

	// The account's own still can.
	_, err = l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	s.want(0, "")
}

// TestSealThatFails declares nothing: the next record is no seal.
func TestSealThatFails(t *testing.T) {
	s := newScene(t).fill(3)
	name := s.segments()[0]
	s.write(name, bytes.Replace(s.read(name), []byte("allow"), []byte("deny "), 1))
	fail := false
	var opt audit.Options
	opt.Inject(func(op, _ string, _ []byte) *audit.Fault {
		if fail && op == "Write" {
			return &audit.Fault{Err: syscall.ENOSPC, Part: 50}
		}
		return nil
	})
	l := s.open(opt)
	fail = true
	if _, err := l.Seal(t.Context(), s.root, s.account); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("sealed: %v", err)
	}
	fail = false
	s.add(l, 2)
	if got := events(s); slices.Contains(got, audit.EventSealed) || len(got) != 6 {
		t.Errorf("events: %v", got)
	}
	s.want(1, audit.Tamper)
	_, err := l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	s.want(0, "")
}

// TestSealAfterAnUnfinishedRotation finds a segment that was begun and has no
// record yet.
func TestSealAfterAnUnfinishedRotation(t *testing.T) {
	s := newScene(t).fill(3)
	name := s.segments()[0]
	s.write(audit.SegmentName(4), nil)
	s.want(0, "")
	s.write(name, bytes.Replace(s.read(name), []byte("allow"), []byte("deny "), 1))
	s.want(1, audit.Tamper)
	l := s.open(audit.Options{})
	_, err := l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	s.want(0, "")
	s.add(l, 1)
	s.want(0, "")
}

// TestForgedRecordBehindTheEnd adds a record that fits the chain and has no MAC
// of the log. A writer does not take it for one that it never acknowledged.
func TestForgedRecordBehindTheEnd(t *testing.T) {
	s := newScene(t).fill(3)
	name := s.segments()[0]
	last := lines(s.read(name))[2]
	r := audit.Record{Seq: 4, Event: "permission.decided", Decision: "allow", Prev: seal.HashOf(bytes.TrimSuffix(last, []byte("\n")))}
	s.write(name, append(s.read(name), append(r.Line(), '\n')...))
	s.wantReport("chain", s.verify(), 0, "") // which is all that the chain can say
	s.wantReport("full", s.full(), 4, audit.Tear)
	l := s.open(audit.Options{})
	s.add(l, 1)
	s.want(0, "")
	if got := events(s); got[3] != audit.EventTorn || len(got) != 5 {
		t.Errorf("events: %v", got)
	}
}

// TestDisturbedWhileRunning does to a log that is being written what an editor,
// a script or an intruder does. The writer notices before its next record, tells
// it, and goes on behind.
func TestDisturbedWhileRunning(t *testing.T) {
	for what, c := range map[string]struct {
		disturb func(s *scene, name string, data []byte)
		event   string
		seq     uint64
		cause   audit.Cause
	}{
		"last line halved":     {func(s *scene, name string, data []byte) { s.write(name, data[:len(data)-300]) }, audit.EventTorn, 10, audit.Tear},
		"last two cut":         {func(s *scene, name string, data []byte) { s.write(name, bytes.Join(lines(data)[:8], nil)) }, audit.EventCut, 9, audit.Cut},
		"removed":              {func(s *scene, name string, _ []byte) { s.remove(name) }, audit.EventCut, 1, audit.Cut},
		"emptied":              {func(s *scene, name string, _ []byte) { s.write(name, nil) }, audit.EventCut, 1, audit.Cut},
		"junk behind":          {func(s *scene, name string, data []byte) { s.write(name, append(data, "junk\n"...)) }, audit.EventTorn, 0, ""},
		"exchanged for a copy": {func(s *scene, name string, data []byte) { s.remove(name); s.write(name, data) }, "permission.decided", 0, ""},
		"edited by a copy": {func(s *scene, name string, data []byte) {
			s.remove(name)
			s.write(name, bytes.Replace(data, []byte(`"seq":4,`), []byte(`"seq":5,`), 1))
		}, "permission.decided", 4, audit.Tamper},
		"a line removed": {func(s *scene, name string, data []byte) {
			l := lines(data)
			s.write(name, bytes.Join(append(l[:4:4], l[5:]...), nil))
		}, "permission.decided", 5, audit.Gap},
	} {
		t.Run(what, func(t *testing.T) {
			s := newScene(t)
			l := s.open(audit.Options{})
			must(t, l.Checkpoint(s.root, s.account))
			s.add(l, 10)
			name := s.segments()[0]
			c.disturb(s, name, s.read(name))
			s.add(l, 1)
			s.add(l, 2)
			s.want(c.seq, c.cause)
			if got := events(s); got[len(got)-3] != "permission.decided" || c.event != "permission.decided" && got[len(got)-4] != c.event {
				t.Errorf("events: %v", got)
			}
			if c.cause != "" {
				_, err := l.Seal(t.Context(), s.root, s.account)
				must(t, err)
				s.want(0, "")
			}
		})
	}
}
