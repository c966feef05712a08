package cli

import (
	"path/filepath"
	"testing"

	"warder/internal/state"
)

// TestADaemonThatDoesNotListen: where a daemon's lock is held nobody is told that no daemon runs and nobody has the keys.
func TestADaemonThatDoesNotListen(t *testing.T) {
	f := newWorld(t)
	f.setUp()
	dir, err := state.OpenDir(filepath.Join(f.home, "state"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	lock, err := dir.TryLock("daemon.lock")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range [][]string{{"status"}, {"lock"}, {"daemon", "status"}, {"daemon", "stop"}} {
		f.run("", line...).want(t, 5, "does not let go", "fuser")
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	f.run("", "lock").want(t, 0, "locked already")
}

// TestSettingsUnderAForeignLock waits for whoever holds the settings' lock no longer than it must, and names the file.
func TestSettingsUnderAForeignLock(t *testing.T) {
	f := newWorld(t)
	dir, err := state.CreateDir(filepath.Join(f.home, "config"))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	lock, err := dir.TryLock(settingsLock)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	f.run("", "config", "set", "lock.idle", "2h").want(t, 1, "holds "+filepath.Join(dir.Path(), settingsLock))
}
