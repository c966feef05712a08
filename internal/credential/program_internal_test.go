package credential

import (
	"strings"
	"testing"
)

func TestDumps(t *testing.T) {
	for line, want := range map[string]bool{
		"/usr/bin/env": true, "/usr/bin/env -i A=1": true, "/usr/bin/env -u NAME": true, "/usr/bin/env - A=1": true, "/usr/bin/env -0": true,
		"/usr/bin/env A=1 true": false, "/usr/bin/env -u NAME true": false, "/usr/bin/env -S true": false, "/usr/bin/env -uNAME true": false,
		"/usr/bin/env -0u NAME": true, "/usr/bin/env -iuNAME": true, "/usr/bin/env --uns NAME": true, "/usr/bin/env --unset=NAME": true, "/usr/bin/env -u": true,
		"/usr/bin/env -S": true, "/usr/bin/env -SA=1": true, "/usr/bin/env -vS A=1": true, "/usr/bin/env --split-string=A=1": true, "/usr/bin/env --s A=1": true,
		"/usr/bin/env --split-string=true": false, "/usr/bin/env -SA=1 true": false, `/usr/bin/env -S\c true`: false,
		"/usr/bin/env --": true, "/usr/bin/env -- true": false, "/usr/bin/env -- A=1 true": false, "/usr/bin/env --ignore-signal true": false,
		"/usr/bin/env printenv": true, "/usr/bin/env A=1 env -i": true, "/usr/bin/env -S printenv": true, "/usr/bin/env A=1 cat /proc/self/environ": true,
		"/usr/bin/printenv": true, "/usr/bin/printenv V": true, "/bin/sh -c env": false, "/bin/true": false,
		"/bin/busybox env": true, "/bin/busybox env true": false, "/bin/busybox": false,
		"/bin/cat /proc/self/environ": true, "/bin/cat /proc/1/environ": true, "/bin/cat /proc/self/status": false, "/bin/cat /proc//self/./environ": true,
		"/bin/dd if=/proc/self/environ": true, "/bin/cat ../../proc/self/environ": true, "/bin/grep -f/proc/self/environ": true, "/bin/cat /proc/self/environ.txt": false,
	} {
		argv := strings.Fields(line)
		if got := dumps(argv[0], argv); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	for text, want := range map[string]bool{"": true, " ": true, "A=1": true, "A=1 true": false, "-u NAME": true, `"printenv"`: true} {
		if argv := []string{"env", "-S", text}; dumps("/usr/bin/env", argv) != want {
			t.Errorf("-S %q: %v", text, !want)
		}
	}
	if dumps("/bin/git", []string{"git", "commit", "-m", "read /proc/self/environ"}) {
		t.Error("a text is taken for a file")
	}
}

// FuzzDumps: whatever an agent asks to run is judged, and none of it ends the daemon.
func FuzzDumps(f *testing.F) {
	for _, line := range []string{"env", "env --=x A=1", "env -", "env -S", "env --u", "env -uX -- env", "busybox", "env -S env -S env", "cat if=/proc/1/environ", ""} {
		f.Add(line)
	}
	f.Fuzz(func(_ *testing.T, line string) {
		if argv := strings.Split(line, " "); len(argv) > 0 {
			dumps("/bin/"+argv[0], argv)
		}
	})
}
