package audit_test

import (
	"errors"
	"slices"
	"testing"

	"warder/internal/audit"
)

// named is an event of a name.
func named(name string) audit.Record {
	r := event()
	r.Event = name
	return r
}

// namesIn lists the events of the log.
func namesIn(s *scene) []string {
	s.t.Helper()
	var names []string
	for r, err := range audit.Records(s.dir, 0) {
		must(s.t, err)
		names = append(names, r.Event)
	}
	return names
}

// TestS1_15_TogetherOrNotAtAll: events that are appended together share one commit, and a fault leaves none of them.
func TestS1_15_TogetherOrNotAtAll(t *testing.T) {
	for _, op := range []string{"", "Write", "Sync", "Replace"} {
		t.Run("fault in "+op, func(t *testing.T) {
			s := newScene(t)
			syncs, broken, opened := 0, errors.New("broken"), false
			var opt audit.Options
			opt.Inject(func(got, _ string, _ []byte) *audit.Fault {
				if got == "Sync" {
					syncs++
				}
				if opened && got == op {
					return &audit.Fault{Err: broken}
				}
				return nil
			})
			l := s.open(opt)
			opened = true
			last, err := l.AppendAll(t.Context(), named("first.one"), named("second.one"), named("third.one"))
			if op != "" {
				if seq, _ := l.Head(); !errors.Is(err, broken) || seq != 0 {
					t.Errorf("%v, and %d records", err, seq)
				}
				return
			}
			must(t, err)
			if got := namesIn(s); last != 3 || syncs != 1 || !slices.Equal(got, []string{"first.one", "second.one", "third.one"}) {
				t.Errorf("%d records %q in %d syncs", last, got, syncs)
			}
			s.wantReport("chain", s.verify(), 0, "")
		})
	}
}

// TestAppendAllRefuses: one event that can't be recorded keeps out the others.
func TestAppendAllRefuses(t *testing.T) {
	l := newScene(t).open(audit.Options{})
	if _, err := l.AppendAll(t.Context(), named("a.good"), named("not good")); err == nil {
		t.Error("no error")
	}
	if _, err := l.AppendAll(t.Context()); err != nil {
		t.Error(err)
	}
	if seq, _ := l.Head(); seq != 0 {
		t.Errorf("%d records", seq)
	}
}

// TestLater: a record that nobody waits for stands before what is appended after it, also where the disk is slow, and is not lost
// to Close.
func TestLater(t *testing.T) {
	s := newScene(t)
	hold, writing := make(chan struct{}), make(chan struct{}, 8)
	var opt audit.Options
	opt.Inject(func(op, _ string, _ []byte) *audit.Fault {
		if op == "Write" {
			writing <- struct{}{}
			<-hold
		}
		return nil
	})
	l := s.open(opt)
	l.Later(named("later.one"))
	<-writing // it did not wait for that
	l.Later(named("later.two"))
	appended := make(chan error)
	go func() {
		_, err := l.Append(t.Context(), named("now.three"))
		appended <- err
	}()
	close(hold)
	must(t, <-appended)
	if got := namesIn(s); !slices.Equal(got, []string{"later.one", "later.two", "now.three"}) {
		t.Errorf("got %q", got)
	}
	l.Later(named("later.four"))
	must(t, l.Close())
	if got := namesIn(s); len(got) != 4 || got[3] != "later.four" {
		t.Errorf("after Close: %q", got)
	}
	s.wantReport("chain", s.verify(), 0, "")
	l.Later(named("later.five"))
	if lost := l.Status().Lost; lost != 1 {
		t.Errorf("%d lost", lost)
	}
}
