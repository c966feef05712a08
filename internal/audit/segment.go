package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"warder/internal/state"
)

// The log is a row of segments, each named after its first record's number.

const (
	segmentDigits = 16
	segmentSuffix = ".jsonl"

	// blockSize is how much of a segment is read at once.
	blockSize = 256 << 10
)

// segment is one file of the log.
type segment struct {
	first uint64 // number of its first record
	size  int64  // bytes, when it was looked at
}

func segmentName(first uint64) string {
	return fmt.Sprintf("%0*d%s", segmentDigits, first, segmentSuffix)
}

// parseSegment reads what segmentName writes and nothing else.
func parseSegment(name string) (first uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != segmentDigits {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0 && first <= maxSeq && segmentName(first) == name
}

// listTries bounds how often the directory is listed because a segment was
// rotated away between its name and its size: then a newer one is missing too.
const listTries = 10

// segments lists the log's files in order. Other files are not the log's.
func segments(dir *state.Dir) (segs []segment, err error) {
	for range listTries {
		segs, err = listSegments(dir)
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return segs, err
}

func listSegments(dir *state.Dir) ([]segment, error) {
	names, err := dir.List() // sorted, and so are the numbers: they have equal length
	if err != nil {
		return nil, err
	}
	var segs []segment
	for _, name := range names {
		first, ok := parseSegment(name)
		if !ok {
			continue
		}
		size, err := fileSize(dir, name)
		if err != nil {
			return nil, err
		}
		segs = append(segs, segment{first, size})
	}
	return segs, nil
}

func fileSize(dir *state.Dir, name string) (int64, error) {
	f, err := dir.OpenRead(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return fi.Size(), nil
}

// total is the size of segments together.
func total(segs []segment) (bytes int64) {
	for _, s := range segs {
		bytes += s.size
	}
	return bytes
}

// errLongLine says that no newline came within MaxLine bytes.
var errLongLine = errors.New("a line is too long for a record")

// blocks cuts what it reads into blocks of whole lines.
type blocks struct {
	r io.Reader
	// rest is what has no newline yet: after the end, an unfinished line.
	rest []byte
}

// next returns whole lines with their newlines, or io.EOF. It reads into into if
// that is large enough, else into memory of its own. After errLongLine there is
// no reading on.
func (b *blocks) next(into []byte) ([]byte, error) {
	for {
		n := len(b.rest)
		if cap(into) < n+blockSize {
			into = make([]byte, n+blockSize)
		}
		buf := into[:n+blockSize]
		copy(buf, b.rest) // the rest may lie in into itself
		m, err := io.ReadFull(b.r, buf[n:])
		buf = buf[:n+m]
		end := bytes.LastIndexByte(buf, '\n') + 1
		b.rest = buf[end:]
		switch {
		case end > 0:
			return buf[:end], nil
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil, io.EOF
		case err != nil:
			return nil, err
		case len(b.rest) > MaxLine:
			return nil, errLongLine
		}
	}
}

// cutLine takes the first line off block, without its newline.
func cutLine(block []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(block, []byte("\n"))
	return line, rest
}

// tailLine is a line that was found from the end.
type tailLine struct {
	offset int64
	text   []byte // without the newline; nil if it is too long for a record
	whole  bool   // the newline is there
}

// linesBackward visits the lines of a segment from its end, until visit has seen
// enough.
func linesBackward(f io.ReaderAt, size int64, visit func(tailLine) (enough bool)) error {
	w := window{f: f, pos: size}
	for {
		for l, ok := w.last(); ok; l, ok = w.last() {
			if visit(l) {
				return nil
			}
		}
		if w.pos == 0 {
			return nil
		}
		if err := w.grow(); err != nil {
			return fmt.Errorf("reading the end of the log: %w", err)
		}
	}
}

// window is a piece of a segment that moves towards its beginning.
type window struct {
	f    io.ReaderAt
	pos  int64  // where buf begins
	buf  []byte // as far as the end of the last line that was not visited
	long bool   // that line is too long, and the end of it is not in buf
}

// grow reads the block before the window.
func (w *window) grow() error {
	if len(w.buf) > MaxLine+1 {
		w.long = true
		w.buf = nil
	}
	n := min(blockSize, w.pos)
	buf := make([]byte, int(n)+len(w.buf))
	w.pos -= n
	if _, err := w.f.ReadAt(buf[:n], w.pos); err != nil {
		return err
	}
	copy(buf[n:], w.buf)
	w.buf = buf
	return nil
}

// last takes the last line off the window, if all of it is there.
func (w *window) last() (l tailLine, ok bool) {
	l.text = w.buf
	if !w.long {
		l.text, l.whole = bytes.CutSuffix(w.buf, []byte("\n"))
	}
	start := bytes.LastIndexByte(l.text, '\n') + 1
	if start == 0 && (w.pos > 0 || len(w.buf) == 0) {
		return tailLine{}, false
	}
	l.offset, l.text = w.pos+int64(start), l.text[start:]
	if w.long || len(l.text) > MaxLine {
		l.text, l.whole = nil, false
	}
	w.buf, w.long = w.buf[:start], false
	return l, true
}
