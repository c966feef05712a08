package e2e_test

import (
	"strconv"
	"strings"
	"testing"
)

// TestS2_27_whatPasses says by what an agent gets how far masking goes. It is a net against accidents: the usual encodings of
// a value are hidden, and whoever wants to get one past it does (L50, L51). A row that no longer passes belongs into the
// documents, as one that no longer is hidden does.
func TestS2_27_whatPasses(t *testing.T) {
	l := lending(t)
	reverse := func(s string) string {
		b := []byte(s)
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		return string(b)
	}
	rot13 := func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return 'a' + (c-'a'+13)%26
		case c >= 'A' && c <= 'Z':
			return 'A' + (c-'A'+13)%26
		}
		return c
	}
	half := len(l.token) / 2
	const item = "github-token --env-var V"
	passes := []struct{ name, script, shown string }{
		{"backwards", `printf %s "$V" | rev`, reverse(l.token)},
		{"rot13", `printf %s "$V" | tr A-Za-z N-ZA-Mn-za-m`, strings.Map(rot13, l.token)},
		{"over two lines", `echo "${V:0:` + strconv.Itoa(half) + `}"; echo "${V:` + strconv.Itoa(half) + `}"`, l.token[:half] + "\n" + l.token[half:]},
		{"a blank between", `printf %s "$V" | sed 's/./& /g'`, strings.Join(strings.Split(l.token, ""), " ")},
		{"all but its first byte", `printf %s "${V:1}"`, l.token[1:]},
	}
	for _, row := range passes {
		if r := l.script(t, item, row.script); r.Status != 0 || !strings.Contains(r.Stdout, row.shown) {
			t.Errorf("%s does not pass any more: %+v", row.name, r)
		}
	}
	for name, script := range map[string]string{
		"compressed":                    `printf %s "$V" | gzip -c | gzip -dc | wc -c; printf %s "$V" | gzip -c | base64`,
		"base64 twice":                  `printf %s "$V" | base64 -w0 | base64 -w0`,
		"hex with colons, as of a hash": `printf %s "$V" | od -An -v -tx1 | tr -s ' \n' ':'`,
	} {
		if r := l.script(t, item, script); r.Status != 0 || strings.Contains(r.Stdout, "****") || len(r.Stdout) < len(l.token) {
			t.Errorf("%s does not pass any more: %+v", name, r)
		}
	}
	for name, script := range map[string]string{
		"itself": `echo "<$V>"`,
		"base64": `printf %s "$V" | base64 -w0`,
		"folded": `printf %s "$V" | base64 -w20`,
		"hex":    `printf %s "$V" | od -An -v -tx1 | tr -d ' \n'`,
	} {
		if r := l.script(t, item, script); r.Status != 0 || !strings.Contains(r.Stdout, "****(V)") {
			t.Errorf("%s is not hidden: %+v", name, r)
		}
	}
}
