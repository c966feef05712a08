package mask_test

import (
	"io"
	"strings"
	"testing"

	"warder/internal/mask"
)

// viewRow is a text of which somebody has thought what must come out. The reference is held to it as the writer is.
type viewRow struct {
	name    string
	needles []needle
	text    string
	want    string
}

// like are patterns named A, B, C and so on; one that begins with a slash folds.
func like(patterns ...string) []needle {
	needles := make([]needle, len(patterns))
	for i, b := range patterns {
		b, folds := strings.CutPrefix(b, "/")
		needles[i] = needle{value: value{string(rune('A' + i)), b}, folds: folds}
	}
	return needles
}

func checkRows(t *testing.T, rows []viewRow) {
	t.Helper()
	for _, c := range rows {
		if got := hideAll(c.text, c.needles...); got != c.want {
			t.Errorf("%s: the reference:\n got %q\nwant %q", c.name, got, c.want)
		}
		t.Run(c.name, func(t *testing.T) {
			atOnce(t, func(t *testing.T) { everyCut(t, c.name, setOf(t, c.needles...), c.text, c.want) })
		})
	}
}

// TestU_24_Folded: base64 stands in lines, of whatever width and with whatever ends.
func TestU_24_Folded(t *testing.T) {
	const f = "/QUJDREVGR0hJSktM"
	checkRows(t, []viewRow{
		{"not folded", like(f), "<QUJDREVGR0hJSktM>", "<****(A)>"},
		{"in two", like(f), "<QUJDREVG\nR0hJSktM>", "<****(A)>"},
		{"CRLF", like(f), "<QUJDREVG\r\nR0hJSktM>", "<****(A)>"},
		{"CRLF through a pty", like(f), "<QUJDREVG\r\r\nR0hJSktM>", "<****(A)>"},
		{"one a line", like(f), "<Q\nU\nJ\nD\nR\nE\nV\nG\nR\n0\nh\nJ\nS\nk\nt\nM\n>", "<****(A)\n>"},
		{"mixed", like(f), "<Q\nUJD\r\nREVGR0h\r\r\nJSktM>", "<****(A)>"},
		{"CRLF before the last", like(f), "<QUJDREVGR0hJSkt\r\nM>", "<****(A)>"},
		{"CRLF before the last, a short one too", like(f, "wxyz"), "<QUJDREVGR0hJSkt\r\nM>", "<****(A)>"},
		{"CRLF behind the first, a short one too", like(f, "wxyz"), "<Q\r\nUJDREVGR0hJSktM>", "<****(A)>"},
		{"CRLF behind each, a short one too", like(f, "wxyz"), "<Q\r\nU\r\nJ\r\nD\r\nR\r\nE\r\nV\r\nG\r\nR\r\n0\r\nh\r\nJ\r\nS\r\nk\r\nt\r\nM>", "<****(A)>"},
		{"a break before and behind", like(f), "\nQUJDREVG\nR0hJSktM\n", "\n****(A)\n"},
		{"two breaks", like(f), "<QUJDREVG\n\nR0hJSktM>", "<QUJDREVG\n\nR0hJSktM>"},
		{"a CR alone", like(f), "<QUJDREVG\rR0hJSktM>", "<QUJDREVG\rR0hJSktM>"},
		{"too many CRs", like(f), "<QUJDREVG\r\r\r\nR0hJSktM>", "<QUJDREVG\r\r\r\nR0hJSktM>"},
		{"LF CR", like(f), "<QUJDREVG\n\rR0hJSktM>", "<QUJDREVG\n\rR0hJSktM>"},
		{"indented", like(f), "<QUJDREVG\n R0hJSktM>", "<QUJDREVG\n R0hJSktM>"},
		{"a pattern that doesn't fold", like(f[1:]), "<QUJDREVG\nR0hJSktM>", "<QUJDREVG\nR0hJSktM>"},
		{"two that overlap", like(f, "/SktMTU5PUFF"), "<QUJD\nREVGR0hJS\nktMT\nU5PU\nFF>", "<****(A)>"},
		{"two that touch", like(f), "<QUJDREVG\nR0hJSktMQUJD\nREVGR0hJSktM>", "<****(A)****(A)>"},
		{"two with a break between", like(f), "<QUJDREVGR0hJSktM\nQUJDREVGR0hJSktM>", "<****(A)\n****(A)>"},
		{"the longer one first", like("/QUJDREVGR0", f), "<QUJD\nREVGR0\nhJSktM>", "<****(B)>"},
		{"one begins in a failed one", like("/aaaaaaaaab"), "<aa\naa\naaaaaa\nb>", "<a****(A)>"},
		{"half at the end", like(f), "<QUJD\nREVG\r\n", "<QUJD\nREVG\r\n"},
		{"half a break at the end", like(f), "<QUJD\nREVG\r\r", "<QUJD\nREVG\r\r"},
		{"a value with a newline beside it", like("JD\nRE", f), "<QUJD\nREVGR0hJSktM>", "<****(B)>"},
		{"a value with a newline and no break", like("JD\nRE", f), "<QUJD\nREVG>", "<QU****(A)VG>"},
		{"repeated", like("/ababababab"), "abab\nababab\nab", "****(A)"},
	})
}

// TestAnsi: programs colour what they print, and terminals move their cursor in it. What stands within a value goes with it.
func TestAnsi(t *testing.T) {
	const v = "hunter2hunter3"
	g := func(n int) string { return "\x1b[" + strings.Repeat("0", n-3) + "m" }
	k := func(n int) string { return "\x1b[" + strings.Repeat("0", n-3) + "K" }
	checkRows(t, []viewRow{
		{"as grep shows it", like(v), "a \x1b[01;31m\x1b[Khunter2\x1b[m\x1b[Khunter3 b", "a \x1b[01;31m\x1b[K****(A) b"},
		{"colour before and behind", like(v), "\x1b[1m" + v + "\x1b[0m", "\x1b[1m****(A)\x1b[0m"},
		{"colours", like(v), "h\x1b[1mu\x1b[32mn\x1b[Kter2hunter3\x1b[0m", "****(A)\x1b[0m"},
		{"cursor", like(v), "hunter2\x1b[3;1H\x1b[?25l\x1b[2Khunter3", "****(A)"},
		{"character set", like(v), "hunter2\x1b(B\x1b#8\x1b%Ghunter3", "****(A)"},
		{"two bytes", like(v), "hunter2\x1b7\x1b=\x1bM\x1b\\hunter3", "****(A)"},
		{"title, by BEL", like(v), "hunter2\x1b]0;a title ~\x07hunter3", "****(A)"},
		{"link, by ST", like(v), "hunter2\x1b]8;;http://a/\x1b\\hunter3", "****(A)"},
		{"title in other letters", like(v), "hunter2\x1b]0;\xc3\xa9\xff\x7f\x07hunter3", "****(A)"},
		{"intermediate bytes", like(v), "hunter2\x1b[2 q\x1b[!phunter3", "****(A)"},
		{"colour with a private byte", like(v), "hunter2\x1b[>4;1mhunter3", "****(A)"},
		{"one between each two", like(v), strings.Join(strings.Split(v, ""), "\x1b[1m"), "****(A)"},
		{"a value in a title", like(v), "\x1b]0;" + v + "\x07", "\x1b]0;****(A)\x07"},
		{"half in a title", like(v), "hunter2\x1b]0;hunter3\x07", "hunter2\x1b]0;hunter3\x07"},
		{"a string that is no sequence", like(v), "hunter2\x1bPxhunter3\x1b\\", "hunter2\x1bPxhunter3\x1b\\"},
		{"a value with a sequence", like("hun\x1b[1mter2"), "hun\x1b[1mter2 hunter2", "****(A) hunter2"},
		{"a value with a sequence, and another", like("hun\x1b[1mter2", v), "hun\x1b[1mter2\x1b[2mhunter3", "****(B)"},
		{"a value in a colour", like("12345678", v), "hunter2\x1b[12345678mhunter3", "****(B)"},
		{"beside another colour", like("12345678", v), "hunter2\x1b[1m\x1b[12345678m\x1b[0mhunter3", "****(B)"},
		{"a value begins in a colour", like("8mhunt", v), "hunter2\x1b[38mhunter3", "****(B)"},
		{"the end of a colour alone", like("1mhunter2"), "\x1b[1mhunter2", "\x1b[****(A)"},
		{"two that touch", like(v), "hunter2\x1b[1mhunter3hunter2\x1b[2mhunter3", "****(A)****(A)"},
		{"two that overlap", like("hunter22", "r22fish"), "hun\x1b[1mter22f\x1b[2mish\x1b[m", "****(A)\x1b[m"},
		{"the most in a gap", like(v), "hunter2" + g(256) + "hunter3", "****(A)"},
		{"one more", like(v), "hunter2" + g(257) + "hunter3", "hunter2" + g(257) + "hunter3"},
		{"one more, in two", like(v), "hunter2" + g(100) + k(157) + "hunter3", "hunter2" + g(100) + k(157) + "hunter3"},
		{"the most in each of two gaps", like(v), "hun" + k(256) + "ter2" + k(256) + "hunter3", "****(A)"},
		{"half at the end", like(v), "hunter2\x1b[1m\x1b[", "hunter2\x1b[1m\x1b["},
		{"a line feed between", like(v), "hunter2\n\x1b[1mhunter3", "hunter2\n\x1b[1mhunter3"},
		{"a value with a line feed", like("two\nlines"), "two\x1b[0m\n\x1b[1mlines", "****(A)"},
	})
}

// TestAnsi_brokenSequences: a byte that doesn't fit ends a sequence, and is text or begins the next one.
func TestAnsi_brokenSequences(t *testing.T) {
	checkRows(t, []viewRow{
		{"ESC alone", like("ab\ncd"), "ab\x1b\ncd", "****(A)"},
		{"ESC ESC", like("abcd"), "ab\x1b\x1b[1mcd", "****(A)"},
		{"a byte over 0x7e", like("ab\xffcd"), "ab\x1b\xffcd ab\x1b[1\xffcd", "****(A) ****(A)"},
		{"DEL", like("ab\x7fcd"), "ab\x1b\x7fcd ab\x1b[\x7fcd", "****(A) ****(A)"},
		{"CSI with a line feed in it", like("ab\ncd"), "ab\x1b[1\ncd", "****(A)"},
		{"CSI cut by another", like("abcd"), "ab\x1b[1\x1b[2mcd", "****(A)"},
		{"a number behind an intermediate byte", like("ab1cd"), "ab\x1b[ 1cd", "****(A)"},
		{"nF with a line feed in it", like("ab\ncd"), "ab\x1b(\ncd", "****(A)"},
		{"nF cut by another", like("abcd"), "ab\x1b( \x1b(Bcd", "****(A)"},
		{"OSC with a line feed in it", like("ab\ncd"), "ab\x1b]0;x\ncd", "****(A)"},
		{"OSC with a NUL in it", like("ab\x00cd"), "ab\x1b]0;x\x00cd", "****(A)"},
		{"OSC cut by another", like("abcd"), "ab\x1b]0;x\x1b]1;y\x07cd", "****(A)"},
		{"OSC cut by ESC and a byte", like("abcd"), "ab\x1b]0;x\x1bMcd", "****(A)"},
		{"BEL is text elsewhere", like("ab\x07cd"), "ab\x1b[1m\x07cd", "****(A)"},
		{"a sequence that began long before", like("abcd"), "\x1b]0;ab\x1b[1mcd", "\x1b]0;ab\x1b[1mcd"},
	})
}

// TestAnsi_folded: colour within folded base64.
func TestAnsi_folded(t *testing.T) {
	const f = "/QUJDREVGR0hJSktM"
	k := func(n int) string { return "\x1b[" + strings.Repeat("0", n-3) + "K" }
	checkRows(t, []viewRow{
		{"before a break", like(f), "QUJDREVG\x1b[m\nR0hJSktM", "****(A)"},
		{"behind", like(f), "QUJDREVG\n\x1b[mR0hJSktM", "****(A)"},
		{"inside", like(f), "QUJDREVG\r\x1b[m\nR0hJSktM", "****(A)"},
		{"everywhere", like(f), "QUJDREVG\x1b[1m\r\x1b[2m\r\x1b[3m\n\x1b[4mR0h\x1b[5mJSktM", "****(A)"},
		{"two breaks", like(f), "QUJDREVG\n\x1b[1m\nR0hJSktM", "QUJDREVG\n\x1b[1m\nR0hJSktM"},
		{"the most on each side of a break", like(f), "QUJDREVG" + k(256) + "\r\n" + k(256) + "R0hJSktM", "****(A)"},
		{"the most wherever they may stand", like(f), "QUJDREVG" + k(256) + "\r" + k(256) + "\r" + k(256) + "\n" + k(256) + "R0hJSktM", "****(A)"},
		{"one more before it", like(f), "QUJDREVG" + k(257) + "\nR0hJSktM", "QUJDREVG" + k(257) + "\nR0hJSktM"},
		{"one more behind it", like(f), "QUJDREVG\n" + k(257) + "R0hJSktM", "QUJDREVG\n" + k(257) + "R0hJSktM"},
		{"one more inside", like(f), "QUJDREVG\r" + k(257) + "\nR0hJSktM", "QUJDREVG\r" + k(257) + "\nR0hJSktM"},
	})
}

// TestU_21_Held: of an end that begins a value in one of the views just that is held.
func TestU_21_Held(t *testing.T) {
	const f, v = "/QUJDREVGR0hJSktM", "hunter2hunter3"
	for _, c := range []struct {
		text string
		held int
	}{
		{"x\n", 0},
		{"x\r", 0},
		{"x\x1b", 0},
		{"x\x1b[1", 0},
		{"x\x1b[1m", 0},
		{"Q\n", 2},
		{"xQUJD", 4},
		{"xQUJD\n", 5},
		{"xQUJD\r", 5},
		{"xQUJD\r\r", 6},
		{"xQUJD\r\r\n", 7},
		{"xQUJD\r\n", 6},
		{"xQUJD\r\r\r", 0},
		{"xQUJD\n\n", 0},
		{"xQUJD\n\r", 0},
		{"xQUJD\n ", 0},
		{"xQUJDREVGR0hJSktM\n", 0},
		{"hunter2\n", 0},
		{"hunter2\r", 0},
		{"hunter2\x1b", 8},
		{"hunter2\x1b[", 9},
		{"hunter2\x1b[01;3", 13},
		{"hunter2\x1b[1m", 11},
		{"hunter2\x1b[1m\x1b[K", 14},
		{"hunter2\x1b]0;title", 16},
		{"hunter2\x1b]0;title\n", 0},
		{"hunter2\x1b[\n", 0},
		{v + "\x1b[1m", 0},
		{v + "\x1b[", 0},
		{"h\x1b[1mu\x1b[Kn\x1b7", 12},
		{"hx\x1b[1mh\x1b[m", 4},
		{"\x1b[1mhunt", 4},
		{"\x1b]0;hunt", 4},
		{"Q\x1b[1m\r\x1b[1m", 10},
		{"hu" + "\x1b[" + strings.Repeat("0", 253) + "m", 258},
		{"hu" + "\x1b[" + strings.Repeat("0", 254), 258},
		{"hu" + "\x1b[" + strings.Repeat("0", 254) + "m", 0},
		{"hu" + "\x1b[" + strings.Repeat("0", 255), 0},
		{"hu" + "\x1b]" + strings.Repeat("0", 255), 0},
	} {
		r := newReference(like(f, v)...)
		r.write([]byte(c.text))
		if r.held() != c.held {
			t.Errorf("%q: the reference holds %d bytes, want %d", c.text, r.held(), c.held)
		}
		t.Run(c.text[:min(len(c.text), 20)], func(t *testing.T) {
			set := setOf(t, like(f, v)...)
			for name, prepare := range engines() {
				for _, pieces := range [][]string{{c.text}, strings.Split(c.text, "")} {
					w := mask.NewWriter(io.Discard, set)
					prepare(w)
					for _, p := range pieces {
						if _, err := io.WriteString(w, p); err != nil {
							t.Fatal(err)
						}
					}
					if got := mask.Held(w); got != c.held {
						t.Errorf("%s: %d writes of %q: %d bytes held, want %d", name, len(pieces), c.text, got, c.held)
					}
					if err := w.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
