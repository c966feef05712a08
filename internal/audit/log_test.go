package audit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"warder/internal/audit"
	"warder/internal/state"
	"warder/internal/testkit"
)

// TestS1_15_Modes holds the modes of all files, and that planted ones are
// refused.
func TestS1_15_Modes(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 2000})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 10)
	must(t, l.Close())
	entries, err := os.ReadDir(s.path)
	must(t, err)
	if len(entries) < 6 {
		t.Errorf("only %d files", len(entries))
	}
	for _, e := range entries {
		fi, err := e.Info()
		must(t, err)
		if fi.Mode() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), fi.Mode())
		}
	}
	fi, err := os.Stat(s.path)
	must(t, err)
	if fi.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the directory has mode %v", fi.Mode())
	}
	for _, name := range []string{"key", "lock", s.segments()[0], s.segments()[len(s.segments())-1]} {
		loose := s.copy()
		must(t, os.Chmod(filepath.Join(loose.path, name), 0o644))
		refusedUnsafe(t, loose, name)
		link := s.copy()
		must(t, os.Rename(filepath.Join(link.path, name), filepath.Join(link.path, "elsewhere")))
		must(t, os.Symlink("elsewhere", filepath.Join(link.path, name)))
		refusedUnsafe(t, link, name)
	}
}

func refusedUnsafe(t *testing.T, s *scene, name string) {
	t.Helper()
	_, err := audit.Open(s.dir, audit.Options{})
	var unsafe *state.UnsafeError
	if !errors.As(err, &unsafe) || state.Hint(err) == "" {
		t.Errorf("with an unsafe %s: %v", name, err)
	}
}

// TestU_141_TwoClients records from two clients at once, 500 events each.
func TestU_141_TwoClients(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	must(t, l.Checkpoint(s.root, s.account))
	seqs := make([][]uint64, 2)
	var both sync.WaitGroup
	for c := range seqs {
		both.Go(func() {
			for i := range 500 {
				r := event()
				r.ID = fmt.Sprintf("client-%d-%d", c, i)
				seq, err := l.Append(t.Context(), r)
				if err != nil {
					t.Error(err)
					return
				}
				seqs[c] = append(seqs[c], seq)
			}
		})
	}
	both.Wait()
	s.want(0, "")
	if r := s.full(); r.Events != 1000 {
		t.Errorf("%d events", r.Events)
	}
	all := records(s)
	for c := range seqs {
		if !slices.IsSorted(seqs[c]) {
			t.Errorf("client %d was told numbers out of order", c)
		}
		for i, seq := range seqs[c] {
			if want := fmt.Sprintf("client-%d-%d", c, i); all[seq-1].ID != want {
				t.Fatalf("record %d is %s, not %s", seq, all[seq-1].ID, want)
			}
		}
	}
}

// TestU_141_TwoWriters: a second process, and a second opening in this one, stay
// out.
func TestU_141_TwoWriters(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	s.add(l, 2)
	if _, err := audit.Open(s.dir, audit.Options{}); !errors.Is(err, state.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	s.add(l, 2)
	must(t, l.Close())
	s.add(s.open(audit.Options{}), 2)
	s.wantReport("chain", s.verify(), 0, "")
}

// TestU_140_Rotation fills a log beyond all its generations. It stays within its
// size and whole, and the hashes and keys go on across.
func TestU_140_Rotation(t *testing.T) {
	s := newScene(t)
	opt := audit.Options{MaxSize: 20_000, Generations: 3}
	l := s.open(opt)
	must(t, l.Checkpoint(s.root, s.account))
	for i := range 300 {
		s.add(l, 1)
		if i%40 == 7 { // a daemon that starts again
			must(t, l.Close())
			l = s.open(opt)
		}
		var size int64
		for _, name := range s.segments() {
			n := int64(len(s.read(name)))
			if size += n; n > opt.MaxSize {
				t.Fatalf("%s has %d bytes", name, n)
			}
		}
		if size > 4*opt.MaxSize {
			t.Fatalf("the log has %d bytes", size)
		}
	}
	s.want(0, "")
	r := s.full()
	if n := len(s.segments()); n != 4 || r.Segments != n {
		t.Errorf("%d segments", n)
	}
	if r.First == 1 || r.Last < 300 || r.Events != r.Last-r.First+1 {
		t.Errorf("%d events from %d to %d", r.Events, r.First, r.Last)
	}
	// What was rotated away is no gap, what is missing is.
	must(t, l.Close())
	for i, name := range s.segments() {
		broken := s.copy()
		broken.remove(name)
		first, _ := audit.ParseSegment(name)
		cause := audit.Gap
		if i == 3 {
			cause = audit.Cut
		}
		broken.want(first, cause)
	}
}

// TestU_140_SmallSegmentsDropNothing: breaks make short segments, which count by
// their size. An intruder can't push history out by breaking the log often.
func TestU_140_SmallSegmentsDropNothing(t *testing.T) {
	s := newScene(t)
	opt := audit.Options{MaxSize: 200_000, Generations: 1}
	l := s.open(opt)
	s.add(l, 10)
	must(t, l.Close())
	for range 12 {
		segs := s.segments()
		last := segs[len(segs)-1]
		s.write(last, s.read(last)[:len(s.read(last))-10])
		l = s.open(opt)
		must(t, l.Close())
	}
	if segs := s.segments(); len(segs) != 13 || segs[0] != audit.SegmentName(1) {
		t.Errorf("segments: %v", segs)
	}
}

// TestU_147_NoLongContent records a long text in three ways; none keeps it.
func TestU_147_NoLongContent(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	diary := "dear diary " + strings.Repeat("z", 200_000)
	data, err := json.Marshal(map[string]any{"path": "p.txt", "content": audit.DigestOf([]byte(diary))})
	must(t, err)
	s.one(l, audit.Record{Event: "file.written", Data: data})
	in, err := json.Marshal(map[string]string{"input": l.Input(map[string]string{"path": "p.txt", "content": diary})})
	must(t, err)
	s.one(l, audit.Record{Event: "tool_intent.created", Data: in})
	whole, err := json.Marshal(diary)
	must(t, err)
	s.one(l, audit.Record{Event: "test.careless", Reason: diary, Data: whole})
	log := s.read(s.segments()[0])
	if bytes.Contains(log, []byte(strings.Repeat("z", 5000))) || !bytes.Contains(log, []byte("p.txt")) || len(log) > 20_000 {
		t.Errorf("the log has %d bytes", len(log))
	}
}

// TestS4_41_Join: one id joins what was proposed, decided, executed and came out.
func TestS4_41_Join(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	for _, name := range []string{"tool_intent.created", "permission.decided", "tool_execution.completed"} {
		for _, id := range []string{"one", "two"} {
			s.one(l, audit.Record{Event: name, ID: id})
		}
		s.one(l, audit.Record{Event: "guard.degraded"})
	}
	var got []string
	for r, err := range audit.Show(s.dir, "two") {
		must(t, err)
		got = append(got, fmt.Sprint(r.Seq, " ", r.Event))
	}
	if want := "2 tool_intent.created, 5 permission.decided, 8 tool_execution.completed"; strings.Join(got, ", ") != want {
		t.Errorf("got %v", got)
	}
	for r, err := range audit.Show(s.dir, "6") {
		if err != nil || r.Event != "guard.degraded" || r.Seq != 6 {
			t.Errorf("got %v, %v", r, err)
		}
	}
	for r := range audit.Show(s.dir, "") {
		t.Errorf("an empty id finds record %d", r.Seq)
	}
}

func TestClosedLog(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	s.add(l, 1)
	must(t, l.Close())
	must(t, l.Close())
	_, err := l.Append(t.Context(), event())
	_, sealErr := l.Seal(t.Context(), s.root, s.account)
	for name, err := range map[string]error{
		"Append": err, "Seal": sealErr, "Checkpoint": l.Checkpoint(s.root, s.account), "Reopen": l.Reopen(),
	} {
		if !errors.Is(err, audit.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestManyAtOnce appends, closes and reopens from many sides, for the race
// detector.
func TestManyAtOnce(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 50_000, Generations: 1})
	var all sync.WaitGroup
	acknowledged := make([]uint64, 16)
	for c := range acknowledged {
		all.Go(func() {
			for range 60 {
				if seq, err := l.Append(t.Context(), event()); err == nil {
					acknowledged[c] = max(acknowledged[c], seq)
				}
			}
		})
	}
	all.Go(func() {
		for range 10 {
			if err := l.Checkpoint(s.root, s.account); err != nil {
				t.Error(err)
			}
			if err := l.Reopen(); err != nil {
				t.Error(err)
			}
			l.Head()
		}
	})
	all.Wait()
	s.want(0, "")
	if seq, _ := l.Head(); seq < slices.Max(acknowledged) || seq < 16*60 {
		t.Errorf("%d records", seq)
	}
}
