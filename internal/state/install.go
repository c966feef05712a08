package state

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"
)

const (
	// installFile holds the record, in the state directory.
	installFile = "install.json"

	installVersion = 1
	installLimit   = 64 << 10
)

// ErrNoInstall says that nothing was set up here.
var ErrNoInstall = errors.New("no install.json: warder was not set up here")

// Install records which program serves this device and where everything is. "warder setup" writes it. Whoever starts the
// daemon starts this program, and only this program may take the place of a daemon that runs.
//
// The file is as trustworthy as the state directory: another process of the same user could write it.
type Install struct {
	Version    int       `json:"version"`
	Binary     string    `json:"binary"` // absolute path
	SHA256     string    `json:"sha256"` // of the program when it was recorded, 64 hex digits
	Data       string    `json:"data"`
	State      string    `json:"state"`
	Config     string    `json:"config"`
	Socket     string    `json:"socket"`
	Unattended bool      `json:"unattended"`
	SetUpBy    string    `json:"set_up_by,omitempty"` // the verdict on who ran setup, and a client's name
	Created    time.Time `json:"created"`
}

// ReadInstall reads the record in the state directory: [ErrNoInstall] if there is none.
func ReadInstall(dir *Dir) (Install, error) {
	text, err := dir.Read(installFile, installLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return Install{}, ErrNoInstall
	}
	if err != nil {
		return Install{}, fmt.Errorf("reading the record of the installation: %w", err)
	}
	in, err := decodeInstall(text)
	if err != nil {
		return Install{}, fmt.Errorf("reading %s: %w", filepath.Join(dir.Path(), installFile), err)
	}
	return in, nil
}

// WriteInstall writes the record, in the place of an older one. Version is filled in.
func WriteInstall(dir *Dir, in Install) error {
	in.Version = installVersion
	in.Created = in.Created.UTC().Truncate(time.Second)
	if err := in.check(); err != nil {
		return fmt.Errorf("recording the installation: %w", err)
	}
	text, err := json.MarshalIndent(in, "", "  ")
	if err != nil {
		return fmt.Errorf("recording the installation: %w", err)
	}
	if err := dir.Replace(installFile, append(text, '\n')); err != nil {
		return fmt.Errorf("recording the installation: %w", err)
	}
	return nil
}

// decodeInstall reads a record. One of a newer version is refused; members that are not known are, too, since nothing may
// stand in this file that its reader does not understand.
func decodeInstall(text []byte) (Install, error) {
	var v struct{ Version int }
	if err := json.Unmarshal(text, &v); err != nil {
		return Install{}, fmt.Errorf("not JSON: %w", err)
	}
	if v.Version != installVersion {
		return Install{}, fmt.Errorf("it has version %d, this warder reads %d", v.Version, installVersion)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	var in Install
	if err := decoder.Decode(&in); err != nil {
		return Install{}, err
	}
	if decoder.More() {
		return Install{}, errors.New("it holds more than one value")
	}
	return in, in.check()
}

// check says what is wrong with a record.
func (in Install) check() error {
	for _, place := range []struct{ name, path string }{
		{"binary", in.Binary},
		{"data", in.Data},
		{"state", in.State},
		{"config", in.Config},
		{"socket", in.Socket},
	} {
		if !filepath.IsAbs(place.path) || filepath.Clean(place.path) != place.path || strings.ContainsRune(place.path, 0) {
			return fmt.Errorf("%s is %s, not an absolute path in its shortest form", place.name, excerpt(place.path))
		}
	}
	if sum, err := hex.DecodeString(in.SHA256); err != nil || len(sum) != 32 || strings.ToLower(in.SHA256) != in.SHA256 {
		return errors.New("sha256 is not 64 hex digits")
	}
	return nil
}
