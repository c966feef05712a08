package credential

import (
	"strings"
	"testing"
)

func TestDumps(t *testing.T) {
	for line, want := range map[string]bool{
		"/usr/bin/env": true, "/usr/bin/env -i A=1": true, "/usr/bin/env -u NAME": true, "/usr/bin/env - A=1": true, "/usr/bin/env -0": true,
		"/usr/bin/env A=1 true": false, "/usr/bin/env -u NAME true": false, "/usr/bin/env -S true": false,
		"/usr/bin/printenv": true, "/usr/bin/printenv V": true, "/bin/sh -c env": false, "/bin/true": false,
		"/bin/cat /proc/self/environ": true, "/bin/cat /proc/1/environ": true, "/bin/cat /proc/self/status": false,
	} {
		argv := strings.Fields(line)
		if got := dumps(argv[0], argv); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
}
