package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"

	"warder/internal/platform"
	"warder/internal/state"
)

// ownProgram looks at the file that this process runs. Its hash is made when it is asked for first.
func ownProgram() (program, error) {
	f, err := platform.OwnProgram()
	if err != nil {
		return program{}, err
	}
	fi, err := f.Stat()
	if err != nil {
		return program{}, fmt.Errorf("looking at this process's program: %w", err)
	}
	return program{file: fi, sha256: sync.OnceValue(func() string {
		defer f.Close()
		hash := sha256.New()
		if _, err := io.Copy(hash, f); err != nil {
			return ""
		}
		return hex.EncodeToString(hash.Sum(nil))
	})}, nil
}

// isRecorded says why this daemon's program is not the recorded one, "" if it is.
func (d *Daemon) isRecorded() (why string) {
	in, err := state.ReadInstall(d.state)
	if err != nil {
		return err.Error()
	}
	fi, err := os.Stat(in.Binary)
	switch {
	case err != nil:
		return fmt.Sprintf("the recorded program %s can't be looked at: %v", in.Binary, err)
	case !os.SameFile(fi, d.program.file):
		return fmt.Sprintf("the program at %s is not the one that this daemon runs, as after an update: warder setup records it, warder daemon restart runs it", in.Binary)
	case in.SHA256 != d.program.sha256():
		return fmt.Sprintf("the program at %s has another content than was recorded: if that was an update, warder setup records it", in.Binary)
	}
	return ""
}
