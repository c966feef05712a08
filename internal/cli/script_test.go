package cli_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// update rewrites the expected output inside the scripts.
var update = flag.Bool("update", false, "rewrite the golden files of the scripts")

// binaryVar names the environment variable with the executable to test. Where
// it is empty the executable is built first; a run that can't build, such as
// one as another user, sets it.
const binaryVar = "WARDER_TEST_BINARY"

// builtVar is set where this run has built the executable: it can build more.
const builtVar = "WARDER_TEST_BUILT"

func TestMain(m *testing.M) {
	os.Exit(testMain(m))
}

// testMain provides the real executable: testscript's own way would make the
// test binary play it, and init of the test's packages would be part of it.
func testMain(m *testing.M) int {
	if os.Getenv(binaryVar) != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "warder-cli-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "warder"+exeSuffix())
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "warder/cmd/warder")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building warder: %v\n%s", err, output)
		return 1
	}
	os.Setenv(binaryVar, binary)
	os.Setenv(builtVar, "1")
	return m.Run()
}

// exeSuffix is what the system appends to the name of an executable.
func exeSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// TestScripts drives the executable as a user's shell does. Each script under
// testdata/script has a home of its own and an environment without warder's
// variables, but for the one that makes its commands those of an agent, whoever
// runs the tests: persons have worlds of their own (package e2e).
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"warder":  runWarder,
			"at-once": runAtOnce,
		},
	})
}

// setUpScript gives a script a home. Warder's own is elsewhere, since the path
// of a socket has to be short. A daemon that the script leaves running is ended.
func setUpScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	warderHome, err := os.MkdirTemp("", "w")
	if err != nil {
		return err
	}
	env.Setenv("HOME", home)
	env.Setenv("WARDER_HOME", warderHome)
	env.Setenv("WARDER_CALLER", "agent")
	env.Setenv("WARDER", os.Getenv(binaryVar))
	env.Setenv("STEER", "a\x1b[2J\nwarder: hint: fake") // what a script can't write
	env.Defer(func() {
		stop := exec.Command(os.Getenv(binaryVar), "daemon", "stop")
		stop.Env = append(os.Environ(), "WARDER_HOME="+warderHome)
		output, err := stop.CombinedOutput()
		if err := errors.Join(err, os.RemoveAll(warderHome)); err != nil {
			env.T().Log(fmt.Sprintf("cleaning up: %v: %s", err, output))
			env.T().FailNow()
		}
	})
	return os.MkdirAll(home, 0o700)
}

// runAtOnce is the script command "at-once N STATUS ARG…": it runs the executable
// N times at once and wants that exit status of each.
func runAtOnce(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: at-once N STATUS ARG…")
	}
	n, errN := strconv.Atoi(args[0])
	want, errWant := strconv.Atoi(args[1])
	ts.Check(errors.Join(errN, errWant))
	failures := make(chan string, n)
	for range n {
		go func() {
			cmd := exec.Command(os.Getenv(binaryVar), args[2:]...)
			cmd.Env = append(os.Environ(), "WARDER_HOME="+ts.Getenv("WARDER_HOME"), "WARDER_CALLER=agent")
			output, err := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != want {
				failures <- fmt.Sprintf("exit status %d, %v: %s", got, err, output)
				return
			}
			failures <- ""
		}()
	}
	for range n {
		if failure := <-failures; failure != "" {
			ts.Fatalf("warder %q: %s", args[2:], failure)
		}
	}
}

// runWarder is the script command "warder STATUS ARG…": it runs the executable
// and wants exactly that exit status, which "! exec" can't say.
func runWarder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: warder STATUS ARG…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(os.Getenv(binaryVar), args[1:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("running warder: %v", err)
	}
	if got != want {
		ts.Fatalf("warder %q exits with %d, want %d", args[1:], got, want)
	}
}
