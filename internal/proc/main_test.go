package proc_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"warder/internal/proc"
)

// TestMain lets the test binary be what it tests: "stage" is a stage, and "wrap" a command that runs a program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case proc.StageCommand:
			os.Exit(proc.Stage(os.Args[2:]))
		case "wrap":
			os.Exit(wrap(os.Args[2:]))
		}
	}
	// Whoever runs the tests in the background may have them ignore interrupts, and a shell never traps what it was started
	// to ignore. What is taken here is at its default in the programs that these tests start.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)
	os.Exit(m.Run())
}

// wrap is: wrap [mask=TEXT] [places=DIR:DIR…] [refuse=] [ahead=] [env:NAME=VALUE] [file:NAME=VALUE] [stdin:=VALUE] -- CMD…
func wrap(args []string) int {
	spec := proc.Spec{Env: os.Environ(), Streams: [3]*os.File{os.Stdin, os.Stdout, os.Stderr}, Self: os.Args[0]}
	ahead := false
	settings := map[string]func(s *proc.Spec, value string){
		"mask": func(s *proc.Spec, value string) {
			s.Mask = func(dst io.Writer) io.WriteCloser { return hider{dst, []byte(value)} }
		},
		"ahead":  func(*proc.Spec, string) { ahead = true },
		"places": func(s *proc.Spec, value string) { s.Places = strings.Split(value, ":") },
		"refuse": func(s *proc.Spec, _ string) { s.WithoutMemory() },
	}
	for ; args[0] != "--"; args = args[1:] {
		name, value, _ := strings.Cut(args[0], "=")
		if set, known := settings[name]; known {
			set(&spec, value)
			continue
		}
		way, name, _ := strings.Cut(name, ":")
		spec.Inject = append(spec.Inject, injection(way, name, value))
	}
	spec.Argv = args[1:]
	var err error
	spec.Path, err = exec.LookPath(spec.Argv[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	if ahead {
		spec.Ahead = proc.StartAhead(spec)
		spec.Ahead.TakeSignals()
	}
	outcome, err := proc.Run(spec)
	if err != nil {
		fmt.Fprintln(os.Stderr, "wrap:", err)
		var start *proc.StartError
		if errors.As(err, &start) && !errors.Is(err, syscall.ENOENT) {
			return 126
		}
		return 125
	}
	return outcome.Status()
}

func injection(way, name, value string) proc.Injection {
	by := map[string]proc.Delivery{"env": proc.ByEnv, "file": proc.ByFile, "stdin": proc.ByStdin}
	if strings.HasPrefix(value, "x*") {
		var n int
		_, _ = fmt.Sscanf(value, "x*%d", &n)
		value = strings.Repeat("x", n)
	}
	return proc.Injection{Delivery: by[way], Name: name, Size: len(value), Write: func(w io.Writer) error {
		_, err := io.WriteString(w, value)
		return err
	}}
}

// hider stands for the masker: it is enough for values that one write holds.
type hider struct {
	w    io.Writer
	text []byte
}

func (h hider) Write(p []byte) (int, error) {
	if len(h.text) > 0 {
		_, err := h.w.Write(bytes.ReplaceAll(p, h.text, []byte("****")))
		return len(p), err
	}
	return h.w.Write(p)
}

func (h hider) Close() error { return nil }
