package mask

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// plainMark is the mark of a value without a name.
	plainMark = "****"
	// shortMark contains no value whatever the values are: it is shorter than MinLength.
	shortMark = "***"
	// maxName is how much of a name a mark shows, in bytes.
	maxName = 128
)

// marksFor are the marks for a value of that name, the best first. The last one is always good.
func marksFor(name string) [3]string {
	marks := [3]string{plainMark, plainMark, shortMark}
	if name = cleanName(name); name != "" {
		marks[0] = plainMark + "(" + name + ")"
	}
	return marks
}

// cleanName leaves out what could move a cursor, break a line or reorder text, and what is no text.
func cleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, name)
	if len(name) > maxName {
		cut := maxName
		for !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut]
	}
	return strings.TrimSpace(name)
}
