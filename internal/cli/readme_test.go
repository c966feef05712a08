package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"warder/internal/testkit"
)

// TestReadmeHeadless runs what the README shows for a machine without people and
// for an agent, as it stands there, in a clone and a home of its own. What a
// person does first is run by the tests of package e2e, which have persons: only
// what an agent may do just as well is run here.
func TestReadmeHeadless(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell: the examples are written for one")
	}
	env := readmeEnviron(t)
	ran := map[string]int{}
	examples := testkit.Examples(string(text))
	setup, rest := apartBlock(examples, "headless") // its account comes first here
	for _, example := range append(setup, rest...) {
		dir := root
		switch {
		case example.Block == "headless":
		case example.Block == "agent", strings.Contains(example.Command, "warder item add"):
			dir = homeOf(env)
		default:
			continue
		}
		ran[example.Block]++
		t.Run(example.Command, func(t *testing.T) {
			if strings.HasPrefix(example.Command, "go run ") && os.Getenv(builtVar) == "" {
				example.Command = strings.Replace(example.Command, "go run ./cmd/warder", os.Getenv(binaryVar), 1)
			}
			cmd := exec.Command(shell, "-c", example.Command)
			cmd.Env, cmd.Dir = env, dir
			// A refusal is an example too: its status is shown by its text.
			got, _ := cmd.CombinedOutput()
			if !example.Matches(string(got)) {
				t.Errorf("README shows:\n%s\nthe command prints:\n%s", strings.Join(example.Output, "\n"), got)
			}
		})
	}
	if ran["headless"] == 0 || ran["agent"] == 0 || ran["person"] != 1 {
		t.Errorf("the README shows no such command: %v", ran)
	}
}

// apartBlock parts the examples of one kind of block from the others.
func apartBlock(examples []testkit.Example, block string) (those, others []testkit.Example) {
	for _, e := range examples {
		if e.Block == block {
			those = append(those, e)
		} else {
			others = append(others, e)
		}
	}
	return those, others
}

// readmeEnviron makes a home for the examples, without a variable of warder's but
// the one that makes an agent of whoever runs the tests, and ends the daemon that
// they start.
func readmeEnviron(t *testing.T) []string {
	t.Helper()
	home, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	runtime := filepath.Join(home, "run") // not that of whoever runs the tests: it may have a daemon's socket
	if err := os.Mkdir(runtime, 0o700); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + home, "XDG_RUNTIME_DIR=" + runtime, "WARDER_CALLER=agent",
		"PATH=" + filepath.Join(home, ".local", "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
		"GOPROXY=off", "CGO_ENABLED=0",
	}
	if os.Getenv(builtVar) != "" {
		for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS"} {
			value, err := exec.Command("go", "env", name).Output()
			if err != nil {
				t.Fatal(err)
			}
			env = append(env, name+"="+strings.TrimSpace(string(value)))
		}
	}
	t.Cleanup(func() {
		stop := exec.Command(os.Getenv(binaryVar), "daemon", "stop")
		stop.Env = env
		if output, err := stop.CombinedOutput(); err != nil {
			t.Errorf("ending the daemon: %v: %s", err, output)
		}
		os.RemoveAll(home)
	})
	return env
}

// homeOf is the HOME of an environment.
func homeOf(env []string) string {
	i := slices.IndexFunc(env, func(entry string) bool { return strings.HasPrefix(entry, "HOME=") })
	return strings.TrimPrefix(env[i], "HOME=")
}
