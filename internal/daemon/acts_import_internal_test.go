package daemon

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/seal"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// stored are the variables of a stage, read past everything.
func stored(s *scene, project, stage string) map[string]string {
	s.t.Helper()
	v, err := s.account.Vault(vault.DefaultVault)
	must(s.t, err)
	p, err := v.Find(vault.KindProject, seal.ID{}, project)
	must(s.t, err)
	m, err := v.Find(vault.KindStage, p.ID, stage)
	must(s.t, err)
	it, err := v.Open(m.ID)
	must(s.t, err)
	defer it.Destroy()
	all := map[string]string{}
	for i := range it.Fields {
		f := &it.Fields[i]
		must(s.t, f.Value.Use(func(b []byte) { all[f.Name] = string(bytes.Clone(b)) }))
	}
	return all
}

// TestUsersFilesAreImported: U-43 to U-50 from end to end: what is stored is what the user meant, for persons and agents alike.
func TestUsersFilesAreImported(t *testing.T) {
	s := newScene(t)
	for _, c := range testkit.Cases(t, "../dotenv/testdata/cases/users.jsonl", "dotenv.parse") {
		t.Run(c.ID, func(t *testing.T) {
			var expect []struct {
				Vars map[string]string `json:"vars"`
			}
			must(t, json.Unmarshal(c.Expect, &expect))
			for _, who := range []*client{person(), subagent()} {
				project := c.ID + who.id.Client
				in := api.Import{File: "in.env", Project: project, Stage: "dev"}
				s.ok(s.do(who, api.OpImport, in, string(c.Setup.Files["in.env"])), nil)
				got := stored(s, project, "dev")
				if len(got) != len(expect[0].Vars) {
					t.Errorf("variables: %q, want %q", got, expect[0].Vars)
				}
				for name, want := range expect[0].Vars {
					if got[name] != want {
						t.Errorf("%s is %q, want %q", name, got[name], want)
					}
				}
			}
		})
	}
}

// TestImportWarnsWithLines: what may not be what was meant is told with its line, and stored.
func TestImportWarnsWithLines(t *testing.T) {
	s := newScene(t)
	for name, c := range map[string]struct {
		text string
		line int
		says string
	}{
		"a name twice":        {"A=first-v4lue\nA=secnd-v4lue\n", 2, "set on line 1 and again on line 2"},
		"an empty value":      {"# x\n\nA=\n", 3, "is empty"},
		"no variable's name":  {"A=first-v4lue-Qx7\r\nmy.var-x=secnd-v4lue-Qx7\r\n", 2, "my.var-x can't be a variable"},
		"a digit first":       {"1A=first-v4lue-Qx7\n", 1, "1A can't be a variable"},
		"a reference":         {"A=warder://personal/x/token\n", 1, "looks like a reference"},
		"a short value":       {"B='\n\n'\nexport A=ab\n", 4, "shorter than 4 bytes"},
		"a name of a program": {"\xef\xbb\xbfNODE_OPTIONS=--require=/tmp/x-Qx7.js\n", 1, "programs take code or options"},
		"nothing":             {"# only a comment\n", 0, "there is no variable"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, dry := range []bool{true, false} {
				var out api.Imported
				in := api.Import{File: ".env", Project: strings.ReplaceAll(name, " ", "-"), Stage: "dev", DryRun: dry}
				s.ok(s.do(person(), api.OpImport, in, c.text), &out)
				found := 0
				for i, w := range out.Warnings {
					if w.Line == c.line && strings.Contains(w.Text, c.says) {
						found++
					}
					if i > 0 && w.Line < out.Warnings[i-1].Line {
						t.Errorf("warnings are not in the order of the file: %+v", out.Warnings)
					}
				}
				if found != 1 {
					t.Errorf("dry run %t: %+v", dry, out.Warnings)
				}
			}
		})
	}
}

// TestImportRefusesWithLines: U-54: what can't be stored is told by file and line and no byte of a value, before anything is stored, by
// the dry run as by the act.
func TestImportRefusesWithLines(t *testing.T) {
	s := newScene(t)
	many := func(n, size int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "V%d=%s\n", i, strings.Repeat(token, size/len(token)+1)[:size])
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text string
		code api.Code
		says string
	}{
		"an open quote":  {"A=1\nB=\"" + token + "\nC=3\n", api.Usage, ".env:2: "},
		"no sign":        {"A=1\n\n" + token + "\n", api.Usage, ".env:3: "},
		"a name":         {"A=1\n-B=" + token + "\n", api.Usage, ".env:2: "},
		"a NUL byte":     {"A=1\nB=" + token + "\x00\n", api.Usage, ".env:2: "},
		"UTF-16":         {"\xff\xfeA\x00=\x001\x00", api.Usage, "UTF-16"},
		"a long value":   {"A=1\nB=" + strings.Repeat("x", vault.MaxFieldValue+1) + "\n", api.TooLarge, ".env:2: the value of B has 65536 bytes"},
		"a MiB of them":  {many(16, 64<<10-1), api.TooLarge, "bytes"},
		"too many lines": {many(32000, 20), api.TooLarge, "bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, who := range []*client{person(), agent()} {
				for _, dry := range []bool{true, false} {
					res := s.do(who, api.OpImport, api.Import{File: ".env", Project: "shop", Stage: "dev", DryRun: dry}, pieces(c.text)...)
					s.refused(res, c.code)
					if !strings.Contains(res.err.Message, c.says) || strings.Contains(res.err.Message+res.err.Hint, token) {
						t.Errorf("dry run %t: told %.300q", dry, res.err.Message)
					}
				}
			}
			s.refused(s.do(person(), api.OpProjectShow, api.ProjectShowIn{Project: "shop"}), api.NotFound)
		})
	}
	// Near the limits it works.
	long := "A=" + strings.Repeat("x", vault.MaxFieldValue) + "\n"
	s.ok(s.do(person(), api.OpImport, api.Import{File: ".env", Project: "long", Stage: "dev"}, pieces(long)...), nil)
	s.ok(s.do(agent(), api.OpImport, api.Import{File: ".env", Project: "large", Stage: "dev"}, pieces(many(11, 64<<10-1))...), nil)
}

// pieces cuts a text as it crosses the socket.
func pieces(text string) (list []string) {
	for len(text) > 64<<10 {
		list, text = append(list, text[:64<<10]), text[64<<10:]
	}
	return append(list, text)
}
