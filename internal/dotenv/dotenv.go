package dotenv

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unicode"
)

const (
	// MaxFile is the size in bytes above which a file is refused. It is far over
	// any real .env file (one of 1,000 variables has about 64 KiB) and keeps an
	// import of the wrong file from filling memory.
	MaxFile = 16 << 20

	// MaxEntries is how many entries, duplicates included, a file may have. With its
	// warning one costs half a KiB (measured), so that a hostile file of three-byte
	// lines ends at 32 MiB of memory and not at 3 GiB.
	MaxEntries = 1 << 16

	// maxKey is the longest key in bytes: the vault's limit for names.
	maxKey = 128
)

// Entry is one variable of a file.
type Entry struct {
	Name  string
	Value []byte // the caller's to wipe; never nil after Parse
	Line  int    // where the key stands, from 1; ignored by Format
}

// Warning is something in a file that was read but may not be what its writer meant.
type Warning struct {
	Line int    // from 1
	Text string // may name keys, never a value
}

// File is what Parse read.
type File struct {
	Entries  []Entry // in the order of the file, each name once
	Warnings []Warning
}

// Wipe overwrites all values with zeros. Entries stay, so that names can still
// be reported.
func (f *File) Wipe() {
	for _, e := range f.Entries {
		wipe(e.Value)
	}
}

// SyntaxError says why a file was not read. No field holds any byte of the
// file's content.
type SyntaxError struct {
	File   string // the name given to Parse
	Line   int    // from 1; 0 if the file as a whole is refused
	Reason string
}

// Error returns "reading FILE:LINE: REASON".
func (e *SyntaxError) Error() string {
	place := printable(e.File)
	if e.Line > 0 {
		place += ":" + strconv.Itoa(e.Line)
	}
	return "reading " + place + ": " + e.Reason
}

// FormatError says which entry can't be written in a dialect, and why. It never
// holds any byte of a value.
type FormatError struct {
	Dialect Dialect
	Name    string
	Reason  string
}

// Error returns "writing NAME in the DIALECT dialect: REASON", the name quoted.
func (e *FormatError) Error() string {
	return fmt.Sprintf("writing %q in the %s dialect: %s", e.Name, string(e.Dialect), e.Reason)
}

// printable quotes a file name that could move the cursor or forge a line of
// the report: names come from repositories that nobody vouches for.
func printable(name string) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	if strings.ContainsFunc(name, hidden) {
		return strconv.Quote(name)
	}
	return name
}

// wipe zeroes b in a way that the compiler may not drop.
func wipe(b []byte) {
	clear(b)
	runtime.KeepAlive(b)
}
