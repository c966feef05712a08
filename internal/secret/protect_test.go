package secret_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"warder/internal/platform"
	"warder/internal/secret"
)

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func isSet(name string) bool { return os.Getenv(name) != "" }

// holder is set in the environment of the process whose memory a test reads.
const holder = "WARDER_TEST_HOLDER"

// The parent and the child agree on four marks. Each is written to the child's memory mangled, so that only what
// unmask makes is found by the search.
var marks = struct{ heap, held, wiped, freed byte }{1, 2, 3, 4}

// unmask writes mark's bytes to b: 32 of them that stand nowhere else in the program.
func unmask(b []byte, mark byte) {
	for i := range b {
		b[i] = (byte(i)*37 ^ 0x5a) + mark*29
	}
}

// TestProtection reads a child's memory like a debugger: a secret in memfd_secret can't be found, an ordinary heap
// copy can (so the search works), and what was wiped or destroyed is gone whatever the memory is.
func TestProtection_memoryReadFromOutside(t *testing.T) {
	if isSet(holder) {
		hold(t)
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc/PID/mem")
	}
	cmd := exec.CommandContext(t.Context(), self(t), "-test.run=^"+t.Name()+"$")
	cmd.Env = append(cmd.Environ(), holder+"=1")
	stdin, errIn := cmd.StdinPipe()
	stdout, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	ready, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(ready, "holding in ") {
		t.Fatalf("child says %q, %v", ready, err)
	}
	kind := platform.MemoryKind(strings.TrimSpace(strings.TrimPrefix(ready, "holding in ")))
	found := searchMemory(t, cmd.Process.Pid)
	if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}

	if !found[marks.heap] {
		t.Fatal("the copy on the heap isn't found: the search doesn't work")
	}
	if found[marks.wiped] {
		t.Error("wiped bytes are found")
	}
	if found[marks.freed] {
		t.Error("bytes of a destroyed secret are found")
	}
	switch {
	case kind == platform.MemorySecret && found[marks.held]:
		t.Error("a secret in memfd_secret is found")
	case kind != platform.MemorySecret:
		t.Logf("kind %q: a debugger finds the secret: %v", kind, found[marks.held])
	}
}

// hold is the child: it makes the four, says so, and waits to be let go.
func hold(t *testing.T) {
	// On the heap: a stack that grows leaves its old copy behind.
	heap, wiped := bytes.Repeat([]byte{0}, 32), bytes.Repeat([]byte{0}, 32)
	unmask(heap, marks.heap)
	unmask(wiped, marks.wiped)
	held := holdOne(t, marks.held)
	freed := holdOne(t, marks.freed)
	secret.Wipe(wiped)
	freed.Destroy()
	fmt.Printf("holding in %s\n", secret.MemoryKind())
	_, _ = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(heap)
	runtime.KeepAlive(wiped)
	held.Destroy()
}

func holdOne(t *testing.T, mark byte) secret.Value {
	v, err := secret.Make(32, func(b []byte) error { unmask(b, mark); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// searchMemory tells which marks stand anywhere in a process's readable memory.
func searchMemory(t *testing.T, pid int) map[byte]bool {
	t.Helper()
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		t.Skip(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		t.Skip(err) // this system lets nobody trace
	}
	defer mem.Close()
	found := map[byte]bool{}
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var mode string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil || mode[0] != 'r' {
			continue
		}
		searchRange(mem, from, to, found)
	}
	return found
}

// searchRange reads page by page, since one unreadable page would hide its neighbours, and joins each with the end
// of the one before.
func searchRange(mem io.ReaderAt, from, to int64, found map[byte]bool) {
	const page, length = 4096, 32
	window := make([]byte, 0, page+length)
	for at := from; at < to; at += page {
		next := make([]byte, page)
		if _, err := mem.ReadAt(next, at); err != nil {
			window = window[:0]
			continue
		}
		window = append(slices.Clone(window[max(0, len(window)-length):]), next...)
		for _, mark := range []byte{marks.heap, marks.held, marks.wiped, marks.freed} {
			want := make([]byte, length)
			unmask(want, mark)
			found[mark] = found[mark] || bytes.Contains(window, want)
		}
	}
}
