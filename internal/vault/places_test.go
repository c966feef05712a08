package vault_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"warder/internal/state"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// rerunEnv is set in a test that belowShell started again.
const rerunEnv = "WARDER_VAULT_TEST_RERUN"

// belowShell runs the calling test again below a shell that has executed script, for what only the start of a process can arrange: a
// umask, mounts. The script ends by executing "$@". In the outer run it returns true, which then has the verdict and is done.
func belowShell(t *testing.T, script string) (parent bool) {
	t.Helper()
	if os.Getenv(rerunEnv) != "" {
		return false
	}
	self, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", self, "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1")
	cmd.Env = append(os.Environ(), rerunEnv+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("%s below %q: %v", t.Name(), script, err)
	}
	return true
}

// onDisks runs the calling test again with two small file systems of its own, $DISK/data and $DISK/state, in a user and mount namespace,
// or skips it with the reason.
func onDisks(t *testing.T) (parent bool) {
	t.Helper()
	if os.Getenv(rerunEnv) != "" {
		return false // in the namespace, as its root
	}
	if testkit.AsUser(t) {
		return true
	}
	if out, err := exec.CommandContext(t.Context(), "unshare", "-Urm", "true").CombinedOutput(); err != nil {
		t.Skipf("no user and mount namespace here: %v: %s", err, out)
	}
	disk := t.TempDir()
	t.Setenv("DISK", disk)
	for _, name := range []string{"data", "state"} {
		must(t, os.Mkdir(filepath.Join(disk, name), 0o700))
	}
	return belowShell(t, `exec unshare -Urm sh -c '
		mount -t tmpfs -o size=2m,mode=700 none "$DISK/data" && mount -t tmpfs -o size=2m,mode=700 none "$DISK/state" && exec "$@"' sh "$@"`)
}

// onDisk is the configuration of an account on those disks, with a clock that lets nobody wait for wrong passwords.
func onDisk() vault.Config {
	cfg := sceneAt("").later(config(""))
	cfg.AccountDir = filepath.Join(os.Getenv("DISK"), "data", "account")
	cfg.StateDir = filepath.Join(os.Getenv("DISK"), "state", "warder")
	return cfg
}

// remount makes a disk read-only or writable.
func remount(t *testing.T, name, how string) {
	t.Helper()
	path := filepath.Join(os.Getenv("DISK"), name)
	if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,bind,"+how, path).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
}

// fill takes all room of a disk but the last so many bytes, and returns what gives it back.
func fill(t *testing.T, name string, but int64) (free func()) {
	t.Helper()
	path := filepath.Join(os.Getenv("DISK"), name, "filler")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	block := make([]byte, 4096)
	size := int64(0)
	for {
		n, err := f.Write(block)
		size += int64(n)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		must(t, err)
	}
	must(t, f.Truncate(max(0, size-but)))
	return func() { must(t, os.Remove(path)) }
}

// TestU_153_DiskFull fills the disks to a different degree each time, so that every step of a write runs out of room once. The error says
// so, nothing is lost, everything can be read even in a new process, and as soon as there is room writing works again.
func TestU_153_DiskFull(t *testing.T) {
	oneThread(t)
	if onDisks(t) {
		return
	}
	cfg := onDisk()
	a, _ := create(t, cfg)
	save(t, firstVault(t, a), newItem(t, "S1", "value of S1"))
	for _, disk := range []string{"data", "state"} {
		failures := 0
		for pages := int64(0); pages < 12; pages++ {
			if fullOnce(t, cfg, a, disk, pages*4096) {
				failures++
			}
		}
		if failures == 0 {
			t.Errorf("%s was never too full to write", disk)
		}
	}
	nothingLeftOver(t, cfg, a)
}

// fullOnce writes while a disk has so many bytes left. It reports whether that failed.
func fullOnce(t *testing.T, cfg vault.Config, a *vault.Account, disk string, left int64) (failed bool) {
	t.Helper()
	v := firstVault(t, a)
	name := fmt.Sprintf("B %s %d", disk, left)
	free := fill(t, disk, left)
	err := v.Save(newItem(t, name, strings.Repeat("q", 20_000)))
	if err != nil && (!errors.Is(err, syscall.ENOSPC) || !state.IsDiskFull(err) || !strings.Contains(state.Hint(err), "room")) {
		t.Errorf("%s: %v", name, err)
	}
	if text, _ := firstValue(t, v, find(t, v, "S1")); text != "value of S1" {
		t.Errorf("%s: S1 is %q", name, text)
	}
	b, openErr := vault.Open(cfg, value(t, password))
	if openErr != nil {
		t.Errorf("%s: unlocking on a full disk: %v", name, openErr)
	} else {
		quietWith(t, name, b, err == nil)
	}
	free()
	if err != nil {
		must(t, v.Save(newItem(t, name, "small")))
	}
	if found, checkErr := a.Check(); checkErr != nil || len(found) > 0 {
		t.Errorf("%s: %v, findings %q", name, checkErr, texts(found))
	}
	return err != nil
}

// quietWith wants no finding, and an item of that name or none.
func quietWith(t *testing.T, name string, a *vault.Account, want bool) {
	t.Helper()
	defer a.Lock()
	if found := a.Findings(); len(found) > 0 {
		t.Errorf("%s: findings %q", name, texts(found))
	}
	there := false
	for _, m := range firstVault(t, a).List() {
		there = there || m.Name == name
	}
	if there != want {
		t.Errorf("%s: there: %v, want %v", name, there, want)
	}
}

// TestU_155_ReadOnly turns the disks read-only, one, the other, both. Reading goes on, also in a new process and on a new device; a write
// says why it can't.
func TestU_155_ReadOnly(t *testing.T) {
	oneThread(t)
	if onDisks(t) {
		return
	}
	cfg := onDisk()
	a, kit := create(t, cfg)
	save(t, firstVault(t, a), newItem(t, "S1", "value of S1"))
	for _, disks := range [][]string{{"data"}, {"state"}, {"data", "state"}} {
		for _, d := range disks {
			remount(t, d, "ro")
		}
		name := strings.Join(disks, " and ")
		wantReadable(t, name, a)
		b := open(t, cfg)
		wantReadable(t, name+", a new process", b)
		if _, err := vault.Open(cfg, value(t, freshPassword)); !errors.Is(err, vault.ErrWrongPassword) {
			t.Errorf("%s: a wrong password: %v", name, err)
		}
		for _, d := range disks {
			remount(t, d, "rw")
		}
	}
	remount(t, "data", "ro")
	second := anotherDevice(t, cfg, kit)
	b := open(t, second)
	if !b.Device().IsZero() {
		t.Error("a device was enrolled on a read-only disk")
	}
	wantReadable(t, "a new device", b)
	remount(t, "data", "rw")
	quietAfter(t, s1Again(t, cfg))
	quietAfter(t, open(t, second))
}

// s1Again writes again where everything may be written again.
func s1Again(t *testing.T, cfg vault.Config) *vault.Account {
	t.Helper()
	a := open(t, cfg)
	editTo(t, firstVault(t, a), "S1", "value of S1")
	return a
}

func quietAfter(t *testing.T, a *vault.Account) {
	t.Helper()
	if found, err := a.Check(); err != nil || len(found) > 0 {
		t.Errorf("%v, findings %q", err, texts(found))
	}
}

// wantReadable reads, and has every kind of write refused for being on a read-only disk.
func wantReadable(t *testing.T, name string, a *vault.Account) {
	t.Helper()
	v := firstVault(t, a)
	id := find(t, v, "S1")
	if text, state := firstValue(t, v, id); text != "value of S1" || state != vault.StateOK {
		t.Errorf("%s: S1 is %q, %s", name, text, state)
	}
	if found := a.Findings(); len(found) > 0 {
		t.Errorf("%s: findings %q", name, texts(found))
	}
	for what, write := range map[string]func() error{
		"saving":                func() error { return v.Save(newItem(t, "A1", "v9v9v9v9")) },
		"moving to the trash":   func() error { return v.Trash(id, vault.Origin{By: vault.ByPerson}) },
		"purging":               func() error { return v.Purge(id) },
		"creating a vault":      func() error { _, err := a.CreateVault("other"); return err },
		"changing the password": func() error { return a.ChangePassword(value(t, password), value(t, freshPassword)) },
	} {
		err := write()
		if errors.Is(err, vault.ErrNotEnrolled) && a.Device().IsZero() {
			continue
		}
		if !errors.Is(err, syscall.EROFS) || !state.IsReadOnly(err) || !strings.Contains(err.Error(), os.Getenv("DISK")) {
			t.Errorf("%s: %s: %v", name, what, err)
		}
	}
}

// TestU_151_NoPermissionToWrite takes the owner's own right to write. It differs from a read-only disk in that some of it may be writable.
func TestU_151_NoPermissionToWrite(t *testing.T) {
	oneThread(t)
	if runtime.GOOS == "windows" {
		t.Skip("modes of directories mean nothing here")
	}
	if testkit.AsUser(t) {
		return
	}
	if os.Getuid() == 0 {
		t.Fatal("root may write everywhere")
	}
	for _, which := range []string{"account", "state"} {
		cfg, a, _ := newAccount(t)
		save(t, firstVault(t, a), newItem(t, "S1", "value of S1"))
		dir := map[string]string{"account": cfg.AccountDir, "state": cfg.StateDir}[which]
		chmodDirs(t, dir, 0o500)
		for name, b := range map[string]*vault.Account{"the same process": a, "a new process": open(t, cfg)} {
			v := firstVault(t, b)
			if text, _ := firstValue(t, v, find(t, v, "S1")); text != "value of S1" {
				t.Errorf("%s, %s: S1 is %q", which, name, text)
			}
			err := v.Save(newItem(t, "A1", "v9v9v9v9"))
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), dir) {
				t.Errorf("%s, %s: %v", which, name, err)
			}
		}
		chmodDirs(t, dir, 0o700)
		b := open(t, cfg)
		save(t, firstVault(t, b), newItem(t, "A1", "v9v9v9v9"))
		quietAfter(t, b)
		nothingLeftOver(t, cfg, b)
	}
}

// chmodDirs changes the mode of a directory and of those below it.
func chmodDirs(t *testing.T, dir string, mode fs.FileMode) {
	t.Helper()
	chmod := func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, mode)
		}
		return err
	}
	must(t, filepath.WalkDir(dir, chmod))
	t.Cleanup(func() {
		mode = 0o700 // or the test's directory can't be removed
		if err := filepath.WalkDir(dir, chmod); err != nil {
			t.Error(err)
		}
	})
}
