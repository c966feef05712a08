package daemon

import (
	"encoding/json"
	"errors"
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
	Files   map[string]string `json:"files"` // by path: the hash of what it says
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

// envFiles keeps which env files a person has confirmed.
type envFiles struct{ dir *state.Dir }

func (e envFiles) Confirmed(file string) (hash string, err error) {
	known, err := readConfirmed(e.dir)
	return known.Files[file], err
}

func (e envFiles) Confirm(file, hash string) error {
	known, err := readConfirmed(e.dir)
	if err != nil {
		return err
	}
	known.Files[file] = hash
	return known.write(e.dir)
}
