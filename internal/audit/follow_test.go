package audit_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/audit"
)

// heard is what a follower of the log was told.
type heard struct {
	seqs    []uint64
	damaged int
}

// follow collects until the follower has heard of record last.
func follow(t *testing.T, l *audit.Log, after, last uint64) (h heard) {
	t.Helper()
	for r, err := range l.Follow(t.Context(), after) {
		switch {
		case errors.Is(err, audit.ErrDamaged):
			h.damaged++
		case err != nil:
			t.Error(err)
			return h
		default:
			h.seqs = append(h.seqs, r.Seq)
		}
		if len(h.seqs) > 0 && h.seqs[len(h.seqs)-1] == last {
			return h
		}
	}
	return h
}

// inOrder reports whether the numbers go from first to last without a gap.
func inOrder(seqs []uint64, first, last uint64) bool {
	for i, seq := range seqs {
		if seq != first+uint64(i) {
			return false
		}
	}
	return uint64(len(seqs)) == last-first+1
}

// TestFollowAcrossRotation follows a log that is written and rotated meanwhile.
func TestFollowAcrossRotation(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 5000, Generations: 100})
	s.add(l, 3)
	results := make(chan heard)
	const last = 200 // rotations take numbers too
	for _, after := range []uint64{0, 2, 3, 100} {
		go func() { results <- follow(t, l, after, last) }()
	}
	s.add(l, 197)
	for range 4 {
		h := <-results
		if len(h.seqs) == 0 || h.damaged > 0 || !inOrder(h.seqs, h.seqs[0], last) {
			t.Errorf("heard %v, %d damaged", h.seqs, h.damaged)
		}
	}
	if len(s.segments()) < 10 {
		t.Errorf("only %d segments", len(s.segments()))
	}
}

// TestFollowerTooSlow holds still while the log is rotated away: it reads its own
// segment to the end and is told what it missed.
func TestFollowerTooSlow(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 5000, Generations: 1})
	s.add(l, 4)
	var h heard
	for r, err := range l.Follow(t.Context(), 0) {
		if err != nil {
			if h.damaged++; !errors.Is(err, audit.ErrDamaged) {
				t.Fatal(err)
			}
			continue
		}
		if h.seqs = append(h.seqs, r.Seq); len(h.seqs) == 2 {
			s.add(l, 60)
		}
		if seq, _ := l.Head(); r.Seq == seq {
			break
		}
	}
	gap := slices.IndexFunc(h.seqs[1:], func(seq uint64) bool { return seq > h.seqs[len(h.seqs)-1]-30 })
	if h.damaged != 1 || !inOrder(h.seqs[:4], 1, 4) || gap < 0 {
		t.Errorf("heard %v, told of %d gaps", h.seqs, h.damaged)
	}
}

// TestFollowTellsNothingThatIsTakenBack: lines of a failed commit were in the
// file for a moment.
func TestFollowTellsNothingThatIsTakenBack(t *testing.T) {
	s := newScene(t)
	fail := false
	inside := make(chan struct{})
	var opt audit.Options
	opt.Inject(func(op, _ string, _ []byte) *audit.Fault {
		if fail && op == "Replace" { // the line is written and synced
			inside <- struct{}{}
			<-inside
			return &audit.Fault{Err: syscall.ENOSPC}
		}
		return nil
	})
	l := s.open(opt)
	s.add(l, 2)
	fail = true
	ended := make(chan error)
	go func() {
		r := event()
		r.Decision = "taken back"
		_, err := l.Append(t.Context(), r)
		ended <- err
	}()
	<-inside
	var got []string
	for r, err := range l.Follow(t.Context(), 0) {
		must(t, err)
		got = append(got, r.Decision)
		if len(got) == 2 { // all that is acknowledged; the third line is in the file
			inside <- struct{}{}
			if err := <-ended; !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			fail = false
			go s.one(l, event())
		}
		if len(got) == 3 {
			break
		}
	}
	if slices.Contains(got, "taken back") {
		t.Errorf("heard %v", got)
	}
}

func TestFollowEnds(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	s.add(l, 2)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range l.Follow(ctx, 0) {
		must(t, err)
		if n++; n == 2 {
			cancel()
		}
	}
	if n != 2 {
		t.Errorf("heard %d records", n)
	}
	n = 0
	for _, err := range l.Follow(t.Context(), 0) {
		must(t, err)
		if n++; n == 2 {
			go l.Close()
		}
	}
	if n != 2 {
		t.Errorf("heard %d records before the end", n)
	}
}

func TestTail(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 3000, Generations: 100})
	s.add(l, 40)
	last, _ := l.Head()
	for _, n := range []int{0, 1, 2, 7, 39, int(last), 1000} {
		got, damaged, err := audit.Tail(s.dir, n)
		must(t, err)
		want := min(n, int(last))
		if len(got) != want || damaged != 0 {
			t.Fatalf("%d of %d records, %d damaged", len(got), n, damaged)
		}
		for i, r := range got {
			if r.Seq != last-uint64(want)+uint64(i)+1 {
				t.Errorf("record %d of %d is number %d", i, n, r.Seq)
			}
		}
	}
	segs := s.segments()
	name := segs[len(segs)-1]
	data := s.read(name)
	s.write(name, append(bytes.Replace(data, []byte(`"v":1`), []byte(`"v":x`), 1), `{"v":1,"se`...))
	got, damaged, err := audit.Tail(s.dir, 10)
	if len(got) != 10 || damaged != 1 || err != nil {
		t.Errorf("%d records, %d damaged, %v", len(got), damaged, err)
	}
	n := 0
	for _, err := range audit.Records(s.dir, 0) {
		if errors.Is(err, audit.ErrDamaged) {
			n++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("%d damaged lines", n)
	}
}

// TestRecordsFromTheMiddle passes over segments that can hold nothing wanted.
func TestRecordsFromTheMiddle(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 3000, Generations: 100})
	s.add(l, 30)
	last, _ := l.Head()
	for after := range last + 2 {
		var got []uint64
		for r, err := range audit.Records(s.dir, after) {
			must(t, err)
			got = append(got, r.Seq)
		}
		if len(got) != int(max(last, after)-after) || len(got) > 0 && !inOrder(got, after+1, last) {
			t.Fatalf("after %d: %v", after, got)
		}
	}
}

// TestLinesBackward compares with reading forwards.
func TestLinesBackward(t *testing.T) {
	type seen struct {
		offset int64
		line   string
		whole  bool
	}
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.SampledFrom([]int{0, 1, 100, audit.BlockSize - 1, audit.BlockSize, audit.BlockSize + 1, audit.MaxLine, audit.MaxLine + 1, 3 * audit.MaxLine}), 0, 6).Draw(t, "sizes")
		unfinished := rapid.Bool().Draw(t, "unfinished")
		var data []byte
		var want []seen
		for i, n := range sizes {
			line := string(bytes.Repeat([]byte{'a' + byte(i)}, n))
			whole := i < len(sizes)-1 || !unfinished || n == 0
			kept := line
			if n > audit.MaxLine {
				kept, whole = "", false
			}
			want = append([]seen{{int64(len(data)), kept, whole}}, want...)
			data = append(data, line...)
			if i < len(sizes)-1 || !unfinished || n == 0 {
				data = append(data, '\n')
			}
		}
		var got []seen
		err := audit.LinesBackward(bytes.NewReader(data), int64(len(data)), func(offset int64, line []byte, whole bool) {
			got = append(got, seen{offset, string(line), whole})
		})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: %d lines, want %d, %v", sizes, len(got), len(want), err)
		}
	})
}
