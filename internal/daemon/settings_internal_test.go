package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/caller"
	"warder/internal/state"
)

// configured is a daemon with files of a user's.
func configured(t *testing.T, files map[string]string) *Daemon {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "config")
	must(t, os.Mkdir(dir, 0o700))
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	places, err := state.CreateDir(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	t.Cleanup(func() { must(t, places.Close()) })
	d := &Daemon{
		opt: Options{Config: dir, State: places.Path()}, state: places, log: slog.New(slog.NewTextHandler(new(bytes.Buffer), nil)),
	}
	wishes{d}.loadSettings()
	wishes{d}.loadTables()
	return d
}

// TestWhatWidensWaits reads settings: what is stricter than the defaults counts, what is wider waits and is named.
func TestWhatWidensWaits(t *testing.T) {
	t.Setenv("WARDER_LOCK_IDLE", "100h")
	standard := settings{idle: 8 * time.Hour, max: 12 * time.Hour, auditSize: 50 << 20, auditGenerations: 3}
	for name, c := range map[string]struct {
		text   string
		change func(s *settings)
		warns  []string
	}{
		"nothing":  {"", func(*settings) {}, nil},
		"stricter": {"[lock]\nidle = \"1h\"\nmax = \"2h\"\n", func(s *settings) { s.idle, s.max = time.Hour, 2*time.Hour }, nil},
		"wider":    {"[lock]\nidle = \"9h\"\nmax = \"13h\"\n", func(s *settings) { s.pending = 2 }, []string{"config.toml:2: lock.idle", "config.toml:3: lock.max"}},
		"one of each": {
			"[lock]\nidle = \"1h\"\nmax = \"13h\"\n",
			func(s *settings) { s.idle, s.pending = time.Hour, 1 },
			[]string{"config.toml:3: lock.max"},
		},
		"a small log": {
			"[audit]\nmax_size = \"2MiB\"\ngenerations = 2\n",
			func(s *settings) { s.auditSize, s.auditGenerations = 2<<20, 2 }, nil,
		},
		"a log below the bounds": {"[audit]\nmax_size = \"1\"\ngenerations = 0\n", func(*settings) {}, []string{"config.toml:2", "config.toml:3"}},
		"a log that keeps more":  {"[audit]\ngenerations = 9\n", func(s *settings) { s.auditGenerations = 9 }, nil},
		"nonsense":               {"[lock]\nidle = \"yes\"\nmax = \"1h\"\n", func(s *settings) { s.max = time.Hour }, []string{"config.toml:2"}},
		"no TOML":                {"idle: 1h\n", func(*settings) {}, []string{"the settings don't count"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := configured(t, map[string]string{configFile: c.text})
			want := standard
			c.change(&want)
			if d.policy != want {
				t.Errorf("got %+v, want %+v", d.policy, want)
			}
			all := strings.Join(d.settingsWarnings, "\n")
			for _, part := range c.warns {
				if !strings.Contains(all, part) {
					t.Errorf("%q is not in %q", part, d.settingsWarnings)
				}
			}
			if (len(c.warns) == 0) != (len(d.settingsWarnings) == 0) {
				t.Errorf("warnings: %q", d.settingsWarnings)
			}
		})
	}
}

// TestBrokenSettingsAreToldAtOnce: what is wrong with the file is told when it is read again, although nothing that counts
// has changed, and no longer than it is wrong.
func TestBrokenSettingsAreToldAtOnce(t *testing.T) {
	d := configured(t, nil)
	path := filepath.Join(d.opt.Config, configFile)
	for _, row := range []struct{ text, want string }{
		{"", ""},
		{"[lock]\nidle = \"soon\"\n", path + ":2"},
		{"[lock\n", path + ":1"},
		{"[lock]\nidle = \"8h\"\n", ""},
	} {
		must(t, os.WriteFile(path, []byte(row.text), 0o600))
		wishes{d}.loadSettings()
		told := strings.Join(d.settingsWarnings, "\n")
		if (row.want == "") != (told == "") || !strings.Contains(told, row.want) {
			t.Errorf("%q is told as %q, want %q", row.text, told, row.want)
		}
	}
}

// TestLooseSettingsDontCount leaves a file to everybody to write.
func TestLooseSettingsDontCount(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "config")
	must(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, configFile)
	must(t, os.WriteFile(path, []byte("[lock]\nidle = \"1h\"\n"), 0o600))
	must(t, os.Chmod(path, 0o666))
	d := &Daemon{opt: Options{Config: dir}, log: slog.New(slog.DiscardHandler)}
	wishes{d}.loadSettings()
	if d.policy.idle != 8*time.Hour || len(d.settingsWarnings) != 1 || !strings.Contains(d.settingsWarnings[0], "loose mode") {
		t.Errorf("idle %s, warnings %q", d.policy.idle, d.settingsWarnings)
	}
}

// TestTheAgentsOfAUser reads what a user adds to the tables. A file that can't be read leaves nobody a person.
func TestTheAgentsOfAUser(t *testing.T) {
	verdict := func(d *Daemon) caller.Verdict {
		id, err := d.tables.Load().JudgeSelf(func(name string) string { return map[string]string{"MYBOT": "1"}[name] })
		must(t, err)
		return id.Verdict
	}
	added := configured(t, map[string]string{agentsFile: "version = 1\n[[agent]]\nclient = \"mybot\"\nmarks = [\"MYBOT=1\"]\n"})
	if got := verdict(added); got != caller.Agent || len(added.warnings) > 0 {
		t.Errorf("an added agent is %s; %q", got, added.warnings)
	}
	broken := configured(t, map[string]string{agentsFile: "version = \n"})
	if got := verdict(broken); got == caller.Person || len(broken.warnings) == 0 {
		t.Errorf("with a broken file: %s; %q", got, broken.warnings)
	}
	asks := configured(t, map[string]string{agentsFile: "version = 1\n[[terminal]]\nnames = [\"mine\"]\n"})
	if asks.tablesPending == 0 {
		t.Errorf("what a table can't do is not pending: %q", asks.warnings)
	}
}

// TestAgentsCountAtOnceAndStay adds an agent below a daemon that runs, and takes it away again: it stays one, also for the next
// daemon, and the removal waits.
func TestAgentsCountAtOnceAndStay(t *testing.T) {
	const table = "version = 1\n[[agent]]\nclient = \"mybot\"\nmarks = [\"MYBOT=1\"]\n"
	mark := func(name string) string { return map[string]string{"MYBOT": "1"}[name] }
	d := configured(t, nil)
	k := newKept(t)
	step := func(what, text string, want bool, pending int) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(d.opt.Config, agentsFile), []byte(text), 0o600))
		wishes{d}.reload(k.keeper)
		id, err := d.tables.Load().JudgeSelf(mark)
		must(t, err)
		if added := id.Client == "mybot"; added != want || d.tablesPending != pending || pending > 0 && len(d.warnings) == 0 {
			t.Errorf("%s: %+v, %d pending, %q", what, id.Client, d.tablesPending, d.warnings)
		}
	}
	step("nothing", "", false, 0)
	step("added", table, true, 0)
	step("another beside it", table+"[[agent]]\nclient = \"otherbot\"\nnames = [\"otherbot\"]\n", true, 0)
	step("one removed", table, true, 1)
	if !strings.Contains(d.warnings[0], "otherbot") {
		t.Errorf("warnings: %q", d.warnings)
	}
	next := &Daemon{opt: d.opt, state: d.state, log: d.log}
	d = next
	step("all removed, the next daemon", "", true, 2)
	if id := judgeSelf(Options{Config: d.opt.Config, State: d.opt.State, Getenv: mark}); id.Client != "mybot" {
		t.Errorf("who starts it by hand is %+v", id.Client)
	}
	step("back again", table+"[[agent]]\nclient = \"otherbot\"\nnames = [\"otherbot\"]\n", true, 0)
}

// TestStricterSettingsCountAtOnce changes the file below a daemon that runs.
func TestStricterSettingsCountAtOnce(t *testing.T) {
	d := configured(t, nil)
	k := newKept(t)
	write := func(text string) {
		must(t, os.WriteFile(filepath.Join(d.opt.Config, configFile), []byte(text), 0o600))
		wishes{d}.reload(k.keeper)
	}
	k.hands.pass(2 * time.Hour)
	write("[lock]\nidle = \"3h\"\n")
	if k.idle != 3*time.Hour || !k.isOpen() {
		t.Errorf("idle %s, open %t", k.idle, k.isOpen())
	}
	write("[lock]\nidle = \"100h\"\n")
	if k.idle != 3*time.Hour || d.policy.pending != 1 || len(d.settingsWarnings) != 1 {
		t.Errorf("idle %s, %d pending, %q", k.idle, d.policy.pending, d.settingsWarnings)
	}
	write("[lock]\nidle = \"1h\"\n")
	if k.isOpen() || d.policy.pending != 0 {
		t.Error("what is over is still open")
	}
}
