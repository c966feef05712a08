package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// maxCmdline and maxEnviron bound what is read of one process, in bytes. Linux
// allows an argument list with its environment at most 6 MiB, so maxEnviron
// hides nothing; of a command line only the beginning is ever looked at.
const (
	maxCmdline = 4 << 10
	maxEnviron = 8 << 20
)

// maxStatus has room for some 2000 supplementary groups, which stand before the
// last lines that are read of /proc/PID/status.
const maxStatus = 16 << 10

func readProcStat(pid int) (ProcStat, error) {
	var buf [1024]byte
	line, err := readProc(pid, "stat", buf[:])
	if err != nil {
		return ProcStat{}, err
	}
	stat, err := parseStat(line)
	if err != nil {
		return ProcStat{}, fmt.Errorf("reading the state of process %d: %w", pid, err)
	}
	return stat, nil
}

func readProcInfo(pid int) (ProcessInfo, error) {
	var buf [1024]byte // the lines stand among the first
	status, err := readProc(pid, "status", buf[:])
	if err != nil {
		return ProcessInfo{}, err
	}
	parent, err := statusNumbers(status, "PPid:")
	ids, errIDs := statusNumbers(status, "Uid:")
	if err != nil || errIDs != nil || len(parent) != 1 || len(ids) < 2 {
		return ProcessInfo{}, fmt.Errorf("reading the parent and the user of process %d: %w", pid, errNotProc)
	}
	return ProcessInfo{PID: pid, PPID: int(parent[0]), UID: uint32(ids[0]), EUID: uint32(ids[1])}, nil
}

// procStatus reads the numbers of one line of /proc/PID/status.
func procStatus(pid int, label string, buf []byte) ([]int64, error) {
	status, err := readProc(pid, "status", buf)
	if err != nil {
		return nil, err
	}
	numbers, err := statusNumbers(status, label)
	if err != nil {
		return nil, fmt.Errorf("reading the status of process %d: %w", pid, err)
	}
	return numbers, nil
}

func readProcExe(pid int) (string, error) {
	path, err := os.Readlink(procPath(pid, "exe"))
	if err != nil {
		return "", fmt.Errorf("reading the program of process %d: %w", pid, err)
	}
	return path, nil
}

func readProcCmdline(pid int) ([]string, error) {
	var buf [maxCmdline]byte
	line, err := readProc(pid, "cmdline", buf[:])
	if err != nil {
		return nil, err
	}
	var args []string
	for entry := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
		args = append(args, string(entry))
	}
	if len(line) == 0 {
		return nil, nil
	}
	return args, nil
}

func readProcEnviron(pid int, buf []byte, visit func(entry []byte) bool) error {
	f, err := openProc(pid, "environ")
	if err != nil {
		return err
	}
	defer f.close()
	if err := scanEntries(io.LimitReader(f, maxEnviron), buf, visit); err != nil {
		return fmt.Errorf("reading the environment of process %d: %w", pid, err)
	}
	return nil
}

func readProcCgroup(pid int) (string, error) {
	var buf [4096]byte
	group, err := readProc(pid, "cgroup", buf[:])
	return string(group), err
}

func samePidNamespace(pid int) (bool, error) {
	// One number for each namespace from that of /proc down to the process's.
	pids, err := procStatus(pid, "NSpid:", make([]byte, maxStatus))
	return len(pids) == 1, err
}

func procIsOwn() (bool, error) {
	path := "/proc/self/status"
	status, err := readFile(path, make([]byte, maxStatus))
	if err != nil {
		return false, err
	}
	pids, err := statusNumbers(status, "NSpid:")
	if err != nil {
		return false, fmt.Errorf("reading %s: %w", path, err)
	}
	return len(pids) == 1 && pids[0] == int64(os.Getpid()), nil
}

func bootID() (string, error) {
	var buf [64]byte
	id, err := readFile("/proc/sys/kernel/random/boot_id", buf[:])
	return string(bytes.TrimSpace(id)), err
}

func procPath(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// readProc reads a file of a process into buf, as much as fits.
func readProc(pid int, name string, buf []byte) ([]byte, error) {
	return readFile(procPath(pid, name), buf)
}

func openProc(pid int, name string) (procFile, error) { return openFile(procPath(pid, name)) }

// readFile reads a file of /proc, as much as fits into buf, by one system call:
// the kernel writes these files at once, so that a short read is their end.
func readFile(path string, buf []byte) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.close()
	n, err := f.Read(buf)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return buf[:n], nil
}

// procFile is a descriptor read by plain system calls: a judgement reads dozens
// of these tiny files, and package os would try to register each with the poller.
type procFile int

func openFile(path string) (procFile, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("opening %s: %w", path, err)
	}
	return procFile(fd), nil
}

// Read implements io.Reader.
func (f procFile) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(f), p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (f procFile) close() { _ = unix.Close(int(f)) } // nothing was written
