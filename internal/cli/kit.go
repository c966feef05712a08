package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"warder/internal/api"
	"warder/internal/secret"
)

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
		return kit.print(k.tty)
	}
	if err := errors.Join(kit.print(k.file), k.file.Sync(), k.file.Close()); err != nil {
		// The kit exists nowhere else: what there is of it stays.
		k.file = nil
		return fmt.Errorf("writing the recovery kit to %s: %w", k.path, err)
	}
	k.file = nil
	return nil
}

// print writes the text of a kit. The values go from locked memory straight to
// the writer.
func (kit *kitContent) print(w io.Writer) error {
	head := fmt.Sprintf(`
warder recovery kit, made %s

  Account        %s
  State code     %s
  Device secret  `, kit.now.UTC().Format("2006-01-02 15:04 UTC"), printable(kit.account), printable(kit.stateCode))
	tail := `
It is shown this once and kept nowhere. Write it down or print it, and keep it
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
