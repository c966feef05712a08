package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// The places where people run warder: what works there, and what says in one
// line what to do.

// live stores a value, locks, unlocks and reveals it.
func live(t *testing.T, h *house) {
	t.Helper()
	typed := token("typed-")
	h.door.Begin(t, "warder item add mail --type password")
	h.door.Answer(t, askStored, typed)
	wantsShown(t, "add", h.door.Finish(t), 0, ``)
	h.lock(t)
	h.unlock(t)
	wantsShown(t, "reveal", h.prove(t, "warder item show mail --reveal"), 0, typed)
	h.whole(t, true)
}

// TestU156_container: the shell is the first process, and there is no keyring,
// no bus and no runtime directory.
func TestU156_container(t *testing.T) {
	notWithRace(t)
	w, p := person.Container(t, person.Shell{Terminal: "runner"})
	h, _ := moveIn(t, w, p, "warder setup")
	wantsShown(t, "whoami", p.Run(t, "warder whoami"), 0, `^person`)
	live(t, h)
}

// TestU156_entered: one shell sets up inside of a container, another one comes in
// from outside and finds the same daemon.
func TestU156_entered(t *testing.T) {
	h := newHouse(t, person.Options{})
	pid := h.status(t).Daemon.PID
	h.door = h.Enter(t, person.Shell{Terminal: "runner"})
	wantsShown(t, "whoami", h.door.Run(t, "warder whoami"), 0, `^person`)
	if s := h.status(t); s.Daemon.PID != pid {
		t.Errorf("another daemon: %+v, it was %d", s, pid)
	}
	live(t, h)
}

// TestU148_ordinary: an ordinary user with nothing but a home, which takes the
// usual places. The program is installed, and nothing is open to others, whatever
// the umask.
func TestU148_ordinary(t *testing.T) {
	o := ordinaryUser()
	o.Env = []string{"WARDER_HOME="}
	w := start(t, o)
	p := w.Terminal(t, person.Shell{})
	p.Run(t, "umask 0")
	installed := filepath.Join(w.Home(), ".local", "bin", "warder")
	p.Begin(t, "warder setup")
	p.Expect(t, `Install warder as `+regexp.QuoteMeta(installed)+`\? \[Y/n\] `)
	p.Type(t, "\n")
	h := &house{World: w, door: p, password: token("correct horse ")}
	p.Answer(t, askNew, h.password)
	p.Answer(t, askAgain, h.password)
	wantsShown(t, "setup", p.Finish(t), 0, `your shell takes warder for `)
	live(t, h)
	if s := h.status(t); !s.Daemon.SameBinary {
		t.Errorf("the daemon is not the installed program: %+v", s)
	}
	files := h.mustRun(t, `find "$HOME" -mindepth 1 ! -type l -perm /077 ! -path '*/bin*'; find "$HOME" -name vaults -o -name audit`)
	for line := range strings.Lines(files) {
		if path := strings.TrimSpace(line); !strings.HasSuffix(path, "/vaults") && !strings.HasSuffix(path, "/audit") && !plain(path, w.Home()) {
			t.Errorf("open to others: %s", path)
		}
	}
	if !strings.Contains(files, "audit") {
		t.Errorf("found no log in %s: the search shows nothing", w.Home())
	}
}

// plain reports whether a path is one of the folders above warder's own, which
// it makes as any program does.
func plain(path, home string) bool {
	rel, err := filepath.Rel(home, path)
	return err == nil && (rel == ".local" || rel == ".local/share" || rel == ".local/state" || rel == ".config" || !strings.Contains(path, "warder"))
}

// TestU155_readOnlyHome: where the home can't be written to, setup says so and
// what to do, and doing that works.
func TestU155_readOnlyHome(t *testing.T) {
	o := ordinaryUser()
	w := start(t, o)
	p := w.Terminal(t, person.Shell{})
	p.Run(t, "chmod 500 ~")
	wantsShown(t, "setup in a read-only home", p.Run(t, "WARDER_HOME= warder setup --no-install"), 1, `(?m)^warder: hint: .+WARDER_HOME.+\n\z`)
	h, _ := moveIn(t, w, p, "warder setup --no-install")
	live(t, h)
}

// TestU155_stateElsewhere: in a read-only home each place may be elsewhere by its
// own variable. Sessions without the variables are told, and do not begin anew.
func TestU155_stateElsewhere(t *testing.T) {
	o := ordinaryUser()
	o.Env = []string{"WARDER_HOME="}
	w := start(t, o)
	p := w.Terminal(t, person.Shell{})
	p.Run(t, `other=$(mktemp -d); export XDG_DATA_HOME=$other/data XDG_STATE_HOME=$other/state XDG_CONFIG_HOME=$other/config; chmod 500 ~`)
	h, _ := moveIn(t, w, p, "warder setup --no-install")
	live(t, h)
	wantsShown(t, "a setting", p.Run(t, "warder config set lock.idle 2h"), 0, ``)
	wantsShown(t, "without the data's variable", p.Run(t, "XDG_DATA_HOME= warder item list"), 1, `as its data directory, and here that is (?s:.*)warder setup`)
	wantsShown(t, "without the settings' variable", p.Run(t, "XDG_CONFIG_HOME= warder config list"), 1, `as its config directory, and here that is`)
	wantsShown(t, "with another runtime directory", p.Run(t, "XDG_RUNTIME_DIR=/nonexistent warder item list"), 0, `mail`)
	wantsShown(t, "nothing in the home", p.Run(t, "chmod 700 ~; ls -A ~/.local ~/.config 2>/dev/null | grep -c warder"), 1, `^0`)
	p.Run(t, `warder daemon stop; rm -rf "$other"`)
}

// TestCopiedHome: a copy acts on itself alone, once a person has said that it is
// meant, and on nothing before.
func TestCopiedHome(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("first-"), "first --type password")
	pid := h.status(t).Daemon.PID
	copied := filepath.Join(h.Home(), "copied")
	h.mustRun(t, `cp -a "$WARDER_HOME" `+copied+`; original=$WARDER_HOME; export WARDER_HOME=`+copied)
	wantsShown(t, "a copy", h.door.Run(t, "warder item rm first"), 1, `and here that is (?s:.*)warder setup`)
	wantsShown(t, "setup in it", h.door.Run(t, "warder setup"), 0, `warder repair new-device`)
	h.unlock(t)
	if s := h.status(t); s.Daemon.PID == pid {
		t.Errorf("the copy has the original's daemon: %+v", s)
	}
	wantsShown(t, "a device of its own", h.prove(t, "warder repair new-device"), 0, ``)
	h.add(t, token("second-"), "second --type password")
	wantsShown(t, "the original", h.door.Run(t, "WARDER_HOME=$original warder item list"), 0, `\A[^\n]*first[^\n]*\n\z`)
	h.mustRun(t, "warder daemon stop")
	h.mustRun(t, "export WARDER_HOME=$original")
	if s := h.status(t); s.Daemon.PID != pid || len(s.Findings) > 0 {
		t.Errorf("the original: %+v", s)
	}
}

// TestU156_anotherUser: another user's account is out of reach, in one line that
// says whose it is, and nothing of it is shown.
func TestU156_anotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to be two users")
	}
	h := newHouse(t, person.Options{UID: testkit.UID})
	other := person.Command{Argv: []string{h.Warder(), "item", "list"}, UID: testkit.UID + 1, Dir: "/"}
	r := h.Run(t, other)
	if strings.Count(r.Stderr, "\n") > 2 {
		t.Errorf("another user: %+v", r)
	}
	wants(t, "another user", r, 5, fmt.Sprintf(`error\[unreachable\]: .* belongs to uid %d, and you are uid %d\n`, testkit.UID, testkit.UID+1))
	// Root passes every mode, and is refused all the same.
	other.UID = -1
	r = h.Run(t, other)
	if r.Status == 0 || !strings.Contains(r.Stderr, "warder: hint: ") {
		t.Errorf("root: %+v", r)
	}
	wants(t, "root", r, r.Status, fmt.Sprintf(`owned by uid %d, not 0\n`, testkit.UID))
	live(t, h)
}

// TestU159_upgrade: another build of warder comes to a machine where the old one
// runs. Until it is recorded, the old one stays.
func TestU159_upgrade(t *testing.T) {
	h := newHouse(t, person.Options{})
	f, err := os.OpenFile(h.Warder(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("a newer one"); err != nil { // behind the end: it runs as before
		t.Fatal(err)
	}
	f.Close()
	before := h.status(t).Daemon
	wantsShown(t, "the new client and the old daemon", h.door.Run(t, "warder item list"), 0, ``)
	wantsShown(t, "setup", h.door.Run(t, "warder setup"), 0, `recorded anew`)
	if s := h.status(t); s.Daemon.PID != before.PID || s.Daemon.SameBinary {
		t.Errorf("after setup: %+v, was %+v", s, before)
	}
	wantsShown(t, "restart", h.door.Run(t, "warder daemon restart"), 0, ``)
	if s := h.status(t); s.Daemon.PID == before.PID || !s.Daemon.SameBinary || s.Account.State != "locked" {
		t.Errorf("after the restart: %+v", s)
	}
	h.unlock(t)
	live(t, h)
}

// TestHangUp closes the window while warder asks for a password: nothing of it
// stays behind, and the account is as it was.
func TestHangUp(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.lock(t)
	other := h.Terminal(t, person.Shell{Terminal: "xterm"})
	other.Begin(t, "warder unlock")
	other.Expect(t, askProof)
	other.Close()
	until(t, "the command ends", func() bool {
		return !strings.Contains(h.door.Run(t, "ps -eo args").Output, "warder unlock")
	})
	if s := h.status(t); s.Account.State != "locked" {
		t.Errorf("after a hang-up: %+v", s)
	}
	h.unlock(t)
}

// TestSetupGivenUp: a setup that was broken off leaves nothing that a second one
// stumbles over.
func TestSetupGivenUp(t *testing.T) {
	w := start(t, person.Options{})
	p := w.Terminal(t, person.Shell{})
	p.Begin(t, "warder setup")
	p.Answer(t, askNew, "\x03")
	wantsShown(t, "given up", p.Finish(t), 130, ``)
	wantsShown(t, "status", p.Run(t, "warder status"), 0, `warder setup`)
	h, _ := moveIn(t, w, p, "warder setup")
	live(t, h)
}
