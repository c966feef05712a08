package audit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"warder/internal/audit"
	"warder/internal/state"
)

// seqAt is the number of the record that byte i of a segment belongs to. Its
// newline is part of a line.
func seqAt(data []byte, i int) uint64 { return uint64(bytes.Count(data[:i], []byte("\n")) + 1) }

// TestU_146_EveryFlippedByteIsNamed turns each byte of a small log, in several
// ways, and finds the record that it belongs to, with the root key and without.
func TestU_146_EveryFlippedByteIsNamed(t *testing.T) {
	s := newScene(t).fill(3)
	name := s.segments()[0]
	data := s.read(name)
	flips := []byte{0x01, 0x80}
	for i := range data {
		for _, flip := range flips {
			changed := bytes.Clone(data)
			changed[i] ^= flip
			s.write(name, changed)
			for how, r := range map[string]audit.Report{"chain": s.verify(), "full": s.full()} {
				if r.OK || r.FirstBad.Seq != seqAt(data, i) {
					t.Fatalf("%s, byte %d of record %d turned by %#x in %q: %s", how, i, seqAt(data, i), flip, around(data, i), show(r))
				}
				last := i == len(data)-1 // without its newline the last line is unfinished
				if cause := r.FirstBad.Cause; cause != audit.Tamper && !(last && cause == audit.Tear) {
					t.Fatalf("%s, byte %d turned by %#x in %q: %s", how, i, flip, around(data, i), show(r))
				}
			}
		}
	}
	s.write(name, data)
	s.want(0, "")
}

func around(data []byte, i int) []byte { return data[max(0, i-15):min(len(data), i+5)] }

// TestU_146_EveryFlippedBitOfTheKeyFile: a damaged key file is its own cause.
func TestU_146_EveryFlippedBitOfTheKeyFile(t *testing.T) {
	s := newScene(t).fill(3)
	key := s.read("key")
	for i := range key {
		changed := bytes.Clone(key)
		changed[i] ^= 1
		s.write("key", changed)
		if i == 8 || i == 9 { // the version: refused by name
			_, err := audit.Verify(t.Context(), s.dir, audit.VerifyOptions{})
			if err == nil || !strings.Contains(err.Error(), "format") {
				t.Errorf("another version: %v", err)
			}
			continue
		}
		s.want(4, audit.Key)
	}
}

// TestU_146_OneRecordChanged alters, removes, exchanges and adds whole lines.
func TestU_146_OneRecordChanged(t *testing.T) {
	s := newScene(t).fill(30)
	other := newScene(t).fill(30)
	name := s.segments()[0]
	whole := lines(s.read(name))
	for _, c := range []struct {
		what   string
		change func(l [][]byte) [][]byte
		seq    uint64
		cause  audit.Cause
	}{
		{"entry 12 altered", func(l [][]byte) [][]byte {
			l[11] = bytes.Replace(l[11], []byte("allow"), []byte("deny"), 1)
			return l
		}, 12, audit.Tamper},
		{"last entry altered", func(l [][]byte) [][]byte {
			l[29] = bytes.Replace(l[29], []byte("allow"), []byte("deny"), 1)
			return l
		}, 30, audit.Tamper},
		{"first entry altered", func(l [][]byte) [][]byte {
			l[0] = bytes.Replace(l[0], []byte("allow"), []byte("deny"), 1)
			return l
		}, 1, audit.Tamper},
		{"entry 15 removed", func(l [][]byte) [][]byte { return append(l[:14], l[15:]...) }, 15, audit.Gap},
		{"entries 3 to 9 removed", func(l [][]byte) [][]byte { return append(l[:2], l[9:]...) }, 3, audit.Gap},
		{"first entry removed", func(l [][]byte) [][]byte { return l[1:] }, 1, audit.Tamper},
		{"entries 7 and 8 exchanged", func(l [][]byte) [][]byte { l[6], l[7] = l[7], l[6]; return l }, 7, audit.Gap},
		{"entry 9 twice", func(l [][]byte) [][]byte { l[9] = l[8]; return l }, 10, audit.Tamper},
		{"entry 20 emptied", func(l [][]byte) [][]byte { l[19] = []byte("\n"); return l }, 20, audit.Tamper},
		{"two lines glued", func(l [][]byte) [][]byte { l[4] = bytes.TrimSuffix(l[4], []byte("\n")); return l }, 5, audit.Tamper},
		{"another log's entry", func(l [][]byte) [][]byte {
			l[16] = lines(other.read(other.segments()[0]))[16]
			return l
		}, 17, audit.Tamper},
		{"last ten cut", func(l [][]byte) [][]byte { return l[:20] }, 21, audit.Cut},
		{"all cut", func([][]byte) [][]byte { return nil }, 1, audit.Cut},
		{"last line halved", func(l [][]byte) [][]byte { l[29] = l[29][:len(l[29])/2]; return l }, 30, audit.Tear},
		{"last newline cut", func(l [][]byte) [][]byte { l[29] = l[29][:len(l[29])-1]; return l }, 30, audit.Tear},
		{"line 20 halved, the rest cut", func(l [][]byte) [][]byte { l[19] = l[19][:99]; return l[:20] }, 20, audit.Cut},
		{"a line too long", func(l [][]byte) [][]byte { return append(l[:10], bytes.Repeat([]byte("x"), 2*audit.MaxLine)) }, 11, audit.Tamper},
	} {
		t.Run(c.what, func(t *testing.T) {
			spoiled := s.copy()
			spoiled.t = t // to stop at the right test
			spoiled.write(name, bytes.Join(c.change(cloned(whole)), nil))
			spoiled.want(c.seq, c.cause)
		})
	}
}

func cloned(lines [][]byte) (out [][]byte) {
	for _, l := range lines {
		out = append(out, bytes.Clone(l))
	}
	return out
}

// TestU_144_CutTail removes the tail, the file and more. The key file, the
// newest checkpoint or a noted head tells.
func TestU_144_CutTail(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 20)
	old := s.copy()
	s.add(l, 10)
	seq, head := l.Head()
	must(t, l.Close())
	name := s.segments()[0]
	mark := audit.VerifyOptions{Marks: []audit.Mark{{Seq: seq, Head: head}}}

	cut := s.copy()
	cut.write(name, bytes.Join(lines(s.read(name))[:20], nil))
	cut.want(21, audit.Cut)
	if text := cut.verify().FirstBad.Text; !strings.Contains(text, "20") || !strings.Contains(text, "30") {
		t.Errorf("said: %s", text)
	}

	gone := s.copy()
	gone.remove(name)
	gone.want(1, audit.Cut)

	// The state of ten records ago, key file and all, is a log in itself.
	old.want(0, "")
	old.wantReport("against a noted head", old.verifyWith(mark), 21, audit.Cut)
	s.wantReport("against its own head", s.verifyWith(mark), 0, "")

	// With the checkpoints of today it is a cut one.
	l = s.open(audit.Options{})
	must(t, l.Checkpoint(s.root, s.account))
	must(t, l.Close())
	old.write("checkpoints", s.read("checkpoints"))
	old.wantReport("against today's checkpoint", old.full(), 21, audit.Cut)
	l = old.open(audit.Options{})
	if err := l.Checkpoint(s.root, s.account); !errors.Is(err, audit.ErrBehind) {
		t.Errorf("a checkpoint over a newer one: %v", err)
	}
	old.wantReport("after that", old.full(), 21, audit.Cut)

	// All of it gone: a new log, but for the head that is noted elsewhere.
	empty := newScene(t)
	empty.wantReport("an empty log", empty.verify(), 0, "")
	empty.wantReport("nothing against a noted head", empty.verifyWith(mark), 1, audit.Cut)
}

// TestU_146_SameAfterReopening: times are kept as they are written.
func TestU_146_SameAfterReopening(t *testing.T) {
	s := newScene(t)
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for range 4 {
		l := s.open(audit.Options{Now: func() time.Time { now = now.Add(123_456_789); return now }})
		must(t, l.Checkpoint(s.root, s.account))
		s.add(l, 3)
		s.want(0, "")
		must(t, l.Close())
		s.want(0, "")
	}
}

// TestU_158_ClockSteps lets the clock go back and far off. The order is that of
// the numbers.
func TestU_158_ClockSteps(t *testing.T) {
	s := newScene(t)
	times := []time.Time{
		time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC), time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(-5, 1, 1, 0, 0, 0, 0, time.UTC),
		{},
		time.Unix(1<<60, 0), time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC),
	}
	n := 0
	l := s.open(audit.Options{Now: func() time.Time { n++; return times[(n-1)%len(times)] }})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 2*len(times))
	s.want(0, "")
	for i, r := range records(s) {
		if r.Seq != uint64(i+1) {
			t.Errorf("record %d comes as number %d", r.Seq, i+1)
		}
	}
}

// TestVerifyWhileWriting: readers elsewhere see a log that is whole at every
// moment, with lines and rotations under way.
func TestVerifyWhileWriting(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 300_000, Generations: 2})
	must(t, l.Checkpoint(s.root, s.account))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	defer func() { cancel(); <-done }()
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if _, err := l.Append(context.WithoutCancel(ctx), event()); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	reader, err := state.OpenDir(s.path)
	must(t, err)
	defer reader.Close()
	for range 40 {
		for _, opt := range []audit.VerifyOptions{{}, {Root: s.root, Account: s.account}} {
			report, err := audit.Verify(t.Context(), reader, opt)
			if err != nil || !report.OK {
				t.Fatalf("%s, %v", show(report), err)
			}
		}
		if _, damaged, err := audit.Tail(reader, 5); damaged > 0 || err != nil {
			t.Fatalf("%d damaged, %v", damaged, err)
		}
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	s := newScene(t).fill(3)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := audit.Verify(ctx, s.dir, audit.VerifyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestRandomDamage changes random bytes of random files of a log with several
// segments: verifying never says that all is well, and a writer always goes on.
func TestRandomDamage(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 3000, Generations: 10})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 30)
	must(t, l.Close())
	names := s.segments()
	rapid.Check(t, func(rt *rapid.T) {
		c := s.copy()
		name := rapid.SampledFrom(names).Draw(rt, "file")
		data := c.read(name)
		switch at := rapid.IntRange(0, len(data)-1).Draw(rt, "at"); rapid.IntRange(0, 3).Draw(rt, "how") {
		case 0:
			data[at] ^= rapid.ByteRange(1, 255).Draw(rt, "flip")
		case 1:
			data = data[:at]
		case 2:
			data = append(data[:at], data[min(len(data), at+rapid.IntRange(1, 2000).Draw(rt, "length")):]...)
		case 3:
			data = append(data[:at:at], append(rapid.SliceOfN(rapid.Byte(), 1, 100).Draw(rt, "bytes"), data[at:]...)...)
		}
		if bytes.Equal(data, c.read(name)) {
			return
		}
		c.write(name, data)
		for how, r := range map[string]audit.Report{"chain": c.verify(), "full": c.full()} {
			if r.OK {
				rt.Fatalf("%s: %s", how, show(r))
			}
		}
		l := c.open(audit.Options{})
		defer l.Close()
		c.add(l, 2)
		if r := c.full(); r.OK {
			rt.Fatalf("after going on: %s", show(r))
		}
		if _, err := l.Seal(t.Context(), s.root, s.account); err != nil {
			rt.Fatal(err)
		}
		for how, r := range map[string]audit.Report{"chain": c.verify(), "full": c.full()} {
			if !r.OK || r.Break == nil {
				rt.Fatalf("%s, sealed: %s", how, show(r))
			}
		}
	})
}

// TestSegmentsBeginAsTheyMust moves the border between two segments. All records
// are there, but the second begins with none of the log's own.
func TestSegmentsBeginAsTheyMust(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{MaxSize: 3000, Generations: 10})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 6)
	must(t, l.Close())
	names := s.segments()
	second := lines(s.read(names[1]))
	first, _ := audit.ParseSegment(names[1])
	s.write(names[0], append(s.read(names[0]), second[0]...))
	s.write(audit.SegmentName(first+1), bytes.Join(second[1:], nil))
	s.remove(names[1])
	s.want(first+1, audit.Tamper)
}

// TestForeignFiles: what is not the log's is left alone.
func TestForeignFiles(t *testing.T) {
	s := newScene(t).fill(3)
	for _, name := range []string{"1.jsonl", "0000000000000000.jsonl", "0000000000000004.json", "0000000000000004.jsonl.bak", "000000000000000x.jsonl", "notes"} {
		s.write(name, []byte("x"))
	}
	s.want(0, "")
	l := s.open(audit.Options{})
	s.add(l, 2)
	s.want(0, "")
	if first, ok := audit.ParseSegment(audit.SegmentName(1<<53 - 1)); !ok || first != 1<<53-1 {
		t.Error("the last segment's name can't be read")
	}
	if _, ok := audit.ParseSegment(audit.SegmentName(1 << 53)); ok {
		t.Error("a segment behind the last number")
	}
}

// TestPlantedSegment puts a file where the log will once go on. It is named and
// stays a stranger; a number far away doesn't take the log there.
func TestPlantedSegment(t *testing.T) {
	for _, first := range []uint64{4, 5, 1000, 1<<53 - 2, 1<<53 - 1} {
		t.Run(fmt.Sprint(first), func(t *testing.T) {
			s := newScene(t).fill(3)
			s.write(audit.SegmentName(first), []byte("junk\n"))
			for how, r := range map[string]audit.Report{"chain": s.verify(), "full": s.full()} {
				if r.OK {
					t.Errorf("%s: %s", how, show(r))
				}
			}
			l := s.open(audit.Options{MaxSize: 2000})
			s.add(l, 10)
			if first > 4 {
				r := s.full()
				if r.OK {
					t.Error("all is well with a stranger in the log")
				}
				if first >= 1000 && !strings.Contains(r.FirstBad.Text, audit.SegmentName(first)) {
					t.Errorf("the stranger is not named: %s", show(r))
				}
				s.remove(audit.SegmentName(first))
			}
			if _, err := l.Seal(t.Context(), s.root, s.account); err != nil && !errors.Is(err, audit.ErrIntact) {
				t.Fatal(err)
			}
			s.want(0, "")
			must(t, l.Close())
			s.want(0, "")
		})
	}
}

// TestLostKeyAmongStrangers has no key file to say where the log ends.
func TestLostKeyAmongStrangers(t *testing.T) {
	for _, first := range []uint64{4, 5, 1000, 1<<53 - 1} {
		s := newScene(t).fill(3)
		s.remove("key")
		s.write(audit.SegmentName(first), []byte("junk\n"))
		l := s.open(audit.Options{})
		s.add(l, 2)
		if seq, _ := l.Head(); seq > 10 {
			t.Errorf("with a stranger at %d the log is at %d", first, seq)
		}
		must(t, l.Close())
		l = s.open(audit.Options{})
		s.add(l, 2)
		must(t, l.Close())
	}
}
