package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

var errNotProc = errors.New("not in the form of /proc")

// parseStat reads the one line of /proc/PID/stat. The name stands in brackets
// and may itself hold brackets, spaces and line ends: it ends at the last one.
func parseStat(line []byte) (ProcStat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return ProcStat{}, errNotProc
	}
	pid, ok := number(bytes.TrimSpace(line[:open]))
	if !ok {
		return ProcStat{}, errNotProc
	}
	stat := ProcStat{PID: int(pid), Comm: string(line[open+1 : end])}
	const last = 19
	n := 0
	for field := range bytes.FieldsSeq(line[end+1:]) {
		if !stat.setField(n, field) {
			return ProcStat{}, errNotProc
		}
		if n == last {
			return stat, nil
		}
		n++
	}
	return ProcStat{}, errNotProc
}

// setField takes one field, numbered from the third as proc(5) counts them.
func (s *ProcStat) setField(n int, field []byte) bool {
	if n == 0 {
		s.State = field[0]
		return len(field) == 1 && 'A' <= s.State && s.State <= 'z'
	}
	value, ok := number(field)
	switch n {
	case 1:
		s.PPID = int(value)
	case 3:
		s.Session = int(value)
	case 4:
		s.TTY = int(value)
	case 19:
		s.Start = uint64(value)
		return ok && value >= 0
	default:
		return true // fields that nobody asks for
	}
	return ok
}

// number reads a decimal number without leaving anything for the collector: a
// judgement reads hundreds.
func number(text []byte) (value int64, ok bool) {
	digits := bytes.TrimPrefix(text, []byte("-"))
	if len(digits) == 0 || len(digits) > 18 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		value = 10*value + int64(c-'0')
	}
	if len(digits) < len(text) {
		value = -value
	}
	return value, true
}

// statusNumbers returns the numbers of one line of /proc/PID/status, such as
// "Uid:". The name of a program, which its line escapes, can't fake another.
func statusNumbers(status []byte, label string) ([]int64, error) {
	for line := range bytes.Lines(status) {
		if !bytes.HasPrefix(line, []byte(label)) {
			continue
		}
		var numbers []int64
		for field := range bytes.FieldsSeq(line[len(label):]) {
			n, ok := number(field)
			if !ok {
				return nil, fmt.Errorf("%w: %s", errNotProc, label)
			}
			numbers = append(numbers, n)
		}
		return numbers, nil
	}
	return nil, fmt.Errorf("%w: no line %s", errNotProc, label)
}

// scanEntries calls visit with each NUL-terminated entry that r holds, the last
// one even without its NUL, until visit returns false. An entry that does not
// fit into buf comes cut to its length. It wipes buf at the end.
func scanEntries(r io.Reader, buf []byte, visit func(entry []byte) bool) error {
	defer clear(buf)
	s := entryScanner{buf: buf, visit: visit}
	for {
		n, err := r.Read(s.buf[s.filled:])
		s.filled += n
		ended := errors.Is(err, io.EOF)
		if err != nil && !ended {
			return err
		}
		if !s.entries(ended) || ended {
			return nil
		}
	}
}

// entryScanner cuts a stream into entries.
type entryScanner struct {
	buf      []byte
	filled   int  // bytes of buf in use
	skipping bool // the rest of an entry that was too long
	visit    func(entry []byte) bool
}

// entries visits what is complete, and what never will be, and keeps the rest.
// It reports whether to go on.
func (s *entryScanner) entries(ended bool) bool {
	rest := s.buf[:s.filled]
	for {
		entry, after, found := bytes.Cut(rest, []byte{0})
		if !found {
			break
		}
		if !s.show(entry) {
			return false
		}
		rest, s.skipping = after, false
	}
	full := len(rest) == len(s.buf)
	if (full || ended && len(rest) > 0) && !s.show(rest) {
		return false
	}
	if full {
		rest, s.skipping = nil, true
	}
	s.filled = copy(s.buf, rest)
	return true
}

func (s *entryScanner) show(entry []byte) bool { return s.skipping || s.visit(entry) }
