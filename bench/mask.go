package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"time"

	"warder/internal/mask"
	"warder/internal/platform"
	"warder/internal/secret"
)

const (
	maskChunk = 32 << 10
	hitEach   = 100 << 10
)

// maskScale is how much is measured; a test measures less.
type maskScale struct {
	text, weak, pipe int // bytes
	many             int // keys
	rounds           int // odd
	turn             time.Duration
}

// bar is what a row has to reach, and what it should.
type bar struct {
	what        string
	got         float64
	least, goal float64 // 0: there is none
	unit        string
	below       bool // less is better
}

func (b bar) verdict() string {
	reached := func(mark float64) bool { return b.got >= mark && !b.below || b.got <= mark && b.below }
	switch {
	case b.least == 0:
		return ""
	case b.goal != 0 && reached(b.goal):
		return "goal met"
	case reached(b.least):
		return "met"
	}
	return "MISSED"
}

// showBars prints rows. What they miss counts only when it is to be checked: a busy machine is no reason to fail.
func (r *report) showBars(bars []bar) {
	number := func(n float64, unit string) string {
		if n == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3g %s", n, unit)
	}
	for _, b := range bars {
		got := fmt.Sprintf("%.3g %s", b.got, b.unit)
		if b.got >= 1000 {
			got = fmt.Sprintf("%.0f %s", b.got, b.unit)
		}
		fmt.Fprintf(r.out, "  %-64s %16s %16s %16s  %s\n", b.what, got, number(b.least, b.unit), number(b.goal, b.unit), b.verdict())
		if r.check && b.verdict() == "MISSED" {
			r.below = append(r.below, b.what)
		}
	}
}

// maskPart measures the masker beside copying memory, in the same run: only ratios can be compared from one machine, and
// from one hour, to the next.
func maskPart(r *report, dir string) error {
	return measureMask(r, dir, maskScale{text: 64 << 20, weak: 16 << 20, pipe: 256 << 20, many: 10_000, rounds: 9, turn: 60 * time.Millisecond})
}

func measureMask(r *report, dir string, s maskScale) error {
	fmt.Fprintf(r.out, "  %-64s %16s %16s %16s\n", "log text, writes of 32 KiB; medians", "measured", "at least", "goal")
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the keys are made up, and the same in each run
	few, many := randomKeys(random, 100), randomKeys(random, s.many)
	for _, step := range []func() error{
		func() error { return maskShares(r, random, s, few, many) },
		func() error { return maskLines(r, random, s, few) },
		func() error { return maskBuilds(r, s, few, many) },
		func() error { return maskPipe(r, random, filepath.Join(dir, "log"), s, few) },
		func() error { return maskOthers(r, random, s, few, many) },
		func() error { return maskWeak(r, random, s) },
	} {
		if err := step(); err != nil {
			return err
		}
		debug.FreeOSMemory()
	}
	return nil
}

// sink counts what it gets.
type sink struct{ n int }

func (s *sink) Write(p []byte) (int, error) {
	s.n += len(p)
	return len(p), nil
}

// copier is what masking is measured by: it copies what it gets into one buffer.
type copier struct {
	dst io.Writer
	buf []byte
}

func (c *copier) Write(p []byte) (int, error) {
	c.buf = append(c.buf[:0], p...)
	return c.dst.Write(c.buf)
}

func (c *copier) Close() error { return nil }

// masker makes a writer over a set of keys.
func masker(keys []namedKey, o mask.ValueOptions) (w io.WriteCloser, done func(), err error) {
	set := mask.NewSet()
	for _, k := range keys {
		v, err := secret.New([]byte(k.key))
		if err == nil {
			err = set.Add(k.name, v, o)
		}
		v.Destroy()
		if err != nil {
			set.Destroy()
			return nil, nil, err
		}
	}
	w = mask.NewWriter(&sink{}, set)
	return w, func() { w.Close(); set.Destroy() }, nil
}

// throughWriters is how fast writers take text in pieces, in bytes a second: the medians of rounds in which they take turns.
// The first round only warms up.
func throughWriters(writers []io.WriteCloser, pieces [][]byte, s maskScale) ([]float64, error) {
	speeds := make([][]float64, len(writers))
	for round := range s.rounds + 1 {
		for i, w := range writers {
			speed, err := pour(w, pieces, s.turn)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				speeds[i] = append(speeds[i], speed)
			}
		}
	}
	medians := make([]float64, len(writers))
	for i, all := range speeds {
		medians[i] = median(all)
	}
	return medians, nil
}

// pour writes the pieces, again and again until a turn is over. Turns are of one length, so that what else the machine does
// hits copying, which is done with a text in milliseconds, as often as masking.
func pour(w io.Writer, pieces [][]byte, turn time.Duration) (float64, error) {
	size := 0
	begun := time.Now()
	for size == 0 || time.Since(begun) < turn {
		for _, p := range pieces {
			if _, err := w.Write(p); err != nil {
				return 0, err
			}
			size += len(p)
		}
	}
	return float64(size) / max(time.Since(begun).Seconds(), 1e-9), nil
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// againstCopy is how fast a masker takes text, and what share of the speed of copying that is.
func againstCopy(keys []namedKey, o mask.ValueOptions, text []byte, s maskScale) (speed, share float64, err error) {
	w, done, err := masker(keys, o)
	if err != nil {
		return 0, 0, err
	}
	defer done()
	pieces := slices.Collect(slices.Chunk(text, maskChunk))
	speeds, err := throughWriters([]io.WriteCloser{&copier{dst: &sink{}}, w}, pieces, s)
	if err != nil {
		return 0, 0, err
	}
	return speeds[1], speeds[1] / speeds[0], nil
}

// maskShares measures the rows that are a share of memcpy.
func maskShares(r *report, random *rand.Rand, s maskScale, few, many []namedKey) error {
	for _, c := range []struct {
		what        string
		keys        []namedKey
		o           mask.ValueOptions
		text        func() []byte
		least, goal float64
	}{
		{"1 value, all forms, folded", few[:1], mask.ValueOptions{}, func() []byte { return buildLog(random, s.text, hitEach, few[:1]) }, 0.30, 0.45},
		{"100 values, as they are", few, mask.ValueOptions{Exact: true}, func() []byte { return buildLog(random, s.text, hitEach, few) }, 0.25, 0.35},
		{"100 values, all forms, folded", few, mask.ValueOptions{}, func() []byte { return buildLog(random, s.text, hitEach, few) }, 0.08, 0.15},
		{fmt.Sprintf("%d values, all forms, folded", s.many), many, mask.ValueOptions{}, func() []byte { return buildLog(random, s.text, hitEach, many) }, 0.04, 0.08},
		{"a hit each 200 bytes, 100 values as they are", few, mask.ValueOptions{Exact: true}, func() []byte { return buildLog(random, s.text, 200, few) }, 0.10, 0.15},
		{"a hit each 200 bytes, 100 values in all forms", few, mask.ValueOptions{}, func() []byte { return buildLog(random, s.text, 200, few) }, 0, 0},
		{"10 % ESC bytes, 100 values, all forms, folded", few, mask.ValueOptions{}, func() []byte { return colourful(random, s.text, few) }, 0.02, 0},
	} {
		r.step("mask: %s", c.what)
		speed, share, err := againstCopy(c.keys, c.o, c.text(), s)
		if err != nil {
			return err
		}
		r.showBars([]bar{{fmt.Sprintf("%s (%.0f MB/s)", c.what, speed/1e6), share, c.least, c.goal, "of copy", false}})
		debug.FreeOSMemory()
	}
	return nil
}

// maskLines measures what a line costs that is written alone.
func maskLines(r *report, random *rand.Rand, s maskScale, few []namedKey) error {
	r.step("mask: a line a write")
	text := buildLog(random, s.text/4, hitEach, few)
	lines := slices.Collect(bytes.Lines(text))
	unfolded, done, err := masker(few, mask.ValueOptions{Unfolded: true})
	if err != nil {
		return err
	}
	defer done()
	folded, done, err := masker(few, mask.ValueOptions{})
	if err != nil {
		return err
	}
	defer done()
	speeds, err := throughWriters([]io.WriteCloser{unfolded, folded, &copier{dst: &sink{}}}, lines, s)
	if err != nil {
		return err
	}
	each := func(speed float64) float64 { return float64(len(text)) / speed / float64(len(lines)) * 1e9 }
	r.showBars([]bar{
		{"a line a write, 100 values, no folded base64", each(speeds[0]), 60, 30, "ns", true},
		{"a line a write, 100 values, folded base64", each(speeds[1]), 160, 60, "ns", true},
		{"a line a write, copied", each(speeds[2]), 0, 0, "ns", true},
	})
	return nil
}

// maskBuilds measures what it takes until the first byte is masked. Secret memory is none of Go's: what the set takes is
// by how much the process grows in main memory, after what only building needs was given back.
func maskBuilds(r *report, s maskScale, few, many []namedKey) error {
	for _, c := range []struct {
		keys                  []namedKey
		rounds                int
		least, goal           float64 // ms
		leastMemory, lessGoal float64 // MiB
	}{{few, 3 * s.rounds, 2, 1, 0, 0}, {many, s.rounds, 400, 150, 80, 40}} {
		r.step("mask: building a set of %d values", len(c.keys))
		values, err := secrets(c.keys)
		if err != nil {
			return err
		}
		_, size, err := maskBuild(c.keys, values, true)
		if err != nil {
			return err
		}
		var times []float64
		for range c.rounds {
			took, _, err := maskBuild(c.keys, values, false)
			if err != nil {
				return err
			}
			times = append(times, took.Seconds()*1e3)
		}
		for _, v := range values {
			v.Destroy()
		}
		r.showBars([]bar{
			{fmt.Sprintf("build, %d values, all forms", len(c.keys)), median(times), c.least, c.goal, "ms", true},
			{fmt.Sprintf("resident after it, %d values", len(c.keys)), size, c.leastMemory, c.lessGoal, "MiB", true},
		})
	}
	return nil
}

// secrets are keys in secret memory.
func secrets(keys []namedKey) ([]secret.Value, error) {
	values := make([]secret.Value, len(keys))
	for i, k := range keys {
		var err error
		if values[i], err = secret.New([]byte(k.key)); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// maskBuild builds a set once. If its size is asked for, in MiB, the Go heap is emptied first, which makes building slow.
func maskBuild(keys []namedKey, values []secret.Value, sized bool) (took time.Duration, size float64, err error) {
	var before int64
	if sized {
		debug.FreeOSMemory()
		before, _ = resident("self") // where the system doesn't tell, size is 0
	}
	set := mask.NewSet()
	defer set.Destroy()
	begun := time.Now()
	for i, v := range values {
		if err := set.Add(keys[i].name, v, mask.ValueOptions{}); err != nil {
			return 0, 0, err
		}
	}
	w := mask.NewWriter(&sink{}, set)
	_, err = w.Write([]byte("x"))
	took = time.Since(begun)
	if sized {
		debug.FreeOSMemory()
		after, _ := resident("self")
		size = max(0, float64(after-before)/1024)
	}
	return took, size, errors.Join(err, w.Close())
}

// maskPipe measures what a reader of a program's output gets, with and without a masker behind the pipe.
func maskPipe(r *report, random *rand.Rand, path string, s maskScale, few []namedKey) error {
	r.step("mask: through a pipe")
	if err := os.WriteFile(path, buildLog(random, s.pipe, hitEach, few), 0o600); err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	set := mask.NewSet()
	defer set.Destroy()
	for _, k := range few {
		v, err := secret.New([]byte(k.key))
		if err := errors.Join(err, set.Add(k.name, v, mask.ValueOptions{})); err != nil {
			return err
		}
		v.Destroy()
	}
	var bare, masked []float64
	for round := range s.rounds + 1 {
		plain, err := catThrough(path, null)
		if err != nil {
			return err
		}
		w := mask.NewWriter(null, set)
		hidden, err := catThrough(path, w)
		if err := errors.Join(err, w.Close()); err != nil {
			return err
		}
		if round > 0 {
			bare, masked = append(bare, plain), append(masked, hidden)
		}
	}
	what := fmt.Sprintf("behind a child's pipe, 100 values, all forms (%.0f MB/s)", median(masked)/1e6)
	r.showBars([]bar{{what, median(masked) / median(bare), 0.7, 0.85, "of unmasked", false}})
	return os.Remove(path)
}

// catThrough is how fast a program prints a file through a pipe into w, in bytes a second.
func catThrough(path string, w io.Writer) (float64, error) {
	cmd := exec.CommandContext(context.Background(), "cat", path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if pipe, ok := out.(*os.File); ok {
		_ = platform.GrowPipe(pipe, 1<<20) // as a run does; else both are slower
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	room := make([]byte, maskChunk)
	size := 0
	for {
		n, err := out.Read(room)
		size += n
		if _, err := w.Write(room[:n]); err != nil {
			return 0, errors.Join(err, cmd.Wait())
		}
		if err != nil {
			break
		}
	}
	return float64(size) / time.Since(begun).Seconds(), cmd.Wait()
}

// maskOthers measures texts that have no bar: what a program may print that wants to be slow to mask.
func maskOthers(r *report, random *rand.Rand, s maskScale, few, many []namedKey) error {
	for _, c := range []struct {
		what string
		keys []namedKey
		o    mask.ValueOptions
		text func() []byte
	}{
		{"nothing but values cut short, 100", few, mask.ValueOptions{Exact: true}, func() []byte { return nearMisses(random, s.text, few) }},
		{fmt.Sprintf("nothing but values cut short, %d", s.many), many, mask.ValueOptions{Exact: true}, func() []byte { return nearMisses(random, s.text, many) }},
		{"lines of base64, 100 values, all forms", few, mask.ValueOptions{}, func() []byte { return base64Lines(random, s.text) }},
	} {
		r.step("mask: %s", c.what)
		speed, share, err := againstCopy(c.keys, c.o, c.text(), s)
		if err != nil {
			return err
		}
		r.showBars([]bar{{fmt.Sprintf("%s (%.0f MB/s)", c.what, speed/1e6), share, 0, 0, "of copy", false}})
		debug.FreeOSMemory()
	}
	return nil
}

// maskWeak measures keys and texts that are alike. Their bars are a third of what the best published search took there
// that was measured on another machine, so they aren't checked here: bench/peers runs both.
func maskWeak(r *report, random *rand.Rand, s maskScale) error {
	s.rounds = min(3, s.rounds)
	for _, c := range weakSpots(random, s.weak) {
		r.step("mask: %s", c.name)
		speed, _, err := againstCopy(c.keys, mask.ValueOptions{Exact: true}, c.text, s)
		if err != nil {
			return err
		}
		r.showBars([]bar{{"weak spot: " + c.name, speed / 1e6, 0, 0, "MB/s", false}})
	}
	return nil
}
