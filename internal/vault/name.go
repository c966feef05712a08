package vault

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxName is the longest name in bytes: vault, item, section, field, project, stage.
const maxName = 128

// NameError says why a text can't be a name. It shows the name quoted, so that control and bidirectional characters can't act on a terminal.
type NameError struct {
	What, Name, Reason string // What is "item name", "field name", …
}

// Error quotes the name.
func (e *NameError) Error() string { return fmt.Sprintf("%s %+q %s", e.What, e.Name, e.Reason) }

// CheckName applies F1's rule for names: 1 to 128 bytes of NFC UTF-8 without slash, control, bidirectional or invisible characters, not starting
// with a dash (it would read as a flag) or a dot (it would hide as a file).
func CheckName(what, name string) error {
	if reason := nameFault(name); reason != "" {
		return &NameError{What: what, Name: name, Reason: reason}
	}
	return nil
}

func nameFault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case name[0] == '-' || name[0] == '.':
		return "starts with a dash or a dot"
	case strings.Contains(name, "/"):
		return "holds a slash, which separates the parts of a reference"
	case !norm.NFC.IsNormalString(name):
		return "is not in Unicode normal form C"
	case strings.TrimSpace(name) != name:
		return "starts or ends with a space"
	}
	if strings.ContainsFunc(name, invisible) {
		return "holds a control, bidirectional or invisible character"
	}
	return ""
}

// invisible says whether a character has no shape of its own: with it two names would look the same and be two. The joiners U+200C and
// U+200D are among them, though Persian and some emoji use them: nothing shows whether they are there. Variation selectors are not; what
// they choose can be seen.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// FoldName is the form under which names are unique. Whoever compares names compares these: two names that another fold takes for
// two may be one here, as with the dotless i, and then a check by the other fold is passed by.
func FoldName(name string) string { return norm.NFC.String(strings.ToLower(strings.ToUpper(name))) }

// SameName says whether two names are one.
func SameName(a, b string) bool { return FoldName(a) == FoldName(b) }

// PlainLetters is a text without accents and with plain letters for wide, small and styled ones, as Windows reads what has to fit into
// a code page.
func PlainLetters(text string) string {
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Mn, c) {
			return -1
		}
		return c
	}, norm.NFKD.String(text))
}
