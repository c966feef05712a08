package daemon

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warder/internal/audit"
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
		waits  int
		warns  []string
	}{
		"nothing":  {"", func(*settings) {}, 0, nil},
		"stricter": {"[lock]\nidle = \"1h\"\nmax = \"2h\"\n", func(s *settings) { s.idle, s.max = time.Hour, 2*time.Hour }, 0, nil},
		"wider":    {"[lock]\nidle = \"9h\"\nmax = \"13h\"\n", func(*settings) {}, 2, []string{"config.toml:2: lock.idle", "config.toml:3: lock.max"}},
		"one of each": {
			"[lock]\nidle = \"1h\"\nmax = \"13h\"\n",
			func(s *settings) { s.idle = time.Hour }, 1,
			[]string{"config.toml:3: lock.max"},
		},
		"a small log": {
			"[audit]\nmax_size = \"2MiB\"\ngenerations = 2\n",
			func(*settings) {}, 2,
			[]string{"config.toml:2: audit.max_size", "config.toml:3: audit.generations"},
		},
		"a log below the bounds": {"[audit]\nmax_size = \"1\"\ngenerations = 0\n", func(*settings) {}, 0, []string{"config.toml:2", "config.toml:3"}},
		"a log that keeps more":  {"[audit]\ngenerations = 9\n", func(s *settings) { s.auditGenerations = 9 }, 0, nil},
		"nonsense":               {"[lock]\nidle = \"yes\"\nmax = \"1h\"\n", func(s *settings) { s.max = time.Hour }, 0, []string{"config.toml:2"}},
		"no TOML":                {"idle: 1h\n", func(*settings) {}, 0, []string{"the settings don't count"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := configured(t, map[string]string{configFile: c.text})
			want := standard
			c.change(&want)
			texts, waits := wishes{d}.says(true)
			if d.policy != want || waits != c.waits {
				t.Errorf("got %+v and %d, want %+v and %d", d.policy, waits, want, c.waits)
			}
			all := strings.Join(texts, "\n")
			for _, part := range c.warns {
				if !strings.Contains(all, part) {
					t.Errorf("%q is not in %q", part, texts)
				}
			}
			if (len(c.warns) == 0) != (len(texts) == 0) {
				t.Errorf("warnings: %q", texts)
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
		texts, _ := wishes{d}.says(true)
		told := strings.Join(texts, "\n")
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
	texts, _ := wishes{d}.says(true)
	if d.policy.idle != 8*time.Hour || len(texts) != 1 || !strings.Contains(texts[0], "loose mode") {
		t.Errorf("idle %s, warnings %q", d.policy.idle, texts)
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
	told := func(d *Daemon) []string {
		texts, _ := wishes{d}.says(true)
		return texts
	}
	if got := verdict(added); got != caller.Agent || len(told(added)) > 0 {
		t.Errorf("an added agent is %s; %q", got, told(added))
	}
	broken := configured(t, map[string]string{agentsFile: "version = \n"})
	if got := verdict(broken); got == caller.Person || len(told(broken)) == 0 {
		t.Errorf("with a broken file: %s; %q", got, told(broken))
	}
	asks := configured(t, map[string]string{agentsFile: "version = 1\n[[terminal]]\nnames = [\"mine\"]\n"})
	if texts, waits := (wishes{asks}).says(true); waits != 0 || len(texts) != 1 || !strings.Contains(texts[0], "can only add agents") {
		t.Errorf("of what a table can't do: %q, %d wait", texts, waits)
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
		texts, waits := wishes{d}.says(true)
		if added := id.Client == "mybot"; added != want || waits != pending || len(texts) != pending {
			t.Errorf("%s: %+v, %d pending, %q", what, id.Client, waits, texts)
		}
	}
	step("nothing", "", false, 0)
	step("added", table, true, 0)
	step("another beside it", table+"[[agent]]\nclient = \"otherbot\"\nnames = [\"otherbot\"]\n", true, 0)
	step("one removed", table, true, 1)
	if texts, _ := (wishes{d}).says(true); !strings.Contains(texts[0], "otherbot") {
		t.Errorf("warnings: %q", texts)
	}
	next := &Daemon{opt: d.opt, state: d.state, log: d.log}
	d = next
	step("all removed, the next daemon", "", true, 2)
	if id, _ := JudgeSelf(Options{Config: d.opt.Config, State: d.opt.State, Getenv: mark}); id.Client != "mybot" {
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
	if texts, waits := (wishes{d}).says(true); k.idle != 3*time.Hour || waits != 1 || len(texts) != 1 {
		t.Errorf("idle %s, %d pending, %q", k.idle, waits, texts)
	}
	write("[lock]\nidle = \"1h\"\n")
	if _, waits := (wishes{d}).says(true); k.isOpen() || waits != 0 {
		t.Error("what is over is still open")
	}
}

// TestWhatWasTightenedStays has an agent put back what a person has made stricter: by hand, by taking the line out, with a next
// daemon, a locked one, and without what was stored. It waits each time, until a person accepts it.
func TestWhatWasTightenedStays(t *testing.T) {
	s := newAsking(t)
	s.write(configFile, idleFor("1h"))
	s.counts("a person's", time.Hour, 0)
	if rec := s.recorded(eventPolicyTightened); len(rec) != 1 || string(rec[0].Data) != `{"settings":{"lock.idle":"1h"}}` {
		t.Errorf("recorded %+v", rec)
	}
	s.write(configFile, idleFor("8h"))
	s.counts("back to the default", time.Hour, 1)
	s.write(configFile, "")
	s.counts("taken out", time.Hour, 1)
	s.write(configFile, "[lock\n")
	s.counts("broken", time.Hour, 0)
	s.write(configFile, idleFor("8h"))
	for _, locked := range []bool{true, false} {
		s.next(locked)
		s.counts("the next daemon", time.Hour, 1)
	}
	for _, locked := range []bool{true, false} {
		must(t, os.Remove(s.stored()))
		s.next(locked)
		s.counts("without what was stored", time.Hour, 1)
		s.next(false)
	}
	s.accept()
	s.counts("accepted", 8*time.Hour, 0)
	s.next(true)
	s.counts("a locked one", 8*time.Hour, 0)
}

// TestALogThatKeepsLessWaits has an agent make the log keep less and flood it: nothing goes that would not have gone before.
func TestALogThatKeepsLessWaits(t *testing.T) {
	s := newAsking(t)
	s.write(configFile, "audit.max_size = \"1MiB\"\naudit.generations = 1\n")
	s.next(true)
	s.next(false)
	if got := s.d.policy; got.auditSize != 50<<20 || got.auditGenerations != 3 || s.waits() != 2 {
		t.Fatalf("%+v counts, %d wait", got, s.waits())
	}
	flood := func() uint64 {
		data := dataOf(strings.Repeat("x", 100<<10))
		for range 40 {
			s.log.Note(t.Context(), audit.Record{Event: "test.event", Data: data})
		}
		return s.log.Status().First
	}
	if first := flood(); first != 1 {
		t.Errorf("records before %d were dropped", first)
	}
	s.accept()
	if rec := s.recorded(eventKept); len(rec) != 1 || string(rec[0].Data) != `{"generations":1,"max_size":1048576}` {
		t.Errorf("recorded %+v", rec)
	}
	if first := flood(); first == 1 {
		t.Error("the log keeps all, though a person has accepted that it keeps less")
	}
}
