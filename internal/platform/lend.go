package platform

import "os"

// LentPath is the path by which this process, and what it starts, opens its
// descriptor fd anew.
func LentPath(fd int) string { return lentPath(fd) }

// CheckLending says why a [MemoryFile] can't be lent by its [LentPath]: the
// kernel or a sandbox refuses to make one, or /proc is not there or is that of
// other processes. It is nil where it can.
func CheckLending() error { return checkLending() }

// IsInMemory reports whether what is written into a directory stays in memory,
// as far as there is no swapping.
func IsInMemory(dir *os.File) (bool, error) { return isInMemory(dir) }
