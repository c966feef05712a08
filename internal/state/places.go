package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// MaxSocketPath is the longest path of a unix socket in bytes that works
// everywhere: macOS has 104 bytes for it with the closing NUL, Linux 108.
const MaxSocketPath = 103

// homeVariable moves everything, for another account or a home that can't be
// written to. It widens nothing: what is there is another account.
const homeVariable = "WARDER_HOME"

// Place is one directory and the reason why it is that one.
type Place struct {
	Path string
	From Origin
}

// Places are warder's directories. None of them need exist.
type Places struct {
	Data    Place // the account, which may be synced between devices
	State   Place // what belongs to this device alone: audit, outputs, keys, lock
	Config  Place // config.toml and policy.toml
	Runtime Place // the daemon's socket

	// UserRuntime is the user's runtime directory if the system made one, else
	// "". It gives Socket a short path where Runtime's is too long.
	UserRuntime string
}

// ResolvePlaces finds the places from the environment, the home directory and
// the user id. With WARDER_HOME they are its data, state, config and run; else
// each is "warder" in the directory that its XDG variable names, or in the
// default that the XDG base directory specification gives. A relative value of
// an XDG variable is ignored, as that specification asks; a relative
// WARDER_HOME is an error, since ignoring it would open another account.
//
// The runtime directory is the first of $XDG_RUNTIME_DIR and /run/user/UID that
// is a directory of this user with mode 0700, else a folder of the state
// directory: never a guessable name where others may be first. Root with the
// environment of the user who became root has that user's XDG_RUNTIME_DIR.
func ResolvePlaces(env func(string) string, home string, uid int) (Places, error) {
	return resolvePlaces(env, home, uid, func(path string) bool { return isOurs(path, uid) })
}

// resolvePlaces is ResolvePlaces with the one look at the disk given.
func resolvePlaces(env func(string) string, home string, uid int, ours func(path string) bool) (Places, error) {
	var p Places
	if uid >= 0 {
		if dir := filepath.Join("/run/user", strconv.Itoa(uid)); ours(dir) {
			p.UserRuntime = dir
		}
	}
	if base := env(homeVariable); base != "" {
		if !filepath.IsAbs(base) {
			return Places{}, fmt.Errorf("finding warder's directories: %s is %q, which is not an absolute path", homeVariable, base)
		}
		from := Origin{Kind: FromEnvironment, Name: homeVariable}
		p.Data = Place{filepath.Join(base, "data"), from}
		p.State = Place{filepath.Join(base, "state"), from}
		p.Config = Place{filepath.Join(base, "config"), from}
		p.Runtime = Place{filepath.Join(base, "run"), from}
		return p, nil
	}
	p.Data = xdgPlace(env, "XDG_DATA_HOME", home, ".local/share")
	p.State = xdgPlace(env, "XDG_STATE_HOME", home, ".local/state")
	p.Config = xdgPlace(env, "XDG_CONFIG_HOME", home, ".config")
	for _, place := range []Place{p.Data, p.State, p.Config} {
		if !filepath.IsAbs(place.Path) {
			return Places{}, errors.New("finding warder's directories: the home directory is not known: set HOME or WARDER_HOME")
		}
	}
	p.Runtime = runtimePlace(env, p, ours)
	return p, nil
}

// Account is the directory of the encrypted account, the one that may be synced.
func (p Places) Account() string { return filepath.Join(p.Data.Path, "account") }

// Socket returns the path of the daemon's socket. Where it would be longer than
// [MaxSocketPath], it is one named after the first 8 hex digits of the long
// path's SHA-256 in the user's runtime directory, so that two accounts keep two
// sockets; without such a directory it is an error.
func (p Places) Socket() (string, error) {
	path := filepath.Join(p.Runtime.Path, "warder.sock")
	if len(path) <= MaxSocketPath {
		return path, nil
	}
	if p.UserRuntime != "" {
		sum := sha256.Sum256([]byte(path))
		short := filepath.Join(p.UserRuntime, "warder", hex.EncodeToString(sum[:4])+".sock")
		if len(short) <= MaxSocketPath {
			return short, nil
		}
	}
	return "", fmt.Errorf("placing the socket: %s has %d bytes and the limit is %d: set %s to a shorter path",
		path, len(path), MaxSocketPath, homeVariable)
}

// SocketApart is [Places.Socket] for a state directory whose user has another one with the same runtime directory, as a copy
// of a home has: it lies in the state directory.
func (p Places) SocketApart() (string, error) {
	p.Runtime = Place{filepath.Join(p.State.Path, "run"), p.State.From}
	return p.Socket()
}

// xdgPlace is warder's folder in the directory named by an XDG variable, or in
// the default below home. Its path is relative if there is neither.
func xdgPlace(env func(string) string, variable, home, fallback string) Place {
	if dir := env(variable); filepath.IsAbs(dir) {
		return Place{filepath.Join(dir, "warder"), Origin{Kind: FromEnvironment, Name: variable}}
	}
	return Place{Path: filepath.Join(home, fallback, "warder")}
}

func runtimePlace(env func(string) string, p Places, ours func(string) bool) Place {
	const variable = "XDG_RUNTIME_DIR"
	if dir := env(variable); filepath.IsAbs(dir) && ours(dir) {
		return Place{filepath.Join(dir, "warder"), Origin{Kind: FromEnvironment, Name: variable}}
	}
	if p.UserRuntime != "" {
		return Place{Path: filepath.Join(p.UserRuntime, "warder")}
	}
	return Place{filepath.Join(p.State.Path, "run"), p.State.From}
}

// isOurs reports whether path is a directory that only the user uid can enter.
func isOurs(path string, uid int) bool {
	fi, err := os.Lstat(path)
	return err == nil && judge(path, fi, directory, uint32(uid)) == nil
}
