package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The reader is a program of the same user that reads everything there is to
// read of another process and of its files, and looks for values in it. It is
// this test binary, started as readerPart.

// readerPart is the reader's first argument; the pid of the process and the
// folders to read follow.
const readerPart = "@read"

// findings is what the reader prints.
type findings struct {
	Read   []string // what could be read
	Denied []string // what could not
	Hits   []string // where a value was
}

// sought is one value in one form that the reader looks for.
type sought struct {
	Name string // of value and form, for the report
	Text []byte
}

// readEverything is the reader's main function. What to look for, as a JSON list
// of sought, comes on its standard input.
func readEverything(args []string) error {
	r := &reader{}
	if err := json.NewDecoder(os.Stdin).Decode(&r.values); err != nil {
		return err
	}
	proc := filepath.Join("/proc", args[0])
	r.memory(proc)
	r.tree(proc)
	for _, dir := range args[1:] {
		r.tree(dir)
	}
	return json.NewEncoder(os.Stdout).Encode(r.found)
}

// reader collects findings.
type reader struct {
	values []sought
	found  findings
}

// tree reads all files and sockets below a folder, and what its links point to
// where that can be opened.
func (r *reader) tree(root string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			r.found.Denied = append(r.found.Denied, path)
			return nil
		case entry.IsDir():
			if path != root && strings.HasPrefix(root, "/proc") && strings.HasSuffix(path, "/net") {
				return filepath.SkipDir // the machine's, not the process's
			}
		case entry.Type()&fs.ModeSocket != 0:
			r.socket(path)
		case strings.HasPrefix(root, "/proc") && path == filepath.Join(root, "mem"):
			// read by memory
		default:
			r.file(path)
		}
		return nil
	})
}

// maxRead bounds what is read of one file: some in /proc have no end.
const maxRead = 64 << 20

// file reads one file, or what a link points to.
func (r *reader) file(path string) {
	f, err := os.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		r.found.Denied = append(r.found.Denied, path)
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.IsDir() || info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 {
		return // a device or a pipe waits for somebody to write
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRead))
	r.look(path, text, err)
}

// look searches a text.
func (r *reader) look(where string, text []byte, err error) {
	if err != nil && len(text) == 0 {
		r.found.Denied = append(r.found.Denied, where)
		return
	}
	r.found.Read = append(r.found.Read, where)
	for _, value := range r.values {
		if at := bytes.Index(text, value.Text); at >= 0 {
			r.found.Hits = append(r.found.Hits, fmt.Sprintf("%s: %s at byte %d", where, value.Name, at))
		}
	}
}

// socket connects, says nothing sensible, and reads what comes.
func (r *reader) socket(path string) {
	conn, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		r.found.Denied = append(r.found.Denied, path)
		return
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
	text, _ := io.ReadAll(io.LimitReader(conn, maxRead))
	r.look(path, text, nil)
}

// memory reads every mapping of a process.
func (r *reader) memory(proc string) {
	maps, err := os.Open(filepath.Join(proc, "maps"))
	if err != nil {
		r.found.Denied = append(r.found.Denied, filepath.Join(proc, "mem"))
		return
	}
	defer maps.Close()
	mem, err := os.Open(filepath.Join(proc, "mem"))
	if err != nil {
		r.found.Denied = append(r.found.Denied, filepath.Join(proc, "mem"))
		return
	}
	defer mem.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to uint64
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x", &from, &to); err != nil {
			continue
		}
		text, err := readRange(mem, from, to)
		r.look(fmt.Sprintf("%s/mem %s", proc, lines.Text()), text, err)
	}
}

// readRange reads what it can of a mapping.
func readRange(mem *os.File, from, to uint64) ([]byte, error) {
	text := make([]byte, min(to-from, maxRead))
	n, err := mem.ReadAt(text, int64(from))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return text[:n], err
}
