package proc_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"warder/internal/platform"
)

// wrapped are the words that run a program through this package.
func wrapped(t *testing.T, args ...string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return append([]string{self, "wrap"}, args...)
}

// background is a program without a terminal, whose output is read as it comes.
type background struct {
	t        *testing.T
	pid      int
	out      *bufio.Reader
	errs     bytes.Buffer
	streams  sync.WaitGroup
	state    platform.ChildState
	finished bool
}

// begin starts a wrapped program without a terminal.
func begin(t *testing.T, args ...string) *background {
	t.Helper()
	return launch(t, nil, wrapped(t, args...))
}

// launch starts a program without a terminal, which reads stdin.
func launch(t *testing.T, stdin []byte, argv []string) *background {
	t.Helper()
	b := &background{t: t}
	in, typed := pipe(t)
	shown, out := pipe(t)
	told, errs := pipe(t)
	pid, err := platform.StartChild(argv[0], argv, platform.ChildOptions{
		Env: os.Environ(), Files: []*os.File{in, out, errs}, Place: platform.ChildWithoutTerminal,
	})
	if errors.Is(err, platform.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*os.File{in, out, errs} {
		_ = f.Close()
	}
	b.pid, b.out = pid, bufio.NewReader(shown)
	b.streams.Go(func() { _, _ = io.Copy(&b.errs, told) })
	b.streams.Go(func() {
		_, _ = typed.Write(stdin)
		_ = typed.Close()
	})
	t.Cleanup(func() {
		if !b.finished {
			_ = platform.SignalProcess(pid, platform.SigKill)
			b.wait()
		}
	})
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
	return r, w
}

func (b *background) line() string {
	b.t.Helper()
	line, err := b.out.ReadString('\n')
	if err != nil {
		b.t.Fatalf("after %q: %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

func (b *background) signal(number int) {
	b.t.Helper()
	if err := platform.SignalProcess(b.pid, number); err != nil {
		b.t.Fatal(err)
	}
}

func (b *background) wait() {
	for {
		state, err := platform.WaitChild(b.pid)
		if err != nil {
			b.t.Error(err)
		}
		if err != nil || state.Kind == platform.ChildExited || state.Kind == platform.ChildKilled {
			b.state, b.finished = state, true
			return
		}
	}
}

// end is what is left of the output, and the status; -1 if a signal ended it.
func (b *background) end() (string, int) {
	b.t.Helper()
	rest, err := io.ReadAll(b.out)
	if err != nil {
		b.t.Fatal(err)
	}
	b.wait()
	b.streams.Wait()
	if b.state.Kind == platform.ChildKilled {
		return string(rest), -1
	}
	return string(rest), b.state.Code
}

// result is how a program ended.
type result struct {
	stdout, stderr string
	status         int
}

// outcome runs a wrapped program without a terminal.
func outcome(t *testing.T, args ...string) result {
	t.Helper()
	b := begin(t, args...)
	out, status := b.end()
	return result{out, b.errs.String(), status}
}
