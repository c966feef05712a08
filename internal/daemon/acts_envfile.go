package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"warder/internal/api"
	"warder/internal/state"
)

// confirmedFile holds the env files whose references a person confirmed, each with what its references were.
const (
	confirmedFile    = "envfiles.json"
	maxConfirmedFile = 1 << 20
)

// confirmed is the content of that file.
type confirmed struct {
	Version int               `json:"version"`
	Files   map[string]string `json:"files"` // by path: setHash
}

// readConfirmed reads the file. One that can't be read confirms nothing, and is an error, so that it is not written over.
func readConfirmed(dir *state.Dir) (confirmed, error) {
	c := confirmed{Version: 1, Files: map[string]string{}}
	text, err := dir.Read(confirmedFile, maxConfirmedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(text, &c); err != nil || c.Version != 1 || c.Files == nil {
		return confirmed{}, api.Errorf(api.Integrity, "%s can't be read, so no env file counts as confirmed", confirmedFile).
			WithHint("remove it and confirm the files again").WithCause(err)
	}
	return c, nil
}

func (c *confirmed) write(dir *state.Dir) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return dir.Replace(confirmedFile, append(text, '\n'))
}

// setHash is that of the names and references of an env file, in their order, and of what it sets itself that programs take code or
// trust from.
func setHash(refs []api.RunRef) string {
	h := sha256.New()
	for _, r := range refs {
		sum := ""
		if steers(r) {
			sum = r.Sum
		}
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s%d:%s", len(r.Var), r.Var, len(r.Ref), r.Ref, len(sum), sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}
