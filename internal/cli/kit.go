package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"warder/internal/api"
	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/state"
)

// kitPending is the file in the state directory that says that an account is
// made whose recovery kit nobody has: it is there from before the account is
// made until the kit is out.
const kitPending = "kit.pending"

// markPending says that a kit is about to be owed.
func markPending(places state.Places) error {
	dir, err := state.CreateDir(places.State.Path)
	if err != nil {
		return placeFault(err)
	}
	defer func() { _ = dir.Close() }()
	err = dir.WriteNew(kitPending, []byte("The recovery kit of the account is not written yet.\n"))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return placeFault(err)
	}
	return nil
}

// isKitPending reports whether there is an account whose kit nobody has.
func isKitPending(places state.Places) bool {
	_, err := os.Lstat(filepath.Join(places.State.Path, kitPending))
	return err == nil
}

// kitIsOut says that somebody has the kit. A mark that stays all the same costs
// a kit that is made anew.
func kitIsOut(places state.Places) {
	_ = os.Remove(filepath.Join(places.State.Path, kitPending))
}

// holding keeps the signals that would end this process from doing so, for as
// long as a kit exists nowhere but in it. Passwords are asked for with signals
// of their own and can be broken off all the same.
type holding struct{ signals chan os.Signal }

// holdSignals begins to hold them. Those that are ignored, as under nohup, stay
// so.
func holdSignals() *holding {
	h := &holding{make(chan os.Signal, 1)}
	for _, s := range platform.EndSignals() {
		if !signal.Ignored(s) {
			signal.Notify(h.signals, s)
		}
	}
	return h
}

// arrived is the outcome of a command that was told to end meanwhile, before it
// did what can't be broken off.
func (h *holding) arrived() error {
	select {
	case <-h.signals:
		return outcome(exitInterrupted)
	default:
		return nil
	}
}

// release lets signals end the process again. One that was held is forgotten:
// what it would have broken off is done.
func (h *holding) release() { signal.Stop(h.signals) }

// kitContent is what stands in a recovery kit. values are the device secret and
// the recovery code.
type kitContent struct {
	account, stateCode string
	values             []secret.Value
	now                time.Time
}

// kitTarget is where a kit goes: to the terminal, or into a file that is made
// before anything else is done, so that no kit is lost to a path that does not
// work.
type kitTarget struct {
	tty  io.Writer
	path string
	file *os.File
}

// newKitTarget prepares the place of a kit. c may be nil if path is not empty.
func newKitTarget(c *console, path string) (*kitTarget, error) {
	if path == "" {
		return &kitTarget{tty: c.tty}, nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, usageError("--kit-file: %v", err)
	}
	f, err := os.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, api.Errorf(api.Exists, "%s is there already", full).WithHint("name a new file: a kit overwrites nothing")
	case err != nil:
		return nil, usageError("--kit-file: %v", err).WithHint("name a new file in a folder that you may write")
	}
	return &kitTarget{path: full, file: f}, f.Chmod(0o600)
}

// abandon removes the file if no kit was written.
func (k *kitTarget) abandon() {
	if k.file == nil {
		return
	}
	_ = k.file.Close()
	_ = os.Remove(k.path)
	k.file = nil
}

// write writes the kit. It is the only time that these values are shown.
func (k *kitTarget) write(kit kitContent) error {
	if len(kit.values) != 2 {
		return api.Errorf(api.Internal, "the daemon answered with %d values in place of a kit", len(kit.values))
	}
	if k.file == nil {
		return kit.print(k.tty, "It is shown this once and kept nowhere. Write it down or print it")
	}
	if err := errors.Join(kit.print(k.file, "It is kept nowhere but in this file. Move the file, or print it and remove it"), k.file.Sync(), k.file.Close()); err != nil {
		// The kit exists nowhere else: what there is of it stays.
		k.file = nil
		return fmt.Errorf("writing the recovery kit to %s: %w", k.path, err)
	}
	k.file = nil
	return nil
}

// print writes the text of a kit, with where it is kept. The values go from locked memory straight to
// the writer.
func (kit *kitContent) print(w io.Writer, kept string) error {
	head := fmt.Sprintf(`
warder recovery kit, made %s

  Account        %s
  State code     %s
  Device secret  `, kit.now.UTC().Format("2006-01-02 15:04 UTC"), printable(kit.account), printable(kit.stateCode))
	tail := `
` + kept + `, and keep it
away from this machine: with it and a new password the account can be opened
again (warder unlock --recovery); without it a lost password loses everything.

`
	if _, err := io.WriteString(w, head); err != nil {
		return err
	}
	if err := printValue(w, kit.values[0]); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "  Recovery code  "); err != nil {
		return err
	}
	if err := printValue(w, kit.values[1]); err != nil {
		return err
	}
	_, err := io.WriteString(w, tail)
	return err
}
