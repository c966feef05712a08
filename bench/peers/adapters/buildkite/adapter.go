// Package warderbench lets the comparison use the agent's masker, which is internal to it: the go command judges by the path
// of a module, and this one's lies below the agent's.
package warderbench

import (
	"io"

	"github.com/buildkite/agent/v3/internal/replacer"
)

// Masker hides values in what is written to it.
type Masker struct{ *replacer.Replacer }

// New makes a masker that puts mark in the place of each value.
func New(dst io.Writer, values []string, mark string) Masker {
	return Masker{replacer.New(dst, values, func([]byte) []byte { return []byte(mark) })}
}

// Close passes on what is held back.
func (m Masker) Close() error { return m.Flush() }
