package main

import (
	"bytes"
	"io"
)

const mark = "****"

// lineFront hands whole lines to a function, for what can't be cut into writes.
type lineFront struct {
	dst  io.Writer
	hide func(line []byte) []byte
	held []byte
}

func (l *lineFront) Write(p []byte) (int, error) {
	for rest := p; ; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			l.held = append(l.held, rest...)
			return len(p), nil
		}
		line := rest[:end]
		if len(l.held) > 0 {
			l.held = append(l.held, line...)
			line = l.held
		}
		if _, err := l.dst.Write(l.hide(line)); err != nil {
			return 0, err
		}
		l.held, rest = l.held[:0], rest[end:]
	}
}

func (l *lineFront) Close() error {
	_, err := l.dst.Write(l.hide(l.held))
	return err
}

// place is where a value stands.
type place struct{ start, end int }

// blockFront is for libraries that search a piece of memory: it holds back what the longest value may begin in.
type blockFront struct {
	dst     io.Writer
	longest int
	search  func(text []byte, found []place) []place // in their order, none within another
	held    []byte
	found   []place
}

func (b *blockFront) Write(p []byte) (int, error) {
	b.held = append(b.held, p...)
	return len(p), b.pass(max(0, len(b.held)-b.longest+1))
}

func (b *blockFront) Close() error { return b.pass(len(b.held)) }

// pass hands on what stands before end, and the values that begin there as marks.
func (b *blockFront) pass(end int) error {
	done := 0
	b.found = b.search(b.held, b.found[:0])
	for _, f := range b.found {
		if f.start >= end {
			break
		}
		if f.start < done {
			continue
		}
		if _, err := b.dst.Write(b.held[done:f.start]); err != nil {
			return err
		}
		if _, err := io.WriteString(b.dst, mark); err != nil {
			return err
		}
		done = f.end
	}
	if done < end {
		if _, err := b.dst.Write(b.held[done:end]); err != nil {
			return err
		}
		done = end
	}
	b.held = append(b.held[:0], b.held[done:]...)
	return nil
}
