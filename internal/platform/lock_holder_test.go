//go:build linux

package platform

import "testing"

// TestLockHolderIn reads what the kernel says about locks.
func TestLockHolderIn(t *testing.T) {
	const text = "1: FLOCK  ADVISORY  WRITE 4711 fe:00:99 0 EOF\n" +
		"1: -> FLOCK  ADVISORY  WRITE 4712 fe:00:99 0 EOF\n" +
		"2: POSIX  ADVISORY  WRITE 4713 fe:00:98 0 EOF\n" +
		"3: FLOCK  ADVISORY  WRITE 0 fe:00:97 0 EOF\n" +
		"4: FLOCK\n"
	for file, want := range map[string]int{"fe:00:99": 4711, "fe:00:98": 0, "fe:00:97": 0, "fe:01:99": 0} {
		if got := lockHolderIn(text, file); got != want {
			t.Errorf("%s: %d, want %d", file, got, want)
		}
	}
}
