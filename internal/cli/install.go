package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"warder/internal/api"
	"warder/internal/platform"
	"warder/internal/state"
)

// programMode is the mode of an installed program, and binMode that of a folder
// for programs.
const (
	programMode = 0o755
	binMode     = 0o755
)

// program is an executable that is to serve as the daemon.
type program struct{ path, sha256 string }

// userBin is where a person's own programs are, "" if there is no home.
func userBin(env *Env) string {
	if home := env.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "bin")
	}
	return ""
}

// installTo copies the running program into a folder that is there, unless it
// is there already. A copy replaces what has its name in one step, so that
// programs that run from the old file go on.
func installTo(dir string) (program, error) {
	self, err := platform.OwnProgram()
	if err != nil {
		return program{}, err
	}
	defer self.Close()
	sum, err := hash(self)
	if err != nil {
		return program{}, fmt.Errorf("installing: %w", err)
	}
	target := filepath.Join(dir, "warder")
	if there, err := hashFile(target); err == nil && there == sum && executable(target) {
		return program{target, sum}, nil
	}
	if _, err := self.Seek(0, io.SeekStart); err != nil {
		return program{}, fmt.Errorf("installing: %w", err)
	}
	if err := copyProgram(self, target); err != nil {
		return program{}, fmt.Errorf("installing: %w", err)
	}
	return program{target, sum}, nil
}

func sameFile(f *os.File, path string) bool {
	a, errA := f.Stat()
	b, errB := os.Lstat(path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// copyProgram writes a copy beside the target and renames it.
func copyProgram(from *os.File, target string) (err error) {
	fresh, err := os.CreateTemp(filepath.Dir(target), ".warder-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(fresh.Name()))
		}
	}()
	_, err = io.Copy(fresh, from)
	err = errors.Join(err, fresh.Chmod(programMode), fresh.Sync(), fresh.Close())
	if err != nil {
		return err
	}
	return os.Rename(fresh.Name(), target)
}

// recordProgram writes install.json for a program that was installed.
// by is who set it up.
func recordProgram(r *reach, p program, unattended bool, by string) error {
	dir, err := state.CreateDir(r.places.State.Path)
	if err != nil {
		return placeFault(err)
	}
	defer func() { _ = dir.Close() }()
	socket := r.dialer.Path
	in := state.Install{
		Binary: p.path, SHA256: p.sha256, Data: r.places.Data.Path, State: r.places.State.Path,
		Config: r.places.Config.Path, Socket: socket, Unattended: unattended, SetUpBy: by, Created: r.env.Now(),
	}
	if err := state.WriteInstall(dir, in); err != nil {
		return placeFault(err)
	}
	r.install = &in
	return nil
}

// recordFault is the failure of every command where install.json says nothing
// that can be used. Nothing but setup makes it anew, and setup does not replace
// what it does not understand: it may be a newer warder's.
func recordFault(places state.Places, err error) error {
	if state.Hint(err) != "" || errors.Is(err, fs.ErrPermission) {
		return placeFault(err)
	}
	again := "warder setup"
	if _, err := os.Lstat(filepath.Join(places.State.Path, "unattended", "password")); err == nil {
		again += " --headless"
	}
	return api.Errorf(api.Internal, "%v", err).WithCause(err).WithHint(fmt.Sprintf(
		"remove that file and record the program anew; the account stays as it is: rm %s; %s",
		shellWords(filepath.Join(places.State.Path, "install.json")), again))
}

// binaryDir makes the folder that setup copies the program to. What WARDER_HOME
// holds is another account, whose program must not take the place of the
// person's own.
func binaryDir(r *reach, install bool) (string, error) {
	if !install || apart(r) {
		dir, err := state.CreateDir(filepath.Join(r.places.State.Path, "bin"))
		if err != nil {
			return "", placeFault(err)
		}
		return dir.Path(), dir.Close()
	}
	dir := userBin(r.env)
	if dir == "" {
		return "", usageError("the home directory is not known").WithHint("set HOME, or use --no-install")
	}
	if err := os.MkdirAll(dir, binMode); err != nil {
		return "", fmt.Errorf("installing: %w", err)
	}
	return dir, nil
}

// apart reports whether everything is in a folder of its own.
func apart(r *reach) bool { return r.env.Getenv("WARDER_HOME") != "" }

// notSetUp is the failure of setup for somebody who must not make an account
// that a person opens.
func notSetUp(who api.Whoami) error {
	return api.Errorf(api.Denied, "a person sets up warder, and this is %s: %s", who.Verdict, who.Why).
		WithHint("ask your user to run this in a terminal of their own: warder setup; " +
			"for a machine without people: warder setup --headless")
}
