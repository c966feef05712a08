package state

import (
	"os"
	"os/exec"
	"testing"
)

const rerunMark = "STATE_TEST_RERUN"

// Rerun runs the calling test again below a shell that has executed script,
// for what only the start of a process can arrange: a umask, a mount namespace.
// The script ends by executing "$@". Rerun returns true in the outer run, which
// then has the verdict and is done.
func Rerun(t *testing.T, script string) (parent bool) {
	t.Helper()
	if IsRerun() {
		return false
	}
	out, err := RerunCommand(t, script).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("%s below %q: %v", t.Name(), script, err)
	}
	return true
}

// RerunCommand is the command that Rerun runs.
func RerunCommand(t *testing.T, script string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh",
		self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), rerunMark+"=1")
	return cmd
}

// IsRerun reports whether this process was started by RerunCommand.
func IsRerun() bool { return os.Getenv(rerunMark) != "" }
