package proc

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"warder/internal/platform"
)

// startAhead starts the stage of a program that would leave a file.
func startAhead(t *testing.T) (a *Ahead, spec Spec, ran string) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = null.Close() })
	ran = filepath.Join(t.TempDir(), "ran")
	spec = Spec{Path: "/usr/bin/touch", Argv: []string{"touch", ran}, Streams: [3]*os.File{null, null, null}}
	a = StartAhead(spec)
	<-a.begun
	if errors.Is(a.err, platform.ErrUnsupported) {
		t.Skip(a.err)
	}
	if a.err != nil {
		t.Fatal(a.err)
	}
	return a, spec, ran
}

// gone fails where a process is still there, and where a program ran.
func gone(t *testing.T, pid int, ran string) {
	t.Helper()
	if _, err := platform.WaitChild(pid); err == nil {
		t.Error("the stage was not waited for")
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program ran")
	}
}

// TestAheadUnused: a stage that gets no values becomes nothing and leaves nothing, whether it is ended, or its run refused.
func TestAheadUnused(t *testing.T) {
	a, spec, ran := startAhead(t)
	pid := a.child.stage.pid
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	gone(t, pid, ran)
	spec.Ahead = a
	if _, err := Run(spec); !errors.Is(err, errNoStage) {
		t.Errorf("a second use: %v", err)
	}

	a, spec, ran = startAhead(t)
	pid, spec.Ahead = a.child.stage.pid, a
	spec.Inject = []Injection{{Name: "N", Size: MaxVariable}}
	var large *TooLargeError
	if _, err := Run(spec); !errors.As(err, &large) {
		t.Errorf("got %v", err)
	}
	gone(t, pid, ran)
}

// TestAheadCut: a stage whose payload does not end as it should becomes nothing.
func TestAheadCut(t *testing.T) {
	a, _, ran := startAhead(t)
	s := a.child.stage
	if err := writePayload(s.values, orders{}, nil); err != nil { // all but the last byte
		t.Fatal(err)
	}
	if err := s.values.Close(); err != nil {
		t.Fatal(err)
	}
	if state, err := platform.WaitChild(s.pid); err != nil || state.Code != statusOwn {
		t.Errorf("%+v, %v", state, err)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program ran")
	}
	a.child.close()
}

// TestS2_21_NobodyReadsAlong: what leads to the stage can't be opened by way of /proc, which a pipe could be.
func TestS2_21_NobodyReadsAlong(t *testing.T) {
	a, _, _ := startAhead(t)
	defer a.Close()
	raw, err := a.child.stage.values.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) {
		for _, path := range []string{"/proc/self/fd/" + strconv.Itoa(int(fd)), "/proc/" + strconv.Itoa(a.child.stage.pid) + "/fd/3"} {
			if f, err := os.Open(path); err == nil {
				t.Errorf("%s was opened", path)
				_ = f.Close()
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
