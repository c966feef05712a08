package warder_test

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// textRules judge text, in Go files and others.
func textRules() []rule {
	token := func(prefix string, n int) string {
		return "x = \"" + prefix + strings.Repeat("a1B2", n/4+1)[:n] + "\"\n"
	}
	return []rule{{
		name:  "work that is left has a number",
		check: numberlessTodos,
		bad: map[string]tree{
			"todo":     {"internal/cli/a.go": "package cli\n\n// TO" + "DO: later.\n"},
			"a name":   {"internal/cli/a.go": "package cli\n\n// TO" + "DO(someone): later.\n"},
			"fixme":    {"internal/cli/a.go": "package cli\n\nfunc f() {} // FIX" + "ME\n"},
			"a script": {".ci/run": "# XX" + "X: later\n"},
		},
		good: map[string]tree{
			"a number": {"internal/cli/a.go": "package cli\n\n// TO" + "DO(#12): later.\n"},
			"a word":   {"internal/cli/a.go": "package cli\n\n// mastodon\nvar _ = \"TO" + "DO\"\n"},
		},
	}, {
		name:  "the tree holds nothing shaped like a secret",
		check: secretShapes,
		bad: map[string]tree{
			"a key":          {"a.txt": "-----BEGIN " + "OPENSSH PRIVATE KEY-----\n"},
			"an old key":     {"a.txt": "-----BEGIN " + "PRIVATE KEY-----\n"},
			"a cloud key":    {"a.txt": token("AKI"+"A", 16)[:25] + "\n"},
			"a forge token":  {"a.txt": token("gh"+"p_", 36)},
			"a fine token":   {"a.txt": token("github_"+"pat_", 40)},
			"a chat token":   {"a.txt": token("xo"+"xb-", 40)},
			"a payment key":  {"a.txt": token("sk_"+"live_", 24)},
			"a model's key":  {"a.txt": token("sk-"+"ant-api03-", 40)},
			"a signed token": {"a.txt": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijkl\n"},
			"a fuzz seed":    {"internal/dotenv/testdata/fuzz/FuzzParse/1": token("gh"+"p_", 36)},
		},
		good: map[string]tree{
			"prose":     {"a.txt": "A token begins with gh" + "p_ and a key with BEGIN.\n"},
			"a vector":  {"internal/seal/testdata/vectors/a.json": token("gh"+"p_", 36)},
			"a name":    {"a.txt": "task-antelope risk-analysis-of-everything\n"},
			"made here": {"a.go": "package a\n\nvar _ = \"gh\" + \"p_\" + random(36)\n"},
		},
	}, {
		name:  "the tree does not name the machine it was written on",
		check: workplaces,
		bad: map[string]tree{
			"a folder":   {"docs/a.md": "see /wo" + "rk/main\n"},
			"a registry": {".ci/run": "GOPROXY=https://proxy." + "golang.org\n"},
		},
		good: map[string]tree{
			"words":    {"docs/a.md": "how it is meant to work/play\n"},
			"licences": {"docs/a.md": "https://pkg.go.dev/golang.org/x/crypto\n"},
		},
	}}
}

// leftWork finds a mark of unfinished work and what follows it.
var leftWork = regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X|HACK)\b(\(#[0-9]+\))?`)

// numberlessTodos finds such marks without an issue's number in Go comments and
// in the scripts of CI.
func numberlessTodos(m *model) []string {
	var findings []string
	for _, f := range m.all() {
		for _, group := range f.ast.Comments {
			for _, comment := range group.List {
				if match := leftWork.FindStringSubmatch(comment.Text); match != nil && match[2] == "" {
					findings = append(findings, f.at(comment.Pos(), "%s without an issue's number", match[1]))
				}
			}
		}
	}
	return append(findings, m.grep(leftWork, func(name string) bool { return strings.HasPrefix(name, ".ci/") })...)
}

// secretPatterns match what scanners, rightly, take for a live secret. Each
// begins with fixed text, which makes the search through large vectors quick.
var secretPatterns = []*regexp.Regexp{
	regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY`),
	regexp.MustCompile(`AKIA[0-9A-Za-z]{16}`),
	regexp.MustCompile(`ASIA[0-9A-Za-z]{16}`),
	regexp.MustCompile(`gh[pousr]_[0-9A-Za-z]{36}`),
	regexp.MustCompile(`github_pat_[0-9A-Za-z_]{30}`),
	regexp.MustCompile(`glpat-[0-9A-Za-z_-]{20}`),
	regexp.MustCompile(`xox[abeoprs]-[0-9A-Za-z-]{20}`),
	regexp.MustCompile(`[rs]k_(live|test)_[0-9A-Za-z]{20}`),
	regexp.MustCompile(`sk-(ant|proj|svcacct|or)-[0-9A-Za-z_-]{20}`),
	regexp.MustCompile(`sk-[0-9A-Za-z]{40}`),
	regexp.MustCompile(`AIza[0-9A-Za-z_-]{35}`),
	regexp.MustCompile(`eyJ[0-9A-Za-z_-]{10,}\.eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10}`),
}

// secretShapes finds text shaped like a secret outside published vectors. Tests
// make theirs at run time.
func secretShapes(m *model) []string {
	published := func(name string) bool { return strings.Contains(path.Dir(name)+"/", "/testdata/vectors/") }
	var findings []string
	for _, pattern := range secretPatterns {
		findings = append(findings, m.grep(pattern, func(name string) bool { return !published(name) })...)
	}
	return findings
}

// workplace matches folders of one machine, and hosts of package registries,
// which a mirror or proxy may stand in for.
var workplace = regexp.MustCompile(`(?m)(^|[^0-9A-Za-z_.$}])/wo` + `rk/|\b(proxy|sum)\.golang` + `\.org|\bdeb\.debian` + `\.org|\bregistry\.npmjs` + `\.`)

// workplaces finds such names.
func workplaces(m *model) []string {
	return m.grep(workplace, func(string) bool { return true })
}

// grep finds matches in the chosen texts. It shows no more than their beginning.
func (m *model) grep(pattern *regexp.Regexp, chosen func(name string) bool) []string {
	var findings []string
	for _, name := range slices.Sorted(maps.Keys(m.texts)) {
		if !chosen(name) {
			continue
		}
		text := m.texts[name]
		for _, at := range pattern.FindAllStringIndex(text, -1) {
			line := 1 + strings.Count(text[:at[0]], "\n")
			findings = append(findings, fmt.Sprintf("%s:%d: %.8q…", name, line, text[at[0]:at[1]]))
		}
	}
	return findings
}
