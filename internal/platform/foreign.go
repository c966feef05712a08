package platform

import (
	"os"
	"path/filepath"
)

// ForeignDir finds the directory that explains by its owner and mode why this process may not reach path: one of another
// user that others may not enter. found is false where it is none of these, as in a sandbox, which refuses what the modes
// allow.
func ForeignDir(path string) (dir string, owner uint32, found bool) {
	for dir = filepath.Dir(path); ; dir = filepath.Dir(dir) {
		fi, err := os.Stat(dir)
		if err != nil {
			if dir == filepath.Dir(dir) {
				return "", 0, false
			}
			continue
		}
		owner, _, known := Owner(fi)
		if !known || owner == uint32(os.Geteuid()) || fi.Mode().Perm()&0o001 != 0 { // #nosec G115 -- a user id
			return "", 0, false
		}
		return dir, owner, true
	}
}
