package testkit

import (
	"regexp"
	"strings"
)

// Example is a command that a document shows, with what it prints.
type Example struct {
	// Block is what stands behind "console" where the block begins: who runs it.
	Block   string
	Command string
	// Output holds the lines that the document shows. In them "…" stands for any
	// text of a line, and a line of it alone for any number of lines.
	Output []string
}

// Examples returns the commands in the console blocks of a Markdown text, in
// their order: the lines that begin with "$ ".
func Examples(text string) []Example {
	var examples []Example
	block, inside := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			block, inside = strings.CutPrefix(line, "```console")
			block = strings.TrimSpace(block)
		case !inside:
		case isCommand:
			examples = append(examples, Example{Block: block, Command: command})
		case len(examples) > 0:
			last := &examples[len(examples)-1]
			last.Output = append(last.Output, line)
		}
	}
	return examples
}

// Matches reports whether a command printed what the document shows. Blanks at
// the end of a line don't count.
func (e Example) Matches(got string) bool {
	pattern := strings.Builder{}
	for _, line := range e.Output {
		if line == "…" {
			pattern.WriteString(`(?:.*\n)*?`)
			continue
		}
		pattern.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*") + `[ \t]*\n`)
	}
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	return regexp.MustCompile("^" + pattern.String() + "$").MatchString(got)
}
