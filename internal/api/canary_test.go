package api_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/secret"
)

// canary is a value to search this process's memory for. The test itself keeps it inverted, or it would find its own copy.
type canary struct{ inverted []byte }

// newCanary makes a random value. It is longer than the registers that copying goes through: what a signal leaves of those
// on a stack is beyond any program's reach.
func newCanary(t *testing.T) (canary, secret.Value) {
	t.Helper()
	v, err := secret.Random(1024)
	if err != nil {
		t.Fatal(err)
	}
	c := canary{make([]byte, v.Len())}
	use(t, v, func(b []byte) {
		for i := range b {
			c.inverted[i] = ^b[i]
		}
	})
	return c, v
}

func use(t *testing.T, v secret.Value, f func(b []byte)) {
	t.Helper()
	if err := v.Use(f); err != nil {
		t.Fatal(err)
	}
}

// startsAt reports whether the given quarter of the canary begins at b[0].
func (c canary) startsAt(b []byte, quarter int) bool {
	for i, x := range c.quarter(quarter) {
		if b[i] != ^x {
			return false
		}
	}
	return true
}

// quarter is one quarter of the inverted bytes.
func (c canary) quarter(n int) []byte {
	size := len(c.inverted) / 4
	return c.inverted[n*size:][:size]
}

// find returns where in the readable memory of this process a quarter of the canary lies, and how many bytes were read.
// It reads through the kernel, as a debugger does, so that memory which the kernel hides is passed over.
func (c canary) find(t *testing.T) (hits []string, searched int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip("this system does not show a process its memory: ", err)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Fatal(err)
	}
	defer mem.Close()
	buf := make([]byte, 1<<20)
	own, err := strconv.ParseInt(strings.TrimPrefix(fmt.Sprintf("%p", buf), "0x"), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
		from, to, ok := readable(lines.Text())
		// What a race detector keeps in its terabytes of shadow is not data. Go maps its heap in pieces of 64 MiB.
		if !ok || to-from > 1<<30 {
			continue
		}
		found, n := c.findIn(mem, buf, from, to)
		searched += n
		for _, hit := range found {
			if hit < own || hit >= own+int64(len(buf)) {
				hits = append(hits, fmt.Sprintf("%#x in %s", hit, lines.Text()))
			}
		}
	}
	return hits, searched
}

// findIn searches one mapping, up to where the kernel hides it.
func (c canary) findIn(mem io.ReaderAt, buf []byte, from, to int64) (hits []int64, searched int) {
	overlap := int64(len(c.inverted) / 4)
	for at := from; at < to; {
		n, err := mem.ReadAt(buf[:min(int64(len(buf)), to-at)], at)
		if n == 0 || err != nil {
			break
		}
		searched += n
		for _, off := range c.in(buf[:n]) {
			hits = append(hits, at+int64(off))
		}
		at += int64(n)
		if at < to {
			at -= overlap
		}
	}
	return hits, searched
}

// in finds the quarters of the canary in b.
func (c canary) in(b []byte) []int {
	var found []int
	size := len(c.inverted) / 4
	for quarter := range 4 {
		part := c.quarter(quarter)
		start := []byte{^part[0], ^part[1], ^part[2]} // too little to be found itself
		for at := 0; at+size <= len(b); at++ {
			next := bytes.Index(b[at:len(b)-size+len(start)], start)
			if next < 0 {
				break
			}
			at += next
			if c.startsAt(b[at:], quarter) {
				found = append(found, at)
			}
		}
	}
	return found
}

// readable parses a line of maps.
func readable(line string) (from, to int64, ok bool) {
	fields := strings.Fields(line)
	a, b, _ := strings.Cut(fields[0], "-")
	from, errFrom := strconv.ParseInt(a, 16, 64)
	to, errTo := strconv.ParseInt(b, 16, 64) // what lies above the half is the kernel's
	return from, to, errFrom == nil && errTo == nil && strings.HasPrefix(fields[1], "r") && !strings.HasSuffix(line, "[vvar]")
}

// TestValuesAreNowhereElse sends a value to a handler and back, in one process, and looks for it in all memory: while the
// handler has it, as far as the system hides where it should be, and when everybody has destroyed it. Nothing has been
// collected or overwritten on purpose in between, so a buffer that is garbage by now counts.
func TestValuesAreNowhereElse(t *testing.T) {
	c, v := newCanary(t)
	planted := bytes.Clone(bytes.Repeat([]byte{'-'}, 3*v.Len()))
	use(t, v, func(b []byte) { copy(planted[100:], b) })
	if hits, _ := c.find(t); len(hits) < 4 {
		t.Fatalf("the search found %d quarters of a planted copy", len(hits))
	}
	secret.Wipe(planted)
	inFlight := secret.MemoryKind() == platform.MemorySecret // else a debugger sees it where it should be
	look := func(when string) {
		hits, searched := c.find(t)
		for _, hit := range hits {
			t.Errorf("%s: found at %s", when, hit)
		}
		t.Logf("%s: searched %d bytes", when, searched)
	}
	w := serve(t, map[string]api.Op{"there-and-back": {Takes: 2, Returns: true, Call: func(_ context.Context, call *api.Call) (*api.Reply, error) {
		back, err := call.Values[1].Clone()
		if inFlight {
			look("in the handler")
			inFlight = false // once is enough
		}
		return &api.Reply{Output: "beside it", Values: []secret.Value{back}}, err
	}}})
	client := w.dial()
	for range 3 {
		got, err := client.Call(t.Context(), "there-and-back", "an input", nil, v, v)
		if err != nil || len(got) != 1 || !got[0].Equal(v) {
			t.Fatal(got, err)
		}
		frame.DestroyAll(got)
	}
	// One that is refused, and one whose answer is not read.
	if _, err := client.Call(t.Context(), "unknown", nil, nil, v); codeOf(err) != api.Usage {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.dial().Call(ctx, "there-and-back", nil, nil, v, v)
	v.Destroy()
	if err := w.down(); err != nil {
		t.Fatal(err)
	}
	look("afterwards")
}
