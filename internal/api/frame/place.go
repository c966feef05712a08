package frame

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"warder/internal/platform"
)

// MaxPath is the longest path of a socket in bytes (S2-38, C-34): macOS has 104 with the closing NUL, Linux 108.
const MaxPath = 103

// Suffix is what the path of every socket ends in.
const Suffix = ".sock"

// others are the rights of group and the rest of the world. A socket and its folder give them none.
const others fs.FileMode = 0o077

// PlaceError says that a socket, its folder, or what stands in their place is not to be believed: it belongs to somebody
// else, or somebody else could have put it there.
type PlaceError struct {
	Path   string
	Reason string // "is a symbolic link", "owned by uid 1000, not 0", …
	Repair string // what a person can do about it
}

// Error implements error.
func (e *PlaceError) Error() string { return fmt.Sprintf("refusing %s: %s", e.Path, e.Reason) }

// CheckPath refuses a path that no socket of warder can have: relative, too long for one of the systems, or without
// Suffix.
func CheckPath(path string) error {
	switch {
	case !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0):
		return &PlaceError{path, "is not an absolute path in its shortest form", "set WARDER_HOME to an absolute path"}
	case !strings.HasSuffix(path, Suffix):
		return &PlaceError{path, "does not end in " + Suffix, "name the socket with that ending"}
	case len(path) > MaxPath:
		return &PlaceError{
			path, fmt.Sprintf("has %d bytes, and a socket's path at most %d", len(path), MaxPath),
			"set WARDER_HOME or XDG_RUNTIME_DIR to a shorter path",
		}
	}
	return nil
}

// CheckDir refuses a socket's folder that is a link, is no folder, belongs to another user or gives others a right. A
// missing one is fs.ErrNotExist.
//
// It judges a path and holds nothing, since a socket is reached by its path alone. Whoever may rename the folder could
// exchange it afterwards; the check of the server's user id is what such an exchange can't pass.
func CheckDir(path string) error { return check(path, fs.ModeDir, ourUID()) }

// CheckSocket refuses anything but a socket that belongs to this user and gives others no right. A missing one is
// fs.ErrNotExist.
func CheckSocket(path string) error { return check(path, fs.ModeSocket, ourUID()) }

func ourUID() uint32 { return uint32(os.Geteuid()) }

func check(path string, want fs.FileMode, owner uint32) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if is := fi.Mode().Type(); is != want {
		return &PlaceError{path, "is " + kindName(is), "see what it is, then move it away: ls -ld " + quote(path)}
	}
	uid, _, ok := platform.Owner(fi)
	if !ok {
		return nil // no owners and modes on this system; the check of the server's user id fails there
	}
	if uid != owner {
		return &PlaceError{
			path, fmt.Sprintf("owned by uid %d, not %d", uid, owner),
			fmt.Sprintf("run warder as uid %d, or set WARDER_HOME to a directory of your own; a container that has it mounted needs that uid", uid),
		}
	}
	if perm := fi.Mode().Perm(); perm&others != 0 {
		exact := 0o700
		if want == fs.ModeSocket {
			exact = 0o600
		}
		return &PlaceError{
			path, fmt.Sprintf("loose mode %04o, want %04o", perm, exact),
			fmt.Sprintf("chmod %o %s", exact, quote(path)),
		}
	}
	return nil
}

func kindName(mode fs.FileMode) string {
	switch mode {
	case 0:
		return "a regular file"
	case fs.ModeDir:
		return "a folder"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a FIFO"
	case fs.ModeSocket:
		return "a socket"
	default:
		return "a device"
	}
}

// quote makes path one word for a shell.
func quote(path string) string { return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'" }
