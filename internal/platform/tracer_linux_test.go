package platform_test

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"warder/internal/platform"
)

// TestTracerOf names the thread that traces another process, and nobody where nobody does.
func TestTracerOf(t *testing.T) {
	if pid, err := platform.TracerOf(syscall.Getppid()); err != nil || pid != 0 {
		t.Skipf("what started this test is traced by %d itself, or can't be told: %v", pid, err)
	}
	runtime.LockOSThread() // the thread that starts a traced process is its tracer
	defer runtime.UnlockOSThread()
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		t.Skipf("nothing can be traced here: %v", err)
	}
	if pid, err := platform.TracerOf(cmd.Process.Pid); err != nil || pid != syscall.Gettid() {
		t.Errorf("traced by %d, %v; want %d", pid, err, syscall.Gettid())
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if _, err := platform.TracerOf(cmd.Process.Pid); err == nil {
		t.Error("a process that is gone has no tracer")
	}
}
