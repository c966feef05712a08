package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/state"
)

// TestS1_18_RotationFailsNoRecord: a segment that can't be begun is told once,
// and the old one grows.
func TestS1_18_RotationFailsNoRecord(t *testing.T) {
	s := newScene(t)
	var told bytes.Buffer
	broken := true
	opt := audit.Options{MaxSize: 3000, Generations: 1, Log: slog.New(slog.NewTextHandler(&told, nil))}
	opt.Inject(func(op, name string, _ []byte) *audit.Fault {
		if broken && (op == "WriteNew" && name != audit.SegmentName(1) || op == "Remove") {
			return &audit.Fault{Err: syscall.EMFILE}
		}
		return nil
	})
	l := s.open(opt)
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 20)
	if n := len(s.segments()); n != 1 || l.Status().Rotation == nil {
		t.Errorf("%d segments, told %v", n, l.Status().Rotation)
	}
	if n := strings.Count(told.String(), "level=WARN"); n != 1 {
		t.Errorf("told %d times: %s", n, told.String())
	}
	s.want(0, "")
	broken = false
	s.add(l, 12)
	s.want(0, "")
	if n := len(s.segments()); n < 2 || n > 3 || l.Status().Rotation != nil {
		t.Errorf("%d segments, told %v", n, l.Status().Rotation)
	}
	broken = true // now removing fails too
	s.add(l, 12)
	s.want(0, "")
}

// TestU_142_FailedWrite fails each operation of a commit, once and for good. What
// was refused is not there or at least not acknowledged, what was acknowledged
// is there, and the log is whole.
func TestU_142_FailedWrite(t *testing.T) {
	for _, c := range []struct {
		op      string
		part    int
		stops   bool   // the log refuses until Reopen
		repeats string // further operations that fail, by name
	}{
		{"Write", 0, false, ""},
		{"Write", 1, false, ""},
		{"Write", 300, false, ""},
		{"Write", 300, true, "Truncate"},
		{"Write", 300, true, "Sync"},
		{"Sync", 0, true, ""},
		{"Sync", 0, true, "Truncate"},
		{"Replace", 0, false, ""},
		{"Replace", 0, true, "Truncate"},
		{"Replace", 1, true, ""},
		{"open", 0, false, ""},
	} {
		t.Run(fmt.Sprintf("%s %d %s", c.op, c.part, c.repeats), func(t *testing.T) {
			s := newScene(t).fill(5)
			on := false
			var opt audit.Options
			opt.Inject(func(op, _ string, _ []byte) *audit.Fault {
				switch {
				case !on:
				case op == c.op:
					on = c.repeats != ""
					return &audit.Fault{Err: syscall.ENOSPC, Part: c.part}
				case strings.Contains(c.repeats, op):
					return &audit.Fault{Err: syscall.EIO}
				}
				return nil
			})
			l := s.open(opt)
			if c.op != "open" {
				s.add(l, 1)
			}
			before, _ := l.Head()
			on = true
			_, err := l.Append(t.Context(), event())
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("the record was taken: %v", err)
			}
			if seq, _ := l.Head(); seq != before {
				t.Errorf("a refused record counts: %d", seq)
			}
			on = false
			_, err = l.Append(t.Context(), event())
			if stopped := err != nil; stopped != c.stops || stopped != (l.Status().Stopped != nil) {
				t.Fatalf("afterwards: %v, %v", err, l.Status().Stopped)
			}
			if c.stops {
				s.wantReport("stopped", s.verify(), 0, "")
				must(t, l.Reopen())
			}
			s.add(l, 2)
			s.want(0, "")
			must(t, l.Close())
			s.want(0, "")
			if got := events(s); slices.Contains(got, audit.EventCut) || slices.Contains(got, audit.EventBroken) {
				t.Errorf("events: %v", got)
			}
		})
	}
}

// TestOrderOfACommit: the key goes on only when the records are on disk, or a
// power cut would look like a cut log; and a record is acknowledged after both.
func TestOrderOfACommit(t *testing.T) {
	s := newScene(t).fill(1)
	var got []string
	var opt audit.Options
	opt.Inject(func(op, name string, _ []byte) *audit.Fault { got = append(got, op+" "+name); return nil })
	l := s.open(opt)
	s.add(l, 1)
	want := "open 0000000000000001.jsonl, Write 0000000000000001.jsonl, Sync 0000000000000001.jsonl, Replace key"
	if strings.Join(got, ", ") != want {
		t.Errorf("the steps are %v", got)
	}
}

// TestBatches: records that come together share a commit.
func TestBatches(t *testing.T) {
	s := newScene(t)
	writes, hold := 0, make(chan struct{})
	var opt audit.Options
	opt.Inject(func(op, _ string, _ []byte) *audit.Fault {
		if op == "Write" {
			if writes++; writes == 1 {
				<-hold
			}
		}
		return nil
	})
	l := s.open(opt)
	var all sync.WaitGroup
	const clients = audit.BatchRecords + 10
	waiting := make(chan struct{}, clients)
	for range clients {
		all.Go(func() {
			waiting <- struct{}{}
			if _, err := l.Append(t.Context(), event()); err != nil {
				t.Error(err)
			}
		})
	}
	for range clients {
		<-waiting
	}
	close(hold)
	all.Wait()
	if r := s.verify(); !r.OK || r.Events != clients || writes > clients/10 {
		t.Errorf("%s in %d writes", show(r), writes)
	}
}

// TestAppendAfterItsContext records nothing.
func TestAppendAfterItsContext(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Append(ctx, event()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if seq, _ := l.Head(); seq != 0 {
		t.Errorf("%d records", seq)
	}
}

// TestFailedSyncIsWrittenAgain: lines whose sync failed may be in the kernel's
// memory alone. Opening the log again must write them again, not trust them.
func TestFailedSyncIsWrittenAgain(t *testing.T) {
	s := newScene(t).fill(5)
	var opt audit.Options
	fail, written := true, []byte(nil)
	opt.Inject(func(op, _ string, data []byte) *audit.Fault {
		switch op {
		case "Write":
			written = bytes.Clone(data)
		case "Sync", "Truncate":
			if fail {
				return &audit.Fault{Err: syscall.EIO}
			}
		}
		return nil
	})
	l := s.open(opt)
	if _, err := l.Append(t.Context(), event()); !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v", err)
	}
	lost := written
	written, fail = nil, false
	must(t, l.Reopen())
	if !bytes.Equal(written, lost) {
		t.Errorf("written again: %d bytes of %d", len(written), len(lost))
	}
	s.want(0, "")
}

// TestU_142_DiskFull fills a small disk. Nothing is recorded in half, and there
// are records again as soon as there is room.
func TestU_142_DiskFull(t *testing.T) {
	if onSmallDisk(t) {
		return
	}
	root, err := seal.NewRootKey()
	must(t, err)
	s := (&scene{t: t, path: filepath.Join(os.Getenv("DISK"), "audit"), root: root, account: seal.NewID()}).opened()
	l := s.open(audit.Options{})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 3)
	s.write("filler", make([]byte, 100<<10))
	recorded := uint64(3)
	for recorded < 2000 {
		if _, err = l.Append(t.Context(), event()); err != nil {
			break
		}
		recorded++
	}
	if !state.IsDiskFull(err) || !strings.Contains(state.Hint(err), "room") {
		t.Fatalf("after %d records: %v", recorded, err)
	}
	if r := s.full(); !r.OK || r.Events != recorded || r.Unfinished != 0 {
		t.Errorf("%s, %d unfinished, %d were acknowledged", show(r), r.Unfinished, recorded)
	}
	s.remove("filler")
	s.add(l, 3)
	s.want(0, "")
	must(t, l.Close())
	s.add(s.open(audit.Options{}), 1)
	if r := s.full(); !r.OK || r.Events != recorded+4 {
		t.Error(show(r))
	}
}

// TestS1_19_NeverThrows lets everything fail at once: errors, no panic, and a
// log of operators that is told and not asked.
func TestS1_19_NeverThrows(t *testing.T) {
	s := newScene(t)
	on := false
	var opt audit.Options
	opt.Inject(func(string, string, []byte) *audit.Fault {
		if on {
			return &audit.Fault{Err: syscall.EIO}
		}
		return nil
	})
	l := s.open(opt)
	s.add(l, 2)
	on = true
	for range 3 {
		if _, err := l.Append(t.Context(), event()); err == nil {
			t.Error("recorded")
		}
		l.Note(t.Context(), event())
		if err := l.Checkpoint(s.root, s.account); err == nil {
			t.Error("sealed a checkpoint")
		}
		_ = l.Reopen()
	}
	if l.Status().Lost != 3 {
		t.Errorf("%d lost", l.Status().Lost)
	}
	on = false
	must(t, l.Reopen())
	s.add(l, 1)
	must(t, l.Checkpoint(s.root, s.account))
	s.want(0, "")
}

// TestC13_NoteIsNeverInTheWay counts what could not be recorded.
func TestC13_NoteIsNeverInTheWay(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	l.Note(t.Context(), event())
	must(t, l.Close())
	l.Note(t.Context(), event())
	if st := l.Status(); st.Seq != 1 || st.Lost != 1 {
		t.Errorf("%+v", st)
	}
}
