package platform_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"warder/internal/platform"
)

func TestIsGoRun(t *testing.T) {
	key := "ab" + strings.Repeat("0", 62)
	for path, want := range map[string]bool{
		"/tmp/go-build123/b001/exe/warder":                true,
		"/home/u/.cache/go-build/ab/" + key + "-d/warder": true,
		"/srv/cache/ab/" + key + "-d/warder":              true,
		"/srv/cache/cd/" + key + "-d/warder":              false, // no cache has it there
		"/srv/cache/ab/" + key[:60] + "-d/warder":         false,
		"/home/u/.local/bin/warder":                       false,
		"/usr/bin/go-build":                               false, // a program of that name
		"/":                                               false,
		"warder":                                          false,
		"":                                                false,
	} {
		if got := platform.IsGoRun(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// TestCleanEnvironTakesNothing sets every name that it gives, and more.
func TestCleanEnvironTakesNothing(t *testing.T) {
	before := platform.CleanEnviron()
	for _, name := range []string{"HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "GODEBUG", "LC_ALL"} {
		t.Setenv(name, "/hostile")
	}
	after := platform.CleanEnviron()
	if !slices.Equal(before, after) {
		t.Errorf("got %q, was %q", after, before)
	}
	for _, entry := range after {
		if strings.Contains(entry, "hostile") || strings.HasSuffix(entry, "=") && !strings.HasPrefix(entry, "SYSTEMROOT") {
			t.Errorf("it has %s", entry)
		}
	}
	if platform.HasCleanEnviron() {
		t.Error("this process passes for clean")
	}
}

func TestSinceBootGoesOn(t *testing.T) {
	first, err := platform.SinceBoot()
	if err != nil {
		t.Skip(err)
	}
	second, err := platform.SinceBoot()
	must(t, err)
	if first <= 0 || second < first {
		t.Errorf("%s, then %s", first, second)
	}
}

// TestOwnProgramIsThisOne compares with what the system calls the executable.
func TestOwnProgramIsThisOne(t *testing.T) {
	f, err := platform.OwnProgram()
	must(t, err)
	defer f.Close()
	path, err := os.Executable()
	must(t, err)
	named, err := os.Stat(path)
	must(t, err)
	own, err := f.Stat()
	must(t, err)
	if !os.SameFile(named, own) {
		t.Errorf("not the file at %s", path)
	}
	of, err := platform.ProcProgram(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	if !os.SameFile(of, own) {
		t.Error("a process has two programs")
	}
}
