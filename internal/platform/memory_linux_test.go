package platform_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"warder/internal/platform"
	"warder/internal/testkit"
)

// address is where a mapping lies, for comparing with /proc.
func address(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

// flags reads a mapping's VmFlags line: lo is locked, dd left out of dumps, wf wiped and dc absent after a fork.
func flags(t *testing.T, mem []byte) []string {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	inside := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var from, to uintptr
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x ", &from, &to); n == 2 {
			inside = from <= address(mem) && address(mem) < to
		}
		if list, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); ok && inside {
			return strings.Fields(list)
		}
	}
	t.Fatal("the mapping is not in /proc/self/smaps")
	return nil
}

// readThroughProc reads a mapping as a debugger would.
func readThroughProc(t *testing.T, mem []byte) ([]byte, error) {
	t.Helper()
	f, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	got := make([]byte, len(mem))
	_, err = f.ReadAt(got, int64(address(mem)))
	return got, err
}

func TestMemory_pinnedIsLockedAndNotDumped(t *testing.T) {
	mem, kind, err := platform.MapPinned(os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = platform.FreeLocked(mem) }()
	if kind != platform.MemoryLocked {
		t.Skipf("kind is %q: the lock limit is spent", kind)
	}
	got := flags(t, mem)
	for _, want := range []string{"lo", "dd", "wf"} {
		if !slices.Contains(got, want) {
			t.Errorf("flag %s is missing in %v", want, got)
		}
	}
}

func TestMemory_secretIsUnreadableFromOutside(t *testing.T) {
	mem, kind, err := platform.AllocLocked(os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = platform.FreeLocked(mem) }()
	if kind != platform.MemorySecret {
		t.Skipf("kind is %q: no memfd_secret here", kind)
	}
	copy(mem, "something")
	if got, err := readThroughProc(t, mem); err == nil {
		t.Errorf("/proc/self/mem shows %q", got[:9])
	}
	got := flags(t, mem)
	for _, want := range []string{"lo", "dd", "dc"} {
		if !slices.Contains(got, want) {
			t.Errorf("flag %s is missing in %v", want, got)
		}
	}

	// The same reading must succeed on a mapping that is only pinned, or the test above proves nothing.
	pinned, _, err := platform.MapPinned(os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = platform.FreeLocked(pinned) }()
	copy(pinned, "something")
	if got, err := readThroughProc(t, pinned); err != nil || string(got[:9]) != "something" {
		t.Errorf("reading a pinned mapping: %q, %v", got[:9], err)
	}
}

func TestMemory_noDescriptorStays(t *testing.T) {
	mem, _, err := platform.AllocLocked(os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = platform.FreeLocked(mem) }()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	for _, fd := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(to, "secretmem") {
			t.Errorf("descriptor %s leads to %s", fd.Name(), to)
		}
	}
}

func TestMemory_spentLimitLowersTheKind(t *testing.T) {
	if testkit.AsUser(t) { // root may lock without a limit
		return
	}
	const limit = 64 << 10
	limitLocking(t, limit)

	first, kind, err := platform.AllocLocked(limit)
	if err != nil {
		t.Fatal(err)
	}
	if kind == platform.MemoryPlain {
		t.Skip("nothing can be locked here")
	}
	second, kind, err := platform.AllocLocked(limit)
	if err != nil {
		t.Fatalf("beyond the limit: %v", err)
	}
	if kind != platform.MemoryPlain {
		t.Errorf("beyond the limit: kind %q, want %q", kind, platform.MemoryPlain)
	}
	second[0], second[limit-1] = 1, 1
	if err := errors.Join(platform.FreeLocked(first), platform.FreeLocked(second)); err != nil {
		t.Error(err)
	}
	third, kind, err := platform.AllocLocked(limit)
	if err != nil || kind == platform.MemoryPlain {
		t.Errorf("after giving the first back: kind %q, error %v", kind, err)
	}
	if err := platform.FreeLocked(third); err != nil {
		t.Error(err)
	}
}

// limitLocking lowers RLIMIT_MEMLOCK for the rest of the test.
func limitLocking(t *testing.T, limit uint64) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	lower := old
	lower.Cur = min(limit, old.Max)
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &lower); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
			t.Error(err)
		}
	})
}
