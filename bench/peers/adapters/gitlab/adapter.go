// Package warderbench lets the comparison use the runner's masker, which is internal to its logger: the go command judges by
// the path of a module, and this one's lies below the logger's.
package warderbench

import (
	"io"

	"gitlab.com/gitlab-org/gitlab-runner/common/buildlogger/internal/masker"
)

// open is a writer that is never closed.
type open struct{ io.Writer }

func (open) Close() error { return nil }

// New makes a masker, its longest values first, as the runner's build does.
func New(dst io.Writer, longestFirst []string) io.WriteCloser {
	phrases := make([][]byte, len(longestFirst))
	for i, v := range longestFirst {
		phrases[len(phrases)-1-i] = []byte(v) // the last one stands before the others
	}
	return masker.New(open{dst}, phrases)
}
