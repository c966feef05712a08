package state_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/state"
)

const file = "/c/config.toml"

func none(string) string { return "" }

// listing is every option that is not at its default, as "name=text (origin)".
func listing(s state.Settings) []string {
	var lines []string
	for _, o := range state.Options() {
		text, from, ok := s.Lookup(o.Name)
		if !ok || from != (state.Origin{}) {
			lines = append(lines, fmt.Sprintf("%s=%s (%s)", o.Name, text, from))
		}
	}
	return lines
}

func texts(warnings []state.Warning) []string {
	var lines []string
	for _, w := range warnings {
		lines = append(lines, w.String())
	}
	return lines
}

// TestDefaults are the figures of the design.
func TestDefaults(t *testing.T) {
	s, warnings, err := state.LoadSettings(nil, file, none, nil)
	must(t, err)
	if len(warnings) > 0 || listing(s) != nil {
		t.Errorf("warnings %v, values %v", warnings, listing(s))
	}
	got := []any{
		s.LockIdle.Value, s.LockMax.Value, s.AuditMaxSize.Value, s.AuditGenerations.Value,
		s.ApprovalWait.Value, s.ApprovalExpire.Value, s.GuardMode.Value,
	}
	want := []any{8 * time.Hour, 12 * time.Hour, int64(50 << 20), int64(3), 120 * time.Second, 10 * time.Minute, "open"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

// TestOptionsTable: every row is complete, and its name, variable and field are
// its own.
func TestOptionsTable(t *testing.T) {
	var s state.Settings
	names, variables := map[string]bool{}, map[string]bool{}
	for _, o := range state.Options() {
		if names[o.Name] || o.Env != "" && variables[o.Env] {
			t.Errorf("%s is there twice", o.Name)
		}
		names[o.Name], variables[o.Env] = true, true
		if byDaemon := !strings.HasPrefix(o.Name, "guard."); byDaemon {
			if o.Env != "" {
				t.Errorf("%s: a daemon does not read %s", o.Name, o.Env)
			}
			continue
		}
		if want := "WARDER_" + strings.ToUpper(strings.ReplaceAll(o.Name, ".", "_")); o.Env != want {
			t.Errorf("%s: variable %s, want %s", o.Name, o.Env, want)
		}
		if o.Doc == "" || !strings.HasSuffix(o.Doc, ".") || o.Default == "" {
			t.Errorf("%s has no sentence or no default", o.Name)
		}
		if _, _, ok := s.Lookup(o.Name); !ok {
			t.Errorf("%s has no field", o.Name)
		}
	}
	if _, _, ok := s.Lookup("lock"); ok {
		t.Error("lock is no option")
	}
}

// TestRank sets one option in more and more places.
func TestRank(t *testing.T) {
	toml := []byte("[guard]\nmode = \"closed\"\n")
	env := func(name string) string {
		return map[string]string{"WARDER_GUARD_MODE": "open"}[name]
	}
	flags := map[string]string{"guard.mode": "closed"}
	for _, c := range []struct {
		file  []byte
		env   func(string) string
		flags map[string]string
		want  string
	}{
		{toml, none, nil, "guard.mode=closed (/c/config.toml:2)"},
		{toml, env, nil, "guard.mode=open (environment WARDER_GUARD_MODE)"},
		{toml, env, flags, "guard.mode=closed (flag --guard.mode)"},
		{nil, env, flags, "guard.mode=closed (flag --guard.mode)"},
		{toml, none, flags, "guard.mode=closed (flag --guard.mode)"},
	} {
		s, warnings, err := state.LoadSettings(c.file, file, c.env, c.flags)
		must(t, err)
		if got := listing(s); !slices.Equal(got, []string{c.want}) || len(warnings) > 0 {
			t.Errorf("got %q, %v; want %q", got, warnings, c.want)
		}
	}
}

// TestFile reads files with good and bad lines: each bad one is named with its
// line and costs nothing else.
func TestFile(t *testing.T) {
	for _, c := range []struct {
		name, text     string
		values, warned []string
	}{
		{"tables", "[lock]\nidle = '90m'\nmax = '10h'\n\n[audit]\ngenerations = 7\n", []string{
			"lock.idle=90m (/c/config.toml:2)", "lock.max=10h (/c/config.toml:3)", "audit.generations=7 (/c/config.toml:6)",
		}, nil},
		{"dotted keys", "lock.idle = '90m'\nguard.mode = 'closed' # shut\n", []string{
			"lock.idle=90m (/c/config.toml:1)", "guard.mode=closed (/c/config.toml:2)",
		}, nil},
		{"inline table", "\nlock = {idle = '90m', max = '10h'}\n", []string{
			"lock.idle=90m (/c/config.toml:2)", "lock.max=10h (/c/config.toml:2)",
		}, nil},
		{"CRLF", "[lock]\r\nidle = '90m'\r\n", []string{"lock.idle=90m (/c/config.toml:2)"}, nil},
		{"sizes", "audit.max_size = 2_097_152\n", []string{"audit.max_size=2097152 (/c/config.toml:1)"}, nil},
		{"sizes with units", "audit.max_size = '3MiB'\n", []string{"audit.max_size=3MiB (/c/config.toml:1)"}, nil},
		{"hexadecimal", "audit.generations = 0x10\n", []string{"audit.generations=16 (/c/config.toml:1)"}, nil},
		{"unknown keys", "[lock]\nidel = '1h'\nmax = '10h'\n[nope]\nx = 1\n", []string{"lock.max=10h (/c/config.toml:3)"}, []string{
			`/c/config.toml:2: unknown key "lock.idel"`, `/c/config.toml:5: unknown key "nope.x"`,
		}},
		{"a quoted key is another key", "'lock.idle' = '1h'\n'' = {lock.idle = '1h'}\n", nil, []string{
			`/c/config.toml:1: unknown key "\"lock.idle\""`, `/c/config.toml:2: unknown key "\"\".lock.idle"`,
		}},
		{"an array of tables", "[[lock]]\nidle = '1h'\n", nil, []string{`/c/config.toml:2: unknown key "lock[].idle"`}},
		{"a table where a value belongs", "[lock.idle]\nx = 1\n", nil, []string{`/c/config.toml:2: unknown key "lock.idle.x"`}},
		{"no duration", "lock.idle = 'often'\n", nil, []string{
			`/c/config.toml:1: lock.idle: "often" is not a duration such as 90s or 8h`,
		}},
		{"a number is no duration", "lock.idle = 8\n", nil, []string{
			`/c/config.toml:1: lock.idle: got TOML integer, want duration`,
		}},
		{"out of bounds", "lock.idle = '1ms'\nlock.max = '-1h'\naudit.generations = 0\naudit.max_size = '1KiB'\n", nil, []string{
			`/c/config.toml:1: lock.idle: "1ms" is outside 1m0s to 720h0m0s`,
			`/c/config.toml:2: lock.max: "-1h" is outside 1m0s to 720h0m0s`,
			`/c/config.toml:3: audit.generations: "0" is outside 1 to 1000`,
			`/c/config.toml:4: audit.max_size: "1KiB" is outside 1048576 bytes to 1099511627776 bytes`,
		}},
		{"no such word", "guard.mode = 'clsoed'\n", nil, []string{
			`/c/config.toml:1: guard.mode: "clsoed" is none of open, closed`,
		}},
		{"wrong types", "guard.mode = true\naudit.generations = '3'\naudit.max_size = 1.5\nlock.idle = [1]\n", nil, []string{
			`/c/config.toml:1: guard.mode: got TOML bool, want enum`,
			`/c/config.toml:2: audit.generations: got TOML string, want int`,
			`/c/config.toml:3: audit.max_size: got TOML float, want size`,
			`/c/config.toml:4: lock.idle: got TOML array, want duration`,
		}},
		{"a value can't steer the terminal", `guard.mode = "\u001b[2J` + strings.Repeat("é", 60) + `"`, nil, []string{
			`/c/config.toml:1: guard.mode: "\x1b[2J` + strings.Repeat(`\u00e9`, 36) + `"… is none of open, closed`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, warnings, err := state.LoadSettings([]byte(c.text), file, none, nil)
			must(t, err)
			if diff := cmp.Diff(c.values, listing(s)); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.warned, texts(warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFileThatIsNotTOML counts for nothing as a whole; the rest still does.
func TestFileThatIsNotTOML(t *testing.T) {
	for text, where := range map[string]string{
		"lock.idle = '1h'\n[lock\n":                 file + ":2",
		"lock.idle = '1h'\nlock.idle = '2h'\n":      file + ":2",
		"lock = 1\n[lock]\nidle = '1h'\n":           file + ":2",
		"guard.mode = \"\xff\"\n":                   file + ":1",
		"lock.idle = '1h'\nguard.mode = open\n":     file + ":2",
		"lock.idle = '1h'\n\x00\n":                  file + ":2",
		"lock.idle = '1h'\nx = 9999999999999999999": file + ":2",
	} {
		s, warnings, err := state.LoadSettings([]byte(text), file, none, map[string]string{"lock.max": "5h"})
		if err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("%q: error %v, want one that names %s", text, err, where)
		}
		if got := listing(s); !slices.Equal(got, []string{"lock.max=5h (flag --lock.max)"}) || len(warnings) > 0 {
			t.Errorf("%q: values %q, warnings %v", text, got, warnings)
		}
		if s.GuardMode.Value != "open" {
			t.Errorf("%q: the settings are not complete", text)
		}
	}
}

// TestBadEnvironment warns and leaves the file's value. What a daemon applies has no variable.
func TestBadEnvironment(t *testing.T) {
	env := func(name string) string {
		return map[string]string{"WARDER_GUARD_MODE": "ajar", "WARDER_LOCK_MAX": "6h", "": "9h"}[name]
	}
	s, warnings, err := state.LoadSettings([]byte("guard.mode = 'closed'\n"), file, env, nil)
	must(t, err)
	want := []string{"guard.mode=closed (/c/config.toml:1)"}
	if diff := cmp.Diff(want, listing(s)); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	want = []string{`environment WARDER_GUARD_MODE: "ajar" is none of open, closed`}
	if diff := cmp.Diff(want, texts(warnings)); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// TestBadFlags are errors: the user has just typed them.
func TestBadFlags(t *testing.T) {
	s, _, err := state.LoadSettings(nil, file, none, map[string]string{"lock.idle": "often", "nope": "1", "lock.max": "6h"})
	if err == nil {
		t.Fatal("bad flags were taken")
	}
	for _, part := range []string{"flag --lock.idle: ", "flag --nope: no such option"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q lacks %q", err, part)
		}
	}
	if s.LockIdle.Value != 8*time.Hour || s.LockMax.Value != 6*time.Hour {
		t.Errorf("values %v", listing(s))
	}
}

// TestSizes are the accepted forms, through the option that has one.
func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"1048576": 1 << 20, "1024KiB": 1 << 20, "1MiB": 1 << 20, "1GiB": 1 << 30, "1024GiB": 1 << 40,
		"": 0, "MiB": 0, "-5MiB": 0, "5MB": 0, "5 MiB": 0, "5mib": 0, "5.5MiB": 0, "9223372036854775807GiB": 0, "0x100000": 0, "8589934592GiB": 0, "17179869185GiB": 0,
	} {
		s, _, err := state.LoadSettings(nil, file, none, map[string]string{"audit.max_size": text})
		switch {
		case want == 0 && err == nil:
			t.Errorf("%q was taken for %d", text, s.AuditMaxSize.Value)
		case want > 0 && (err != nil || s.AuditMaxSize.Value != want):
			t.Errorf("%q: %d, %v; want %d", text, s.AuditMaxSize.Value, err, want)
		}
	}
}

func TestOriginString(t *testing.T) {
	for want, o := range map[string]state.Origin{
		"default":              {},
		"/c/x:3":               {Kind: state.FromFile, Name: "/c/x", Line: 3},
		"/c/x":                 {Kind: state.FromFile, Name: "/c/x"},
		"environment WARDER_X": {Kind: state.FromEnvironment, Name: "WARDER_X"},
		"flag --x":             {Kind: state.FromFlag, Name: "x"},
	} {
		if got := o.String(); got != want {
			t.Errorf("%#v is %q, want %q", o, got, want)
		}
	}
}

// FuzzLoadSettings: whatever the file says, the settings are complete and within
// their bounds, every warning names a line of the file, and a file that is not
// TOML changes nothing.
func FuzzLoadSettings(f *testing.F) {
	for _, text := range []string{
		"", "# nothing\n", "[lock]\nidle = \"1h\"\n", "lock.idle = '1h'\naudit = {max_size = 0x200000}\n",
		"[[lock]]\nidle = 1\n", "'' = ''\n", "a.b.c = [1, {x = 2}]\n", "guard.mode = \"\"\"\nclosed\"\"\"\n",
		"lock.idle = 1979-05-27T07:32:00Z\n", "audit.generations = +3\r\n",
	} {
		f.Add([]byte(text))
	}
	defaults, _, err := state.LoadSettings(nil, file, none, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, warnings, err := state.LoadSettings(text, file, none, nil)
		if err != nil {
			if s != defaults || len(warnings) > 0 {
				t.Errorf("half a file counted: %v %v", listing(s), warnings)
			}
			return
		}
		lines := strings.Count(string(text), "\n") + 1
		for _, w := range warnings {
			if w.From.Kind != state.FromFile || w.From.Line < 1 || w.From.Line > lines {
				t.Errorf("warning %q has no place in %d lines", w, lines)
			}
			if strings.ContainsFunc(w.Text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("warning %q holds a control character", w)
			}
		}
		// What was taken is taken again from its own text.
		for _, o := range state.Options() {
			value, from, _ := s.Lookup(o.Name)
			if from == (state.Origin{}) {
				continue
			}
			if _, _, err := state.LoadSettings(nil, file, none, map[string]string{o.Name: value}); err != nil {
				t.Errorf("%s = %q from %s: %v", o.Name, value, from, err)
			}
		}
	})
}

func TestHintOfOtherErrors(t *testing.T) {
	for _, err := range []error{nil, errors.New("other"), state.ErrTooLarge, state.ErrLocked} {
		if got := state.Hint(err); got != "" {
			t.Errorf("Hint(%v) = %q", err, got)
		}
	}
}
