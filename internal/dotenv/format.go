package dotenv

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"
)

// Dialect is a way to write a list of variables. The package comment has the
// exact form of each.
type Dialect string

// The dialects that Format knows.
const (
	DialectEnv    Dialect = "env"    // what Parse reads back, for any bytes but NUL
	DialectShell  Dialect = "shell"  // to be sourced by a POSIX shell
	DialectDocker Dialect = "docker" // for docker's --env-file
)

// maxDockerLine is the longest line in bytes, without its end, that docker reads: it uses a
// bufio.Scanner, whose buffer of bufio.MaxScanTokenSize has to hold the LF too.
const maxDockerLine = 64<<10 - 1

// reasonFull names the first entry that Parse would not get to read.
const reasonFull = "with it the file is larger than 16 MiB"

// Format writes entries to w, one call to Write per entry. If the dialect can't hold
// one of them, or [Parse] would refuse the file for its size or the number of entries,
// it returns a *FormatError and writes nothing. The buffer that w is given is wiped
// before Format returns.
func Format(w io.Writer, d Dialect, entries []Entry) error {
	if err := check(d, entries); err != nil {
		return err
	}
	buf := make([]byte, 0, lineBound(entries))
	defer func() { wipe(buf[:cap(buf)]) }()
	size := 0
	for _, e := range entries {
		if size += len(appendLine(buf, d, e)); size > MaxFile {
			return &FormatError{Dialect: d, Name: e.Name, Reason: reasonFull}
		}
	}
	for _, e := range entries {
		if _, err := w.Write(appendLine(buf, d, e)); err != nil {
			return fmt.Errorf("writing variable %q: %w", e.Name, err)
		}
	}
	return nil
}

// check refuses what d can't write, before anything is written.
func check(d Dialect, entries []Entry) error {
	switch d {
	case DialectEnv, DialectShell, DialectDocker:
	default:
		return fmt.Errorf("writing variables: unknown dialect %q", string(d))
	}
	if len(entries) > MaxEntries {
		return &FormatError{Dialect: d, Name: entries[MaxEntries].Name, Reason: reasonEntries}
	}
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		reason := unwritable(d, e)
		if seen[e.Name] {
			reason = "the name is given twice"
		}
		if reason != "" {
			return &FormatError{Dialect: d, Name: e.Name, Reason: reason}
		}
		seen[e.Name] = true
	}
	return nil
}

// unwritable says why d can't hold e, or "".
func unwritable(d Dialect, e Entry) string {
	switch {
	case len(e.Value) > MaxFile:
		return reasonFull // before anything is made for it
	case bytes.IndexByte(e.Value, 0) >= 0:
		return "the value holds a NUL byte"
	case d == DialectEnv && !isKey(e.Name):
		return "not a key that a .env file can hold"
	case d != DialectEnv && !IsVariable(e.Name):
		return "not a variable name (letters, digits and _, no digit first)"
	case d == DialectShell:
		return shellHazard(e.Name, e.Value)
	case d == DialectDocker:
		return dockerLimit(e)
	}
	return ""
}

func dockerLimit(e Entry) string {
	switch {
	case bytes.ContainsAny(e.Value, "\r\n"):
		return "the value has more than one line, and docker reads one line per variable"
	case !utf8.Valid(e.Value):
		return "the value is not UTF-8, and docker reads nothing else"
	case len(e.Name)+len("=")+len(e.Value) > maxDockerLine:
		return "the line is longer than the 65535 bytes that docker reads"
	}
	return ""
}

// lineBound is no less than any line of entries in any dialect: appending then
// never moves the buffer, which would leave a copy of a value behind.
func lineBound(entries []Entry) int {
	const growth = len(`'\''`) // the most that one byte becomes
	bound := 0
	for _, e := range entries {
		bound = max(bound, len(e.Name)+growth*len(e.Value))
	}
	return bound + len("export =''\n")
}

func appendLine(b []byte, d Dialect, e Entry) []byte {
	if d == DialectShell {
		b = append(b, "export "...)
	}
	b = append(b, e.Name...)
	b = append(b, '=')
	switch d {
	case DialectShell:
		b = appendShell(b, e.Value)
	case DialectDocker:
		b = append(b, e.Value...)
	default:
		b = appendEnv(b, e.Value)
	}
	return append(b, '\n')
}

// appendShell puts v in single quotes, in which a POSIX shell knows no escape: a
// quote inside is written outside, with a backslash.
func appendShell(b, v []byte) []byte {
	b = append(b, '\'')
	for _, c := range v {
		if c == '\'' {
			b = append(b, `'\''`...)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '\'')
}

// appendEnv picks the plainest form that holds v. CR can't stand raw: before an
// LF the reader would drop it.
func appendEnv(b, v []byte) []byte {
	switch {
	case isSimple(v):
		return append(b, v...)
	case !bytes.ContainsAny(v, "'\r"):
		b = append(b, '\'')
		b = append(b, v...)
		return append(b, '\'')
	}
	b = append(b, '"')
	for _, c := range v {
		switch c {
		case '\r':
			b = append(b, `\r`...)
		case '\\', '"', '$', '`':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// isSimple reports whether no reader of .env files and no shell sees anything
// but letters in v. "~" and "=" are missing: shells expand the one, zsh also the other.
func isSimple(v []byte) bool {
	for _, c := range v {
		if !isWord(c) && bytes.IndexByte([]byte("./:@%+,-"), c) < 0 {
			return false
		}
	}
	return true
}
