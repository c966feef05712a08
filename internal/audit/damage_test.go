package audit_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"warder/internal/audit"
)

// wantDamage wants the status to name a record and a cause, or nothing.
func wantDamage(t *testing.T, when string, l *audit.Log, seq uint64, cause audit.Cause) {
	t.Helper()
	got := l.Status().Damage
	switch {
	case cause == "" && got != nil:
		t.Errorf("%s: %+v, want no damage", when, got)
	case cause != "" && (got == nil || got.Seq != seq || got.Cause != cause):
		t.Errorf("%s: %+v, want %s at %d", when, got, cause, seq)
	}
}

// spoilRecord changes a byte of an acknowledged record under a log that is open.
func spoilRecord(s *scene, n int) {
	s.t.Helper()
	name := s.segments()[0]
	l := cloned(lines(s.read(name)))
	l[n-1] = bytes.Replace(l[n-1], []byte("allow"), []byte("aLLow"), 1)
	f, err := os.OpenFile(filepath.Join(s.path, name), os.O_WRONLY, 0)
	must(s.t, err)
	_, err = f.Write(bytes.Join(l, nil)) // in place: the writer's file is the same one
	must(s.t, errors.Join(err, f.Close()))
}

// found verifies as the daemon does, and takes note of what is wrong.
func found(s *scene, l *audit.Log) audit.Report {
	s.t.Helper()
	r := s.full()
	if r.FirstBad != nil {
		must(s.t, audit.Witness{Log: l}.Found(*r.FirstBad))
	}
	return r
}

// TestDamageThatWasFoundStays: what a verification finds while the log is in use
// stays in status and in what verifying says, over restarts and rotations that
// take the damaged record itself away, until it is declared.
func TestDamageThatWasFoundStays(t *testing.T) {
	s := newScene(t)
	opt := audit.Options{MaxSize: 3000, Generations: 2}
	l := s.open(opt)
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 4)
	spoilRecord(s, 2)
	s.add(l, 1)
	wantDamage(t, "before anybody looked", l, 0, "")
	found(s, l)
	wantDamage(t, "after verifying", l, 2, audit.Tamper)
	s.want(2, audit.Tamper)
	found(s, l) // is no news
	must(t, l.Close())
	if n := count(events(s), audit.EventDamaged); n != 1 {
		t.Errorf("told %d times: %v", n, events(s))
	}

	l = s.open(opt)
	wantDamage(t, "after a restart", l, 2, audit.Tamper)
	s.add(l, 60)
	if first := records(s)[0].Seq; first <= 2 {
		t.Fatalf("record %d is still there", first)
	}
	wantDamage(t, "after rotations", l, 2, audit.Tamper)
	s.want(0, "") // what is left is whole
	if r := s.full(); r.Found == nil || r.Found.Seq != 2 {
		t.Errorf("verifying forgets what was found: %+v", r.Found)
	}
	must(t, l.Close())

	l = s.open(opt)
	wantDamage(t, "after rotations and a restart", l, 2, audit.Tamper)
	b, err := l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	if b.FirstBad == nil || b.FirstBad.Seq != 2 {
		t.Errorf("declared %+v", b.FirstBad)
	}
	wantDamage(t, "declared", l, 0, "")
	s.add(l, 40)
	s.want(0, "")
	must(t, l.Close())
	l = s.open(opt)
	wantDamage(t, "declared, after a restart", l, 0, "")
	if _, err := l.Seal(t.Context(), s.root, s.account); !errors.Is(err, audit.ErrIntact) {
		t.Errorf("declared again: %v", err)
	}
}

// TestEarlierDamageCounts: of two finds the earlier record is told, and the later
// one makes no segment.
func TestEarlierDamageCounts(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 9)
	for _, n := range []int{7, 3, 5} {
		spoilRecord(s, n)
		found(s, l)
	}
	wantDamage(t, "all found", l, 3, audit.Tamper)
	if n := count(events(s), audit.EventDamaged); n != 2 {
		t.Errorf("told %d times: %v", n, events(s))
	}
}

// TestDamageIsNotTakenAwayWithItsRecord removes what tells of the damage: under
// the open log, with it closed, and only in part.
func TestDamageIsNotTakenAwayWithItsRecord(t *testing.T) {
	telling := func(t *testing.T) (*scene, *audit.Log, string) {
		s := newScene(t)
		l := s.open(audit.Options{})
		must(t, l.Checkpoint(s.root, s.account))
		s.add(l, 4)
		spoilRecord(s, 2)
		found(s, l)
		return s, l, s.segments()[1]
	}
	t.Run("closed", func(t *testing.T) {
		s, l, name := telling(t)
		must(t, l.Close())
		s.remove(name)
		wantDamage(t, "opened again", s.open(audit.Options{}), 5, audit.Cut)
		s.want(2, audit.Tamper)
	})
	t.Run("open", func(t *testing.T) {
		s, l, name := telling(t)
		s.remove(name)
		s.add(l, 1)
		wantDamage(t, "going on", l, 2, audit.Tamper)
		must(t, l.Close())
		wantDamage(t, "opened again", s.open(audit.Options{}), 2, audit.Tamper)
	})
	t.Run("to an older copy", func(t *testing.T) {
		s, l, name := telling(t)
		s.remove(name)
		s.write("key", newScene(t).fill(1).read("key")) // of a log that was never damaged
		s.add(l, 1)
		if l.Status().Damage == nil {
			t.Error("the damage is forgotten")
		}
	})
	t.Run("its first line", func(t *testing.T) {
		s, l, name := telling(t)
		must(t, l.Close())
		s.write(name, nil)
		if l := s.open(audit.Options{}); l.Status().Damage == nil {
			t.Error("the damage is forgotten")
		}
	})
}

// TestDamageThatCanNotBeTold: where no segment can be begun the damage is in the
// status, records are taken all the same, and it is told once that works.
func TestDamageThatCanNotBeTold(t *testing.T) {
	s := newScene(t)
	full := true
	var opt audit.Options
	opt.Inject(func(op, name string, _ []byte) *audit.Fault {
		if full && op == "WriteNew" && name != audit.SegmentName(1) {
			return &audit.Fault{Err: syscall.ENOSPC}
		}
		return nil
	})
	l := s.open(opt)
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 4)
	spoilRecord(s, 2)
	found(s, l)
	wantDamage(t, "on a full disk", l, 2, audit.Tamper)
	s.add(l, 2)
	if len(s.segments()) != 1 {
		t.Fatalf("segments: %v", s.segments())
	}
	full = false
	s.add(l, 1)
	must(t, l.Close())
	wantDamage(t, "with room again", s.open(audit.Options{}), 2, audit.Tamper)
}

// TestFailingIsTold: the status says why nothing can be recorded, as long as it is so.
func TestFailingIsTold(t *testing.T) {
	s := newScene(t)
	full := false
	var opt audit.Options
	opt.Inject(func(op, _ string, _ []byte) *audit.Fault {
		if full && op == "Write" {
			return &audit.Fault{Err: syscall.ENOSPC}
		}
		return nil
	})
	l := s.open(opt)
	s.add(l, 1)
	full = true
	_, err := l.Append(t.Context(), event())
	if !errors.Is(err, syscall.ENOSPC) || !errors.Is(l.Status().Failing, syscall.ENOSPC) {
		t.Errorf("%v, told %v", err, l.Status().Failing)
	}
	full = false
	s.add(l, 1)
	if err := l.Status().Failing; err != nil {
		t.Errorf("it works, told %v", err)
	}
}

// TestALogThatBeganAnew says so until that is declared, also when its first
// record was rotated away. It is no fault of this log.
func TestALogThatBeganAnew(t *testing.T) {
	s := newScene(t)
	opt := audit.Options{MaxSize: 2000, Generations: 1}
	l := s.open(opt)
	must(t, l.Checkpoint(s.root, s.account))
	must(t, audit.Witness{Log: l}.BeginAnew(4711))
	check := func(when string, want uint64) {
		t.Helper()
		r := s.full()
		if got := l.Status().Signed; got != want || r.Signed != want {
			t.Errorf("%s: told %d and %d, want %d", when, got, r.Signed, want)
		}
		s.want(0, "")
		wantDamage(t, when, l, 0, "")
	}
	check("begun", 4711)
	if got := events(s); !slices.Equal(got, []string{audit.EventBegunAnew}) {
		t.Errorf("events: %v", got)
	}
	if (audit.Witness{Log: l}).BeginAnew(1) == nil {
		t.Error("a log that has records begins anew")
	}
	again := func() { t.Helper(); must(t, l.Close()); l = s.open(opt) }
	again()
	check("after a restart", 4711)
	s.add(l, 30)
	if records(s)[0].Seq == 1 {
		t.Fatal("nothing was rotated away")
	}
	check("after rotations", 4711)
	again()
	check("after both", 4711)
	_, err := l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	check("declared", 0)
	again()
	check("declared, after a restart", 0)
}

func count(list []string, what string) (n int) {
	for _, have := range list {
		if have == what {
			n++
		}
	}
	return n
}
