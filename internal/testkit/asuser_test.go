package testkit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/testkit"
)

// outcome chooses what TestInner does; it is empty in an ordinary run.
const outcome = "WARDER_TESTKIT_OUTCOME"

// TestInner is the subject of the tests below and does nothing by itself.
func TestInner(t *testing.T) {
	want := os.Getenv(outcome)
	if want == "" {
		t.Skip("started by the other tests of this file only")
	}
	if testkit.AsUser(t) {
		return
	}
	switch want {
	case "pass":
		checkOrdinaryUser(t)
	case "fail":
		t.Error("the inner test fails on purpose")
	case "panic":
		panic("the inner test panics on purpose")
	case "exit":
		os.Exit(0)
	case "skip":
		t.Skip("the inner test skips on purpose")
	case "sub":
		t.Run("a sub, with (odd) name", func(t *testing.T) { checkOrdinaryUser(t) })
	}
}

// checkOrdinaryUser checks what an inner run is promised.
func checkOrdinaryUser(t *testing.T) {
	if uid, gid := os.Getuid(), os.Getgid(); uid != testkit.UID || gid != testkit.UID {
		t.Errorf("uid %d, gid %d, want %d", uid, gid, testkit.UID)
	}
	groups, err := os.Getgroups()
	for _, g := range groups {
		if g != testkit.UID {
			t.Errorf("supplementary group %d", g)
		}
	}
	if err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile("testdata/readable.txt"); err != nil {
		t.Error(err)
	}
	for _, dir := range []string{os.Getenv("HOME"), os.TempDir(), t.TempDir()} {
		if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
			t.Error(err)
		}
	}
	if err := os.WriteFile("testdata/f", nil, 0o600); err == nil {
		t.Error("an ordinary user can write to the copied testdata")
	}
	if _, err := os.ReadDir("/root"); err == nil {
		t.Error("an ordinary user can read /root")
	}
}

// runInner runs TestInner in a process of its own, as the user of this test.
func runInner(t *testing.T, want string) (output string, err error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestInner$", "-test.v", "-test.paniconexit0")
	cmd.Env = append(os.Environ(), outcome+"="+want)
	b, err := cmd.CombinedOutput()
	t.Logf("%s:\n%s", want, b)
	return string(b), err
}

func TestAsUserTakesOverTheVerdict(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to drop from")
	}
	for _, row := range []struct {
		want   string
		fails  bool
		output string
	}{
		{"pass", false, "ran as uid 12345: TestInner"},
		{"sub", false, "--- PASS: TestInner/a_sub,_with_(odd)_name"},
		{"fail", true, "the inner test fails on purpose"},
		{"panic", true, "the inner test panics on purpose"},
		{"exit", true, "TestInner as uid 12345"},
		{"skip", false, "\n--- SKIP: TestInner"},
	} {
		t.Run(row.want, func(t *testing.T) {
			output, err := runInner(t, row.want)
			if (err != nil) != row.fails {
				t.Errorf("error %v, want failure %v", err, row.fails)
			}
			if !strings.Contains(output, row.output) {
				t.Errorf("output lacks %q", row.output)
			}
			if row.want != "pass" && row.want != "sub" && strings.Contains(output, "ran as uid") {
				t.Error("claims a run that did not pass")
			}
		})
	}
}

func TestAsUserInsideASubtest(t *testing.T) {
	for _, name := range []string{"plain", "with space/and slash", "a+b"} {
		t.Run(name, func(t *testing.T) {
			if testkit.AsUser(t) {
				return
			}
			if os.Getuid() == 0 {
				t.Error("still root")
			}
		})
	}
}

func TestAsUserLeavesNothingBehind(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to drop from")
	}
	temp, err := os.MkdirTemp("", "warder-testkit-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	if err := os.Chmod(temp, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temp)
	if _, err := runInner(t, "pass"); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(temp)
	if err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestAsUserAsOrdinaryUser(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	// Already dropped: a second call must not start anything.
	if testkit.AsUser(t) {
		t.Error("AsUser ran again as an ordinary user")
	}
}
