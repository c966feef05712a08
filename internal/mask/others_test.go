package mask_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"warder/internal/mask"
)

// other is a value that any program can be handed as an argument, in a set of its own.
type other struct {
	value string
	set   *mask.Set
}

func others(t *testing.T) (all []other, values []string) {
	t.Helper()
	for _, v := range awkward(t)[:80] {
		if !strings.Contains(v, "\x00") && utf8.ValidString(v) {
			all = append(all, other{v, withForms(t, value{"V", v})})
			values = append(values, v)
		}
	}
	return all, values
}

// installed skips the test where a program is not there.
func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed here: how it spells values is not checked", name)
	}
	return path
}

// hidden checks that of a text, which is a value as some program printed it, no more is left than what it put around it.
func (o other) hidden(t *testing.T, program, text string) {
	t.Helper()
	got := through(t, o.set, func(io.WriteCloser) {}, text)
	left := strings.Replace(got, "****(V)", "", 1)
	if len(left) > 6 || strings.Trim(left, "$'\"()b,\r\n ") != "" {
		t.Errorf("%q: %s prints %q, of which %q came out", o.value, program, text, got)
	}
}

// TestU_24_Scripts: what Python and JavaScript make of a value.
func TestU_24_Scripts(t *testing.T) {
	all, values := others(t)
	for _, c := range []struct {
		program, flag, script string
	}{
		{"python3", "-c", `
import html, json, re, shlex, sys, urllib.parse as u
from xml.sax import saxutils
one = lambda s: json.dumps(s)[1:-1]
wide = lambda s: json.dumps(s, ensure_ascii=False)[1:-1]
out = []
for v in json.load(sys.stdin):
    b = v.encode()
    out.append({
        "quote": u.quote(v), "quote all": u.quote(v, safe=""), "quote_plus": u.quote_plus(v), "urlencode": u.urlencode({"": v})[1:],
        "dumps": one(v), "dumps wide": wide(v), "twice": one(one(v)), "twice wide": wide(wide(v)), "wide inside": one(wide(v)),
        "shlex": shlex.quote(v), "repr": repr(v), "ascii": ascii(v), "bytes": repr(b), "tuple": repr((v,)),
        "html": html.escape(v), "html text": html.escape(v, quote=False), "sax": saxutils.escape(v), "quoteattr": saxutils.quoteattr(v),
        "hex": b.hex(), "joined": " ".join(re.split("[ \t\r\n]+", v)).strip(" "), "JSON's repr": repr(wide(v) if v.isprintable() else one(v)),
    })
json.dump(out, sys.stdout)
`},
		{"node", "-e", `
const out = [], one = s => JSON.stringify(s).slice(1, -1);
for (const v of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
  const host = new URL("https://u@host/");
  host.password = v;
  out.push({
    component: encodeURIComponent(v), url: encodeURI(v), form: new URLSearchParams({"": v}).toString().slice(1), password: host.password,
    json: one(v), twice: one(one(v)), hex: Buffer.from(v).toString("hex"),
  });
}
process.stdout.write(JSON.stringify(out));
`},
	} {
		t.Run(c.program, func(t *testing.T) {
			in, err := json.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(installed(t, c.program), c.flag, c.script)
			cmd.Stdin = strings.NewReader(string(in))
			printed, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var spelt []map[string]string
			if err := json.Unmarshal(printed, &spelt); err != nil || len(spelt) != len(values) {
				t.Fatalf("%d values spelt, %v", len(spelt), err)
			}
			for i, o := range all {
				for name, text := range spelt[i] {
					o.hidden(t, name, text)
				}
			}
		})
	}
}

// TestU_17_Shells: what shells print of a value, traces included.
func TestU_17_Shells(t *testing.T) {
	all, values := others(t)
	for _, c := range []struct{ name, program, script string }{
		{"%q", "bash", `printf %q "$v"`},
		{"@Q", "bash", `printf %s "${v@Q}"`},
		{"declare", "bash", `d=$(declare -p v); printf %s "${d#*=}"`},
		{"split and joined", "bash", `echo $v`},
		{"a trace", "bash", `(set -x; : "$v") 2>&1`},
		{"an assignment's trace", "bash", `(set -x; w=$v) 2>&1`},
		{"a trace", "dash", `(set -x; : "$v") 2>&1`},
		{"an alias", "dash", `alias v="$v"; alias v`},
		{"coreutils' %q", "bash", `env printf %q "$v"`},
	} {
		for _, locale := range []string{"C", "C.UTF-8"} {
			t.Run(c.program+" "+c.name+" "+locale, func(t *testing.T) {
				script := `PS4=; set -f; for v in "$@"; do ` + c.script + `; printf '\0'; done`
				cmd := exec.Command(installed(t, c.program), append([]string{"-c", script, c.program}, values...)...)
				cmd.Env = append(cmd.Environ(), "LC_ALL="+locale)
				printed, err := cmd.Output()
				spelt := strings.Split(string(printed), "\x00")
				if err != nil || len(spelt) != len(values)+1 {
					t.Fatalf("%d values became %d: %v", len(values), len(spelt)-1, err)
				}
				for i, o := range all {
					text := spelt[i]
					for _, before := range []string{": ", "w=", "v="} {
						text = strings.TrimPrefix(text, before)
					}
					o.hidden(t, c.name, text)
				}
			})
		}
	}
}
