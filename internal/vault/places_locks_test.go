package vault_test

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"warder/internal/state"
	"warder/internal/vault"
)

// noLocks runs a program under a filter of the kernel that answers flock with ENOLCK, as a network home without a lock service does. It
// is in perl because a Go program would filter one of its threads only, and because nothing else here speaks of system call numbers.
const noLocks = `exec perl -e '
	my ($flock, $prctl) = splice(@ARGV, 0, 2);
	my $load = pack("SCCL", 0x20, 0, 0, 0);                  # the number of the call
	my $test = pack("SCCL", 0x15, 0, 1, $flock);             # another one: skip the next
	my $fail = pack("SCCL", 0x06, 0, 0, 0x00050000 | 37);    # ENOLCK
	my $pass = pack("SCCL", 0x06, 0, 0, 0x7fff0000);
	my $code = $load . $test . $fail . $pass;
	my $prog = pack("Sx6P", 4, $code);
	syscall($prctl + 0, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
	syscall($prctl + 0, 22, 2, $prog, 0, 0) == 0 or die "seccomp: $!";
	exec @ARGV or die "$ARGV[0]: $!";
' -- FLOCK PRCTL "$@"`

// withoutLocks makes an account and runs the calling test again where files can't be locked, or skips it with the reason.
func withoutLocks(t *testing.T) (parent bool) {
	t.Helper()
	if os.Getenv(rerunEnv) != "" {
		return false
	}
	numbers := map[string][2]string{"linux/amd64": {"73", "157"}, "linux/arm64": {"32", "167"}}
	n, ok := numbers[runtime.GOOS+"/"+runtime.GOARCH]
	if !ok {
		t.Skip("no filter of system calls for this system")
	}
	script := strings.NewReplacer("FLOCK", n[0], "PRCTL", n[1]).Replace(noLocks)
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", "true").CombinedOutput(); err != nil {
		t.Skipf("no filter of system calls here: %v: %s", err, out)
	}
	cfg, a, _ := newAccount(t)
	a.Lock()
	t.Setenv("WARDER_VAULT_TEST_ACCOUNT", cfg.AccountDir)
	t.Setenv("WARDER_VAULT_TEST_STATE", cfg.StateDir)
	return belowShell(t, script)
}

// lockless is the account that withoutLocks made.
func lockless(t *testing.T) vault.Config {
	t.Helper()
	cfg := config(t.TempDir())
	cfg.AccountDir, cfg.StateDir = os.Getenv("WARDER_VAULT_TEST_ACCOUNT"), os.Getenv("WARDER_VAULT_TEST_STATE")
	return cfg
}

// TestU_154_NoLocks: where files can't be locked nothing is read or written on good faith. The error says what is missing and what to do.
func TestU_154_NoLocks(t *testing.T) {
	if withoutLocks(t) {
		return
	}
	cfg := lockless(t)
	fresh := config(t.TempDir())
	for name, act := range map[string]func() error{
		"Open":   func() error { _, err := vault.Open(cfg, value(t, password)); return err },
		"Create": func() error { _, _, err := vault.Create(fresh, value(t, password)); return err },
	} {
		err := act()
		if !errors.Is(err, syscall.ENOLCK) || !strings.Contains(err.Error(), "lock") || !strings.Contains(state.Hint(err), "local disk") {
			t.Errorf("%s: %v, hint %q", name, err, state.Hint(err))
		}
	}
	if there, err := vault.Exists(cfg); !there || err != nil {
		t.Errorf("that there is an account needs no lock: %v, %v", there, err)
	}
	if made := files(t, fresh.AccountDir); len(made) > 0 {
		t.Errorf("Create has written %q", made)
	}
}
