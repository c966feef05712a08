package f1reader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// disk reads files and folders below a root and refuses those that others
// could write or that are not what they seem.
type disk struct{ root string }

// at is the path of a name with slashes below the root.
func (d disk) at(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

// read returns a whole file of at most limit bytes. The error is
// fs.ErrNotExist where there is none.
func (d disk) read(name string, limit int) ([]byte, error) {
	info, err := os.Lstat(d.at(name))
	if err != nil {
		return nil, err
	}
	if err := private(info, 0); err != nil {
		return nil, fmt.Errorf("refusing %s: %w", name, err)
	}
	if info.Size() > int64(limit) {
		return nil, fmt.Errorf("refusing %s: over %d bytes", name, limit)
	}
	return os.ReadFile(d.at(name))
}

// list returns the names in a folder, without unfinished writes, in order. A
// folder that is not there is empty.
func (d disk) list(name string) ([]string, error) {
	info, err := os.Lstat(d.at(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := private(info, fs.ModeDir); err != nil {
		return nil, fmt.Errorf("refusing %s: %w", name, err)
	}
	entries, err := os.ReadDir(d.at(name))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".tmp-") {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// private checks type, permissions, links and owner. A system without
// permissions or owners is not asked for them.
func private(info fs.FileInfo, want fs.FileMode) error {
	mode := info.Mode()
	if mode.Type() != want {
		return errors.New("a link or another type of file")
	}
	if runtime.GOOS == "windows" {
		return nil
	}
	if mode.Perm()&0o077 != 0 {
		return fmt.Errorf("mode is %o, which lets others in", mode.Perm())
	}
	if owner, known := statNumber(info, "Uid"); known && owner != uint64(os.Geteuid()) {
		return errors.New("of another user")
	}
	if links, known := statNumber(info, "Nlink"); known && mode.IsRegular() && links != 1 {
		return errors.New("has several hard links")
	}
	return nil
}

// statNumber reads a field of what the system says of a file, where it is
// called that: the types of this differ between systems.
func statNumber(info fs.FileInfo, field string) (n uint64, known bool) {
	stat := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if stat.Kind() != reflect.Struct {
		return 0, false
	}
	v := stat.FieldByName(field)
	if !v.IsValid() || !v.CanUint() {
		return 0, false
	}
	return v.Uint(), true
}

// nameParts splits a file's name at its last dash into two parts of hex with
// the stated numbers of digits.
func nameParts(name string, first, second int) (a, b string, ok bool) {
	at := strings.LastIndexByte(name, '-')
	if at < 0 {
		return "", "", false
	}
	a, b = name[:at], name[at+1:]
	return a, b, isHex(a, first) && isHex(b, second)
}

// isDrives reports whether a name is of the kind that cloud drives and file
// managers give their own files.
func isDrives(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"desktop.ini", "thumbs.db", "icon\r"}, strings.ToLower(name))
}

// isHex reports whether text is n digits of lower-case hex.
func isHex(text string, n int) bool {
	return len(text) == n && strings.Trim(text, "0123456789abcdef") == ""
}
