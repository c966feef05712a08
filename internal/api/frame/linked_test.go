package frame_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestFramesLinkNoHTTP lists what the hook's path links by using this package. net/http alone costs a process more to
// start than the whole exchange with the daemon takes.
func TestFramesLinkNoHTTP(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "warder/internal/api/frame")
	list.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(output))
	for _, p := range packages {
		if p == "net/http" || p == "crypto/tls" || p == "os/exec" || p == "warder/internal/api" {
			t.Errorf("it links %s", p)
		}
	}
	if len(packages) < 20 {
		t.Errorf("the list is no list: %q", output)
	}
}
