package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCommands runs the README's examples in their order and in one home,
// as an agent would: each "$ …" line of a console block that runs warder, whose
// output must be the lines that follow it. "…" in those stands for any text of
// one line.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := consoleExamples(string(text))
	if len(examples) == 0 {
		t.Fatal("the README shows no command")
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell: the examples are written for one")
	}
	env := readmeEnviron(t)
	for _, example := range examples {
		t.Run(example.command, func(t *testing.T) {
			cmd := exec.Command(shell, "-c", example.command)
			cmd.Env = env
			// A refusal is an example too: its status is shown by its text.
			got, _ := cmd.CombinedOutput()
			pattern := strings.ReplaceAll(regexp.QuoteMeta(example.output), "…", ".*")
			if !regexp.MustCompile("^" + pattern + "$").Match(got) {
				t.Errorf("README shows:\n%s\nthe command prints:\n%s", example.output, got)
			}
		})
	}
}

// readmeEnviron makes a home for the examples and ends the daemon that they
// start.
func readmeEnviron(t *testing.T) []string {
	t.Helper()
	home, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	binary := os.Getenv(binaryVar)
	if err := os.Symlink(binary, filepath.Join(bin, "warder"+exeSuffix())); err != nil {
		t.Fatal(err)
	}
	env := []string{
		"HOME=" + home, "WARDER_HOME=" + filepath.Join(home, "w"), "WARDER_CALLER=agent",
		"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"),
	}
	t.Cleanup(func() {
		stop := exec.Command(binary, "daemon", "stop")
		stop.Env = env
		if output, err := stop.CombinedOutput(); err != nil {
			t.Errorf("ending the daemon: %v: %s", err, output)
		}
		os.RemoveAll(home)
	})
	return env
}

// consoleExample is a command and the output that a document shows for it.
type consoleExample struct{ command, output string }

// consoleExamples returns warder's commands in the console blocks of a Markdown
// text.
func consoleExamples(text string) []consoleExample {
	var examples []consoleExample
	inside, ours := false, false
	for line := range strings.Lines(text) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside, ours = strings.HasPrefix(line, "```console"), false
		case inside && isCommand:
			ours = strings.HasPrefix(command, "warder ") || strings.Contains(command, "| warder ")
			if ours {
				examples = append(examples, consoleExample{command: strings.TrimSpace(command)})
			}
		case inside && ours:
			examples[len(examples)-1].output += line
		}
	}
	return examples
}
