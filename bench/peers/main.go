// Command peers runs other maskers beside ours over the same inputs and prints one table. It is a module of its own: what it
// compares with is no part of warder, and warder's module doesn't know it.
//
//	cd bench/peers && go run .
//
// Maskers take turns in each round, and medians are shown, in MB/s: compare what stands in one column. One that is slow
// sees less of the text.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

const chunk = 32 << 10

// input is a column: values, and a text.
type input struct {
	name string
	keys []namedKey
	text func() []byte
}

func inputs(size, weak int) []input {
	r := rand.New(rand.NewPCG(1, 2))
	keys := map[int][]namedKey{1: randomKeys(r, 1), 100: randomKeys(r, 100), 10_000: randomKeys(r, 10_000)}
	var all []input
	for _, n := range []int{1, 100, 10_000} {
		all = append(all, input{fmt.Sprintf("log, %d", n), keys[n], func() []byte { return buildLog(r, size, 100<<10, keys[n]) }})
	}
	for _, n := range []int{100, 10_000} {
		all = append(
			all,
			input{fmt.Sprintf("dense, %d", n), keys[n], func() []byte { return buildLog(r, size, 200, keys[n]) }},
			input{fmt.Sprintf("near, %d", n), keys[n], func() []byte { return nearMisses(r, size, keys[n]) }},
			input{fmt.Sprintf("base64, %d", n), keys[n], func() []byte { return base64Lines(r, size) }},
		)
	}
	for i, w := range weakSpots(r, weak) {
		all = append(all, input{fmt.Sprintf("weak %d", i+1), w.keys, func() []byte { return w.text }})
	}
	return all
}

func main() {
	size := flag.Int("mib", 64, "size of a text")
	rounds := flag.Int("rounds", 3, "rounds whose medians are shown")
	limit := flag.Duration("limit", 100*time.Millisecond, "when to stop a masker in one round")
	flag.Parse()
	if err := run(os.Stdout, *size<<20, *rounds, *limit); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, size, rounds int, limit time.Duration) error {
	all := peers()
	cells := make([][]string, len(all))
	var heads, weak []string
	for _, in := range inputs(size, size/4) {
		fmt.Fprintln(os.Stderr, "peers:", in.name)
		heads = append(heads, in.name)
		speeds, err := measure(all, in, rounds, limit)
		if err != nil {
			return fmt.Errorf("%s: %w", in.name, err)
		}
		for i, speed := range speeds {
			cells[i] = append(cells[i], speed)
		}
		debug.FreeOSMemory()
	}
	for i, w := range weakSpots(rand.New(rand.NewPCG(1, 2)), 1) {
		weak = append(weak, fmt.Sprintf("weak %d: %s", i+1, w.name))
	}
	fmt.Fprintf(out, "%s, %s/%s, %d cores; MB/s of %d MiB in writes of 32 KiB, medians of %d\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), size>>20, rounds)
	fmt.Fprintf(out, "%-32s", "text, values")
	for _, head := range heads {
		fmt.Fprintf(out, " %14s", head)
	}
	for i, p := range all {
		fmt.Fprintf(out, "\n%-32s", p.name)
		for _, cell := range cells[i] {
			fmt.Fprintf(out, " %14s", cell)
		}
	}
	fmt.Fprintf(out, "\n\n%s\n", strings.Join(weak, "\n"))
	return nil
}

// count is where all output ends.
type count struct{ n int }

func (c *count) Write(p []byte) (int, error) {
	c.n += len(p)
	return len(p), nil
}

// runner is a peer at work on a column.
type runner struct {
	name   string
	w      io.WriteCloser // nil: it takes no part any more
	speeds []float64
	slow   bool
}

// start makes the writers of all peers that a column isn't too much for.
func start(all []peer, in input) ([]*runner, error) {
	values := make([]string, len(in.keys))
	for i, k := range in.keys {
		values[i] = k.key
	}
	slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var runners []*runner
	for _, p := range all {
		r := &runner{name: p.name}
		if p.most == 0 || len(values) <= p.most {
			w, err := p.start(&count{}, values)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			if _, err := io.WriteString(w, "\n"); err != nil { // some build what they search with when they need it
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
			r.w = w
		}
		runners = append(runners, r)
	}
	return runners, nil
}

// measure is how fast each peer takes the text of a column. The first round warms up; who is slow in it has one more alone.
func measure(all []peer, in input, rounds int, limit time.Duration) ([]string, error) {
	runners, err := start(all, in)
	if err != nil {
		return nil, err
	}
	text := in.text()
	for round := range rounds + 1 {
		for _, r := range runners {
			if r.w == nil {
				continue
			}
			begun := time.Now()
			speed, err := pour(r.w, text, limit)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			r.slow = r.slow || time.Since(begun) > 4*limit
			if round == 0 {
				continue
			}
			r.speeds = append(r.speeds, speed)
			if r.slow || round == rounds {
				r.w.Close()
				r.w = nil
			}
		}
	}
	var cells []string
	for _, r := range runners {
		cell := "-"
		if slices.Sort(r.speeds); len(r.speeds) > 0 {
			speed := r.speeds[len(r.speeds)/2]
			cell = fmt.Sprintf("%.*f", decimals(speed), speed)
		}
		cells = append(cells, cell)
	}
	return cells, nil
}

func decimals(speed float64) int {
	if speed < 10 {
		return 1
	}
	return 0
}

// pour writes text until it ends or the time is up. It returns how fast that went, in MB/s.
func pour(w io.Writer, text []byte, limit time.Duration) (float64, error) {
	begun := time.Now()
	size := 0
	for piece := range slices.Chunk(text, chunk) {
		if _, err := w.Write(piece); err != nil {
			return 0, err
		}
		if size += len(piece); time.Since(begun) > limit {
			break
		}
	}
	return float64(size) / 1e6 / time.Since(begun).Seconds(), nil
}
