package state_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warder/internal/state"
	"warder/internal/testkit"
)

// installed is a record that is right.
func installed() state.Install {
	return state.Install{
		Binary: "/home/u/.local/bin/warder", SHA256: strings.Repeat("0a", 32),
		Data: "/home/u/.local/share/warder", State: "/home/u/.local/state/warder", Config: "/home/u/.config/warder",
		Socket: "/run/user/1000/warder/warder.sock", Unattended: true, Created: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
	}
}

func TestInstallIsReadAsItWasWritten(t *testing.T) {
	dir, err := state.CreateDir(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	defer dir.Close()
	if _, err := state.ReadInstall(dir); !errors.Is(err, state.ErrNoInstall) {
		t.Errorf("without a record: %v", err)
	}
	must(t, state.WriteInstall(dir, installed()))
	got, err := state.ReadInstall(dir)
	must(t, err)
	want := installed()
	want.Version, want.Created = 1, want.Created.Truncate(time.Second)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	moved := installed()
	moved.Binary = "/usr/bin/warder"
	must(t, state.WriteInstall(dir, moved))
	if got, err := state.ReadInstall(dir); err != nil || got.Binary != moved.Binary {
		t.Errorf("a second record: %+v, %v", got, err)
	}
}

func TestInstallRefusesWhatItCantUse(t *testing.T) {
	dir, err := state.CreateDir(filepath.Join(t.TempDir(), "state"))
	must(t, err)
	defer dir.Close()
	for name, change := range map[string]func(in *state.Install){
		"relative binary": func(in *state.Install) { in.Binary = "bin/warder" },
		"winding binary":  func(in *state.Install) { in.Binary = "/usr/../tmp/warder" },
		"no data":         func(in *state.Install) { in.Data = "" },
		"NUL":             func(in *state.Install) { in.State = "/a\x00b" },
		"relative config": func(in *state.Install) { in.Config = "./c" },
		"no socket":       func(in *state.Install) { in.Socket = "" },
		"short hash":      func(in *state.Install) { in.SHA256 = "0a" },
		"upper case":      func(in *state.Install) { in.SHA256 = strings.Repeat("0A", 32) },
		"no hash":         func(in *state.Install) { in.SHA256 = strings.Repeat("zz", 32) },
	} {
		in := installed()
		change(&in)
		if err := state.WriteInstall(dir, in); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if _, err := state.ReadInstall(dir); !errors.Is(err, state.ErrNoInstall) {
		t.Errorf("something was written: %v", err)
	}
	must(t, state.WriteInstall(dir, installed()))
	right, err := dir.Read("install.json", 1<<16)
	must(t, err)
	for name, text := range map[string]string{
		"empty":          "",
		"no JSON":        "binary = 1",
		"newer":          strings.Replace(string(right), `"version": 1`, `"version": 2`, 1),
		"no version":     strings.Replace(string(right), `"version": 1,`, ``, 1),
		"unknown member": strings.Replace(string(right), `"version": 1,`, `"version": 1, "run_as": "root",`, 1),
		"two values":     string(right) + string(right),
		"relative":       strings.Replace(string(right), `"/home/u/.local/bin`, `"home/u/.local/bin`, 1),
		"large":          strings.Repeat(" ", 1<<17) + string(right),
	} {
		must(t, dir.Replace("install.json", []byte(text)))
		if _, err := state.ReadInstall(dir); err == nil || errors.Is(err, state.ErrNoInstall) {
			t.Errorf("%s was read: %v", name, err)
		}
	}
}

// TestInstallOfOthersIsRefused leaves the record to others to write.
func TestInstallOfOthersIsRefused(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "state")
	dir, err := state.CreateDir(path)
	must(t, err)
	defer dir.Close()
	must(t, state.WriteInstall(dir, installed()))
	must(t, os.Chmod(filepath.Join(path, "install.json"), 0o664))
	var unsafe *state.UnsafeError
	if _, err := state.ReadInstall(dir); !errors.As(err, &unsafe) {
		t.Errorf("got %v", err)
	}
}
