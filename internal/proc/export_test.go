package proc

import "errors"

// ErrNoMemory is why no file is in memory alone after WithoutMemory.
var ErrNoMemory = errors.New("refused by a test")

// WithoutMemory has a program's files in a directory.
func (s *Spec) WithoutMemory() { s.noMemory = ErrNoMemory }
