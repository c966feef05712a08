package platform

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func lockHolder(fi fs.FileInfo) int {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		return 0
	}
	file := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	pid := lockHolderIn(string(text), file)
	if stat, err := ReadProcStat(pid); err != nil || stat.State == 'Z' {
		return 0
	}
	return pid
}

// lockHolderIn finds, in the text of /proc/locks, who holds a whole-file lock
// on a file: major:minor:inode. Lines with an arrow are of those that wait.
func lockHolderIn(text, file string) int {
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // 1: FLOCK ADVISORY WRITE 4711 fe:00:9978012 0 EOF
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != file {
			continue
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 {
			return pid
		}
	}
	return 0
}
