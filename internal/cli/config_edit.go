package cli

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"warder/internal/state"
)

// editSetting returns the text of a settings file with one option changed. The
// line that has the option gets the value; where there is none, one is added to
// the option's table. Everything else stays byte for byte. The result is read
// back: what does not say what it should is not written.
func editSetting(text []byte, path string, o state.Option, value string) ([]byte, error) {
	none := func(string) string { return "" }
	before, refused, err := state.LoadSettings(text, path, none, nil)
	if err != nil {
		return nil, usageError("%v", err).WithHint("correct that line first")
	}
	written := strconv.Quote(value)
	if o.Kind == state.KindInt || o.Kind == state.KindBool {
		written = value
	}
	lines := strings.SplitAfter(string(text), "\n")
	var edited string
	_, at, _ := before.Lookup(o.Name)
	for _, w := range refused {
		if strings.HasPrefix(w.Text, o.Name+": ") { // its line is there, with a value that does not count
			at = w.From
		}
	}
	if at.Kind == state.FromFile {
		if edited, err = replaceLine(lines, at.Line, written); err != nil {
			return nil, usageError("%s: %v", at, err).WithHint("change it by hand")
		}
	} else {
		edited = addLine(lines, o.Name, written)
	}
	after, _, err := state.LoadSettings([]byte(edited), path, none, nil)
	if now, _, _ := after.Lookup(o.Name); err != nil || now != value {
		return nil, usageError("%s can't be changed without changing more of %s", o.Name, path).WithHint("change it by hand")
	}
	return []byte(edited), nil
}

// replaceLine puts a value in the place of the one on a line. It knows values
// that stand on one line alone, which are all that an option can have, and no
// inline tables.
func replaceLine(lines []string, number int, value string) (string, error) {
	line := lines[number-1]
	parts := regexp.MustCompile(`^(\s*[A-Za-z0-9_."' -]+?\s*=\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s#"'{}\[\],]+)(\s*(?:#.*)?\r?\n?)$`).
		FindStringSubmatch(line)
	if parts == nil {
		return "", errors.New("the line has a form that is not edited here")
	}
	lines[number-1] = parts[1] + value + parts[3]
	return strings.Join(lines, ""), nil
}

// addLine adds an option: behind its table's header or a key of the table that
// is written in full, else with a table of its own at the end.
func addLine(lines []string, name, value string) string {
	table, key, _ := strings.Cut(name, ".")
	top := true // above all headers
	for i, line := range lines {
		code, _, _ := strings.Cut(line, "#")
		code = strings.TrimSpace(code)
		entry := ""
		switch {
		case code == "["+table+"]":
			entry = key + " = " + value + "\n"
		case top && strings.HasPrefix(code, table+"."):
			entry = name + " = " + value + "\n"
		}
		if entry != "" {
			lines[i] = strings.TrimSuffix(line, "\n") + "\n" + entry
			return strings.Join(lines, "")
		}
		top = top && !strings.HasPrefix(code, "[")
	}
	text := strings.Join(lines, "")
	if text != "" {
		text = strings.TrimSuffix(text, "\n") + "\n\n"
	}
	return text + "[" + table + "]\n" + key + " = " + value + "\n"
}
