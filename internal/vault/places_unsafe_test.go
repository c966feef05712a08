package vault_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"warder/internal/state"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// needModes skips where files have no owners and modes.
func needModes(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("this system has no owners and modes")
	}
}

// TestU_20_Umask makes and uses an account under the loosest umask: nothing of it is open to others.
func TestU_20_Umask(t *testing.T) {
	oneThread(t)
	needModes(t)
	if testkit.AsUser(t) || belowShell(t, `umask 000; exec "$@"`) {
		return
	}
	modesOfAnAccount(t)
}

// TestU_20_TightUmask is the same where the umask takes rights from the owner himself.
func TestU_20_TightUmask(t *testing.T) {
	oneThread(t)
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	if os.Getenv(rerunEnv) == "" {
		t.Setenv("WARDER_VAULT_TEST_DIR", t.TempDir()) // package testing can't make one under that umask
	}
	if belowShell(t, `umask 277; exec "$@"`) {
		return
	}
	modesOfAnAccount(t)
}

// modesOfAnAccount does everything that makes files, and looks at the mode of each.
func modesOfAnAccount(t *testing.T) {
	t.Helper()
	dir := os.Getenv("WARDER_VAULT_TEST_DIR")
	if dir == "" {
		dir = t.TempDir()
	}
	s := sceneAt(filepath.Join(dir, "warder"))
	a, kit := create(t, s.account())
	v := firstVault(t, a)
	save(t, v, newItem(t, "S1", "value of S1"))
	editTo(t, v, "S1", "another value of S1")
	_, err := a.CreateVault("other")
	must(t, err)
	must(t, a.ChangePassword(value(t, password), value(t, freshPassword)))
	if _, err := vault.Open(s.account(), value(t, password)); !errors.Is(err, vault.ErrWrongPassword) {
		t.Fatal(err)
	}
	must(t, vault.SetDeviceSecret(s.second(), kit.DeviceSecret))
	b, err := vault.Open(s.second(), value(t, freshPassword))
	must(t, err)
	b.Lock()
	dirs, files := 0, 0
	must(t, filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			dirs, want = dirs+1, fs.ModeDir|0o700
		} else {
			files++
		}
		if err == nil && fi.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, fi.Mode(), want)
		}
		return err
	}))
	if dirs < 15 || files < 15 {
		t.Errorf("%d directories and %d files were looked at", dirs, files)
	}
}

// spoil does something to a file or directory that makes it unsafe to use.
type spoil struct {
	name   string
	reason string // what the error must say; "" if it need not name the file
	do     func(t *testing.T, path string)
	only   fs.FileMode // fs.ModeDir, or 1 for files; 0 for both
}

func spoils() []spoil {
	const filesOnly = 1
	aside := func(t *testing.T, path string) string {
		t.Helper()
		away := filepath.Join(newScene(t).dir, "away") // on the same disk
		must(t, os.Rename(path, away))
		return away
	}
	return []spoil{
		{"readable by the group", "loose mode", func(t *testing.T, path string) { addMode(t, path, 0o040) }, 0},
		{"writable by all", "loose mode", func(t *testing.T, path string) { addMode(t, path, 0o022) }, 0},
		{"a symbolic link", "symbolic link", func(t *testing.T, path string) { must(t, os.Symlink(aside(t, path), path)) }, 0},
		{"a FIFO", "FIFO", func(t *testing.T, path string) {
			aside(t, path)
			if out, err := exec.CommandContext(t.Context(), "mkfifo", "-m", "600", path).CombinedOutput(); err != nil {
				t.Fatalf("mkfifo: %v: %s", err, out)
			}
		}, 0},
		{"a file with a second name", "hard links", func(t *testing.T, path string) {
			must(t, os.Link(path, filepath.Join(newScene(t).dir, "other name")))
		}, filesOnly},
		{"a directory", "", func(t *testing.T, path string) {
			aside(t, path)
			must(t, os.Mkdir(path, 0o700))
		}, filesOnly},
		{"a file", "not a directory", func(t *testing.T, path string) {
			aside(t, path)
			writeFile(t, path, []byte("x"))
		}, fs.ModeDir},
	}
}

func addMode(t *testing.T, path string, bits fs.FileMode) {
	t.Helper()
	fi, err := os.Stat(path)
	must(t, err)
	must(t, os.Chmod(path, fi.Mode().Perm()|bits))
}

// TestUnsafePlacesAreRefused spoils each file and directory of an account and its device in turn. Opening says which it is and what is
// wrong with it; only a spoiled item harms nothing but itself, and is a finding that says the same.
func TestUnsafePlacesAreRefused(t *testing.T) {
	oneThread(t)
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	base := newScene(t)
	a, _ := create(t, base.account())
	save(t, firstVault(t, a), newItem(t, "S1", "value of S1"), newItem(t, "S2", "value of S2"))
	a.Lock()
	paths := placesOf(t, base)
	if len(paths) < 20 {
		t.Fatalf("only %v", paths)
	}
	for _, sp := range spoils() {
		t.Run(strings.ReplaceAll(sp.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			for _, rel := range paths {
				s := base.copy(t)
				path := filepath.Join(s.dir, rel)
				fi, err := os.Lstat(path)
				must(t, err)
				if sp.only != 0 && fi.IsDir() != (sp.only == fs.ModeDir) {
					continue
				}
				sp.do(t, path)
				refused(t, s, path, sp.reason)
			}
		})
	}
}

// placesOf lists the directories and files of an account and its device, relative to the scene.
func placesOf(t *testing.T, s scene) []string {
	t.Helper()
	var list []string
	must(t, filepath.WalkDir(s.dir, func(path string, _ fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(s.dir, path); relErr == nil && rel != "." {
			list = append(list, rel)
		}
		return err
	}))
	return list
}

// refused wants an error or a finding that names the path and what is wrong with it.
func refused(t *testing.T, s scene, path, reason string) {
	t.Helper()
	cfg := s.account()
	a, err := vault.Open(cfg, value(t, password))
	if reason == "" { // not there as a file: missing, or worse
		if err == nil {
			defer a.Lock()
		}
		if err == nil && !slices.ContainsFunc(a.Findings(), func(f vault.Finding) bool { return f.Alarm }) {
			t.Errorf("%s: opened, with the findings %q", path, texts(a.Findings()))
		}
		return
	}
	if err == nil {
		defer a.Lock()
		names := func(f vault.Finding) bool {
			return f.Alarm && strings.Contains(f.Text, path) && strings.Contains(f.Text, reason)
		}
		if !slices.ContainsFunc(a.Findings(), names) || !strings.Contains(path, "/items/") {
			t.Errorf("%s: opened, with the findings %q", path, texts(a.Findings()))
		}
		return
	}
	var unsafe *state.UnsafeError
	if !errors.As(err, &unsafe) || unsafe.Path != path || !strings.Contains(unsafe.Reason, reason) || state.Hint(err) == "" {
		t.Errorf("%s: %v", path, err)
	}
}

// TestForeignOwner gives files to somebody else, which only root can do; as an ordinary user it opens a directory that is root's.
func TestForeignOwner(t *testing.T) {
	oneThread(t)
	needModes(t)
	t.Run("a directory of root's", func(t *testing.T) {
		if testkit.AsUser(t) {
			return
		}
		cfg := config(t.TempDir())
		cfg.AccountDir = "/usr"
		for name, open := range map[string]func() error{
			"Open":   func() error { _, err := vault.Open(cfg, value(t, password)); return err },
			"Create": func() error { _, _, err := vault.Create(cfg, value(t, password)); return err },
			"Exists": func() error { _, err := vault.Exists(cfg); return err },
		} {
			var unsafe *state.UnsafeError
			if err := open(); !errors.As(err, &unsafe) || unsafe.Path != "/usr" || !strings.Contains(unsafe.Reason, "owned by uid 0") {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
	t.Run("files given away", func(t *testing.T) {
		if os.Getuid() != 0 {
			t.Skip("only root can give files away")
		}
		base := newScene(t)
		a, _ := create(t, base.account())
		save(t, firstVault(t, a), newItem(t, "S1", "value of S1"))
		a.Lock()
		for _, rel := range placesOf(t, base) {
			s := base.copy(t)
			path := filepath.Join(s.dir, rel)
			must(t, os.Chown(path, testkit.UID, -1))
			refused(t, s, path, "owned by uid 12345")
		}
	})
}

// TestPlacesMoved: an account is where its configuration says, not where it was made.
func TestPlacesMoved(t *testing.T) {
	oneThread(t)
	s := newScene(t)
	a, _ := create(t, s.account())
	save(t, firstVault(t, a), newItem(t, "S1", "value of S1"))
	a.Lock()
	moved := config(filepath.Join(t.TempDir(), "elsewhere"))
	copyTree(t, s.account().AccountDir, moved.AccountDir)
	copyTree(t, s.account().StateDir, moved.StateDir)
	must(t, os.RemoveAll(s.account().AccountDir))
	must(t, os.RemoveAll(s.account().StateDir))
	if there, err := vault.Exists(s.account()); there || err != nil {
		t.Errorf("at the old place: %v, %v", there, err)
	}
	if _, err := vault.Open(s.account(), value(t, password)); !errors.Is(err, vault.ErrNoAccount) {
		t.Errorf("at the old place: %v", err)
	}
	b := open(t, moved)
	save(t, firstVault(t, b), newItem(t, "S2", "value of S2"))
	quiet(t, b, 2)
}

// TestNoDeviceSecret: without it there is an account that can't be opened, which differs from no account and from a wrong password.
func TestNoDeviceSecret(t *testing.T) {
	cfg, a, kit := newAccount(t)
	a.Lock()
	secret := filepath.Join(cfg.StateDir, "device", "secret")
	for name, lose := range map[string]func(){
		"the secret":          func() { must(t, os.Remove(secret)) },
		"the device folder":   func() { must(t, os.RemoveAll(filepath.Dir(secret))) },
		"the state directory": func() { must(t, os.RemoveAll(cfg.StateDir)) },
	} {
		_ = os.MkdirAll(filepath.Dir(secret), 0o700)
		if _, err := os.Stat(secret); err != nil {
			must(t, vault.SetDeviceSecret(cfg, kit.DeviceSecret))
		}
		lose()
		if _, err := vault.Open(cfg, value(t, password)); !errors.Is(err, vault.ErrNoDeviceSecret) {
			t.Errorf("without %s: %v", name, err)
		}
		if there, err := vault.Exists(cfg); !there || err != nil {
			t.Errorf("without %s the account is there: %v, %v", name, there, err)
		}
		if _, _, err := vault.Create(cfg, value(t, password)); !errors.Is(err, vault.ErrExists) {
			t.Errorf("creating over an account without %s: %v", name, err)
		}
	}
	must(t, vault.SetDeviceSecret(cfg, kit.DeviceSecret))
	if err := vault.SetDeviceSecret(cfg, kit.DeviceSecret); !errors.Is(err, vault.ErrExists) {
		t.Errorf("replacing a device secret: %v", err)
	}
	open(t, cfg)
}
