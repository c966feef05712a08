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
		return sumOf(f)
	})}, nil
}

// sumOf is the SHA-256 of a file as install.json has it; "" if it can't be read.
func sumOf(f io.Reader) string {
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return ""
	}
	return hex.EncodeToString(hash.Sum(nil))
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

// programs knows which processes run the recorded program: by its file, or by its content where it was copied. A program
// that runs can't be written to, so a hash that was made of its file holds as long as that file is the same one.
type programs struct {
	state *state.Dir

	mu     sync.Mutex
	hashes map[string]string // by file identity
}

// maxHashes bounds what is kept of files: few copies of one program are ever run.
const maxHashes = 64

func newPrograms(dir *state.Dir) *programs { return &programs{state: dir, hashes: map[string]string{}} }

// has says whether a client runs the recorded program. It has to be asked before that client hides.
func (p *programs) has(c *client) bool {
	in, err := state.ReadInstall(p.state)
	if err != nil || c.program == nil || c.peer == nil {
		return false
	}
	want, err := os.Stat(in.Binary)
	if err != nil {
		return false
	}
	if os.SameFile(want, c.program) {
		return true
	}
	return want.Size() == c.program.Size() && p.hash(c) == in.SHA256
}

// hash is that of the file that a client runs.
func (p *programs) hash(c *client) string {
	key, ok := platform.FileIdentity(c.program)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.hashes[key]; ok && known != "" {
		return known
	}
	f, err := platform.OpenProcProgram(c.peer.PID())
	if err != nil || !c.peer.Alive() {
		return ""
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !os.SameFile(fi, c.program) {
		return ""
	}
	sum := sumOf(f)
	if ok && len(p.hashes) < maxHashes {
		p.hashes[key] = sum
	}
	return sum
}
