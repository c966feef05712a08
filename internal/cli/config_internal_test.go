package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/state"
)

func TestConfig(t *testing.T) {
	f := newWorld(t)
	f.run("", "config", "get", "lock.idle").want(t, 0, "8h")
	f.run("", "config", "set", "lock.idle", "2h").want(t, 0, "lock.idle = 2h")
	f.run("", "config", "set", "guard.mode", "closed").want(t, 0)
	f.run("", "config", "list").want(t, 0, "lock.idle          2h", "config.toml:2", "audit.generations  3       default")
	f.run("", "config", "get", "guard.mode", "--json").want(t, 0, `{"name":"guard.mode","value":"closed","origin":"`+f.home+`/config/config.toml:5"`)
	f.env["WARDER_LOCK_IDLE"] = "1h" // which no daemon would read
	f.run("", "config", "get", "lock.idle").want(t, 0, "2h\n")
	f.env["WARDER_GUARD_MODE"] = "open"
	f.run("", "config", "set", "guard.mode", "closed").want(t, 0, "warder: warning: guard.mode is still open, from environment WARDER_GUARD_MODE")
	f.run("", "config", "set", "lock.idle", "soon").want(t, 2, "not a duration", "warder: hint: what it means: Lock the account")
	f.run("", "config", "set", "lock.idle", "1s").want(t, 2, "outside")
	f.run("", "config", "set", "lock.never", "1").want(t, 7, "no setting", "warder config list")
	f.run("", "config", "get", "lock.never").want(t, 7)
	f.run("", "config", "set", "audit.generations", "1").want(t, 0, "warder: warning: audit.generations = 1 waits, for it widens")
	f.run("", "config", "set", "lock.idle", "24h").want(t, 0, "lock.idle = 24h", "warder: warning: lock.idle = 24h waits, for it widens", "until a person accepts it: warder policy accept")
	f.run("", "config", "list").want(t, 0, "config.toml:2  waits: warder policy")
	f.run("", "config", "list", "--json").want(t, 0, `"name":"lock.idle","value":"24h"`, `"waits":true`)
	f.run("", "config", "get", "lock.idle").want(t, 0, "24h\n", "warning: lock.idle waits")
	if s := f.run("", "config", "set", "lock.idle", "8h"); s.status != 0 || s.errors != "" {
		t.Errorf("the default waits: %+v", s)
	}
	for _, plain := range [][]string{{"audit.generations", "9"}, {"audit.max_size", "60MiB"}, {"lock.max", "1h"}} {
		if s := f.run("", append([]string{"config", "set"}, plain...)...); s.status != 0 || s.errors != "" {
			t.Errorf("%q waits: %+v", plain, s)
		}
	}
	if s := f.run("", "config", "list", "--json"); strings.Contains(s.out, `"waits":true`) {
		t.Errorf("something waits: %s", s.out)
	}
	if err := os.WriteFile(filepath.Join(f.home, "config", "config.toml"), []byte("lock = = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.run("", "config", "list").want(t, 2, "config.toml:1:", "correct that line")
	f.run("", "config", "set", "lock.max", "9h").want(t, 2, "config.toml:1:")
	if err := os.Chmod(filepath.Join(f.home, "config", "config.toml"), 0o644); err != nil {
		t.Fatal(err)
	}
	f.run("", "config", "list").want(t, 1, "loose mode 0644", "chmod")
}

func TestEditSetting(t *testing.T) {
	for _, row := range []struct{ name, option, value, before, after string }{
		{"nothing there", "lock.idle", "2h", "", "[lock]\nidle = \"2h\"\n"},
		{"another table", "lock.idle", "2h", "# mine\n[guard]\nmode = \"open\"", "# mine\n[guard]\nmode = \"open\"\n\n[lock]\nidle = \"2h\"\n"},
		{"its table", "lock.idle", "2h", "[lock] # times\nmax = \"9h\" # long\n", "[lock] # times\nidle = \"2h\"\nmax = \"9h\" # long\n"},
		{"its line", "lock.idle", "2h", "[lock]\n  idle='1h'   # short\nmax = \"9h\"\n", "[lock]\n  idle=\"2h\"   # short\nmax = \"9h\"\n"},
		{"a full name", "lock.idle", "2h", "lock.idle = \"1h\"\n[guard]\n", "lock.idle = \"2h\"\n[guard]\n"},
		{"a full name beside it", "lock.idle", "2h", "lock.max = \"9h\"\n[guard]\n", "lock.max = \"9h\"\nlock.idle = \"2h\"\n[guard]\n"},
		{"a value that is none", "lock.idle", "2h", "[lock]\nidle = \"banana\" # mine\n", "[lock]\nidle = \"2h\" # mine\n"},
		{"a value of another type", "lock.idle", "2h", "[lock]\nmax = \"9h\"\nidle = 3\n", "[lock]\nmax = \"9h\"\nidle = \"2h\"\n"},
		{"a number", "audit.generations", "5", "[audit]\ngenerations = 3\r\n", "[audit]\ngenerations = 5\r\n"},
		{"the last line without an end", "audit.generations", "5", "[audit]\ngenerations = 3", "[audit]\ngenerations = 5"},
		{"a comment that looks like it", "lock.idle", "2h", "# [lock]\n# idle = \"1h\"\n", "# [lock]\n# idle = \"1h\"\n\n[lock]\nidle = \"2h\"\n"},
		{"a size", "audit.max_size", "60MiB", "[audit]\nmax_size = 52428800\n", "[audit]\nmax_size = \"60MiB\"\n"},
		{"an inline table", "lock.idle", "2h", "lock = { idle = \"1h\" }\n", ""},
		{"an inline table without it", "lock.idle", "2h", "lock = { max = \"9h\" }\n", ""},
		{"a text of several lines", "lock.idle", "2h", "[lock]\nidle = \"\"\"1h\"\"\"\n", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := editSetting([]byte(row.before), "config.toml", option(t, row.option), row.value)
			if row.after == "" {
				if err == nil || codeOf(err) != "usage" {
					t.Errorf("got %q, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.after, string(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func option(t *testing.T, name string) state.Option {
	t.Helper()
	for _, o := range state.Options() {
		if o.Name == name {
			return o
		}
	}
	t.Fatalf("no option %s", name)
	return state.Option{}
}

// TestBrokenSettingsWithoutADaemon: status and doctor name the file and the line,
// as config does.
func TestBrokenSettingsWithoutADaemon(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	dir := filepath.Join(f.home, "config")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(path, []byte("[lock]\nidle = \"soon\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"status", "status --json", "doctor", "config list", "config get lock.idle"} {
		s := f.run("", strings.Fields(line)...)
		s.want(t, s.status, path+":2")
	}
}
