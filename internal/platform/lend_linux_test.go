package platform_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"warder/internal/platform"
)

// refuseMemory is the variable by which this test binary is a process that may not make files in memory.
const refuseMemory = "WARDER_TEST_REFUSE_MEMORY"

// TestU_40_LendingWhereMemoryIsRefused: a sandbox that refuses memfd_create is noticed, by its error.
func TestU_40_LendingWhereMemoryIsRefused(t *testing.T) {
	if os.Getenv(refuseMemory) != "" {
		if err := platform.CheckLending(); err != nil {
			t.Fatalf("before: %v", err)
		}
		refuse(t, unix.SYS_MEMFD_CREATE)
		if err := platform.CheckLending(); !errors.Is(err, unix.ENOSYS) {
			t.Errorf("got %v", err)
		}
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), refuseMemory+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// refuse has the kernel refuse a system call to this process from now on.
func refuse(t *testing.T, call uint32) {
	t.Helper()
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		t.Skip(errno)
	}
}

// TestIsInMemory knows a directory of each kind.
func TestIsInMemory(t *testing.T) {
	for path, want := range map[string]bool{"/dev/shm": true, "/proc": false, "/sys": false} {
		dir, err := os.Open(path)
		if err != nil {
			t.Logf("%s: %v", path, err)
			continue
		}
		defer dir.Close()
		if got, err := platform.IsInMemory(dir); err != nil || got != want {
			t.Errorf("%s: %v, %v", path, got, err)
		}
	}
}

// TestGrowPipe: what fits the room is written although nobody reads, and a file that is no pipe stays as it is.
func TestGrowPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	const room = 256 << 10
	if err := platform.GrowPipe(r, room); err != nil {
		t.Skip(err) // this user's pipes have all that they may
	}
	if err := w.SetWriteDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := w.Write(make([]byte, room)); err != nil {
		t.Errorf("%d bytes: %v", n, err)
	}
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if err := platform.GrowPipe(dir, room); err == nil {
		t.Error("a directory was given room")
	}
}
