package state_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"warder/internal/state"
	"warder/internal/testkit"
)

// TestRuntimeDirectoryIsJudged uses real directories: only one of this user's
// own, with no right for others, takes the socket.
func TestRuntimeDirectoryIsJudged(t *testing.T) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	good := filepath.Join(t.TempDir(), "good")
	must(t, os.Mkdir(good, 0o700))
	loose := filepath.Join(t.TempDir(), "loose")
	must(t, os.Mkdir(loose, 0o700))
	must(t, os.Chmod(loose, 0o755))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(good, link))
	for dir, want := range map[string]bool{
		good:                                 true,
		loose:                                false,
		link:                                 false,
		filepath.Join(t.TempDir(), "absent"): false,
		"/":                                  false,
	} {
		env := func(name string) string {
			return map[string]string{"XDG_RUNTIME_DIR": dir}[name]
		}
		// A uid with no directory under /run/user, but this user's judgement.
		p, err := state.ResolvePlaces(env, t.TempDir(), os.Geteuid())
		must(t, err)
		if got := p.Runtime.Path == filepath.Join(dir, "warder"); got != want {
			t.Errorf("XDG_RUNTIME_DIR=%s: runtime is %s", dir, p.Runtime.Path)
		}
	}
}

// TestPlacesOfThisProcess: what the defaults give can be made and opened.
func TestPlacesOfThisProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("this system has no user ids")
	}
	home := t.TempDir()
	p, err := state.ResolvePlaces(func(string) string { return "" }, home, os.Geteuid())
	must(t, err)
	for _, path := range []string{p.Data.Path, p.State.Path, p.Config.Path, p.Account()} {
		d, err := state.CreateDir(path)
		must(t, err)
		must(t, d.Close())
	}
}
