//go:build linux || darwin

package platform

import (
	"errors"
	"io"
	"os"
	osuser "os/user"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxUserTable is how much of /etc/passwd is read.
const maxUserTable = 4 << 20

// noListing is up to which number descriptors are looked at where nothing lists
// those that are open.
const noListing = 4096

func lookUpUser(uid int) user {
	id := strconv.Itoa(uid)
	u := user{name: id, home: "/", shell: "/bin/sh"}
	if entry, err := osuser.LookupId(id); err == nil {
		u.name, u.home = entry.Username, entry.HomeDir
	}
	f, err := os.Open("/etc/passwd")
	if err != nil {
		return u
	}
	defer f.Close()
	table, err := io.ReadAll(io.LimitReader(f, maxUserTable))
	if err != nil {
		return u
	}
	if shell := shellOf(string(table), id); shell != "" {
		u.shell = shell
	}
	return u
}

// shellOf finds the shell of a user in the text of /etc/passwd.
func shellOf(table, id string) string {
	for line := range strings.Lines(table) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(fields) == 7 && fields[2] == id && !strings.HasPrefix(line, "#") {
			return fields[6]
		}
	}
	return ""
}

func systemEnviron() []string { return nil }

func reexec(args, env []string) error {
	program, err := programPath()
	if err != nil {
		return err
	}
	return unix.Exec(program, append([]string{os.Args[0]}, args...), env)
}

func isolate(keep []int) error {
	unix.Umask(0o077)
	if err := os.Chdir("/"); err != nil {
		return err
	}
	fds, err := openDescriptors()
	if err != nil {
		return err
	}
	for _, fd := range fds {
		// What the runtime opened is closed on exec; what was inherited is not,
		// or it would not have been.
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0) // #nosec G115 -- a descriptor
		if fd <= 2 || slices.Contains(keep, fd) || err != nil || flags&unix.FD_CLOEXEC != 0 {
			continue
		}
		if err := unix.Close(fd); err != nil {
			return err
		}
	}
	for _, fd := range keep {
		unix.CloseOnExec(fd)
	}
	return nil
}

// openDescriptors lists at least the descriptors that are open.
func openDescriptors() ([]int, error) {
	var fds []int
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		for fd := range noListing {
			fds = append(fds, fd)
		}
		return fds, nil
	}
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			return nil, err
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

func leadSession() error {
	sid, err := unix.Getsid(0)
	if err == nil && sid == os.Getpid() {
		return nil
	}
	_, err = unix.Setsid()
	return err
}

func redirectStreams(log *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	to := log.Fd()
	return errors.Join(
		duplicate(int(null.Fd()), 0), // #nosec G115 -- descriptors
		duplicate(int(to), 1),        // #nosec G115
		duplicate(int(to), 2),        // #nosec G115
	)
}
