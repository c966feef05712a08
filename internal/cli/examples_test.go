package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// notRun are the examples that run until somebody ends them, the one that is for a broken log, and the one that asks a person.
const notRun = `^warder daemon run|--follow|^warder audit seal|^warder import \.env --project shop --stage development$`

// TestExamplesRun: every example of help is run in a home that has what it speaks of. It may be denied, for it is an agent's here, or
// not find what only it names; it may not be a command line that can't be understood.
func TestExamplesRun(t *testing.T) {
	text, err := os.ReadFile(filepath.FromSlash("../../docs/cli.md"))
	if err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	run, skipped := exampleHome(t, shell), regexp.MustCompile(notRun)
	examples := 0
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			if skipped.MatchString(line) {
				continue
			}
			examples++
			if output := run(line); strings.Contains(output, "error[usage]") || strings.Contains(output, "error[internal]") ||
				strings.Contains(output, "not found\n") {
				t.Errorf("%s\n%s", line, output)
			}
		}
	}
	if examples < 50 {
		t.Errorf("only %d examples were found", examples)
	}
}

// exampleHome makes a home with an account, the files and the programs that examples speak of, and returns what runs a line there.
func exampleHome(t *testing.T, shell string) func(line string) string {
	t.Helper()
	home, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	programs := filepath.Join(home, "programs")
	if err := os.MkdirAll(programs, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pass", "psql", "gh"} {
		if err := os.WriteFile(filepath.Join(programs, name), []byte("#!/bin/sh\necho zq7-Lm2-Xv9-Rk4\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"key.pem", "key", "new-token", ".env", ".env.production"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("OLD_TOKEN=zq7-Lm2-Xv9-Rk4\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(os.Getenv(binaryVar), filepath.Join(programs, "warder")); err != nil {
		t.Fatal(err)
	}
	run := func(line string) string {
		cmd := exec.Command(shell, "-c", line)
		cmd.Dir, cmd.Stdin = home, strings.NewReader("zq7-Lm2-Xv9-Rk4\n")
		cmd.Env = []string{
			"HOME=" + home, "WARDER_HOME=" + filepath.Join(home, "w"), "WARDER_CALLER=agent",
			"PATH=" + programs + string(filepath.ListSeparator) + os.Getenv("PATH"),
		}
		output, _ := cmd.CombinedOutput() // the status is part of what is said
		return string(output)
	}
	t.Cleanup(func() {
		run("warder daemon stop")
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	for _, line := range []string{
		"warder setup --headless --no-install", "warder item add orders-db --type database < key",
		"warder import .env --project shop --stage development --yes",
	} {
		if output := run(line); strings.Contains(output, "error[") {
			t.Fatalf("%s\n%s", line, output)
		}
	}
	return run
}
