package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadmeCommands runs the README's examples: each "$ warder …" line of a
// console block, whose output must be the lines that follow it. "…" in those
// stands for any text of one line.
func TestReadmeCommands(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	examples := consoleExamples(string(text))
	if len(examples) == 0 {
		t.Fatal("the README shows no command")
	}
	for _, example := range examples {
		t.Run(example.command, func(t *testing.T) {
			// A usage error is an example too: its status is shown by its text.
			got, _ := exec.Command(os.Getenv(binaryVar), strings.Fields(example.command)[1:]...).CombinedOutput()
			pattern := strings.ReplaceAll(regexp.QuoteMeta(example.output), "…", ".*")
			if !regexp.MustCompile("^" + pattern + "$").Match(got) {
				t.Errorf("README shows:\n%s\nthe command prints:\n%s", example.output, got)
			}
		})
	}
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
			ours = strings.HasPrefix(command, "warder ")
			if ours {
				examples = append(examples, consoleExample{command: strings.TrimSpace(command)})
			}
		case inside && ours:
			examples[len(examples)-1].output += line
		}
	}
	return examples
}
