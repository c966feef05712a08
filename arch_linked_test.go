package warder_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Each command and hook is a process of its own, and every linked package
// initialises in each: start-up time is a feature. These lists bound what
// cmd/warder links, on Linux and without cgo.

// linkedModules are the modules of others in the executable.
var linkedModules = []string{
	"github.com/godbus/dbus/v5",
	"github.com/pelletier/go-toml/v2",
	"github.com/spf13/cobra",
	"github.com/spf13/pflag",
	"golang.org/x/crypto",
	"golang.org/x/sys",
	"golang.org/x/text",
}

// notLinked are packages of the standard library that a command line does not
// need, or not yet. One leaves this list with the command that needs it and
// with a measurement.
var notLinked = []string{
	"database/sql",
	"encoding/gob",
	"encoding/xml",
	"expvar",
	"go/parser",
	"html/template",
	"image",
	"plugin",
	"testing",
}

// linked is one package of the executable, with the module it belongs to.
type linked struct{ path, module string }

// linkedFaults compares what is linked with the lists.
func linkedFaults(packages []linked) []string {
	var faults []string
	for _, p := range packages {
		switch {
		case p.module == modulePath:
		case p.module != "" && !slices.Contains(linkedModules, p.module):
			faults = append(faults, "links module "+p.module+" ("+p.path+")")
		case p.module == "" && slices.Contains(notLinked, p.path):
			faults = append(faults, "links "+p.path)
		}
	}
	return faults
}

func TestLinkedPackages(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{with .Module}}{{.Path}}{{end}}", "./cmd/warder")
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	output, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []linked
	for line := range strings.Lines(string(output)) {
		path, module, _ := strings.Cut(strings.TrimSpace(line), " ")
		packages = append(packages, linked{path, module})
	}
	if !slices.Contains(packages, linked{"warder/internal/cli", "warder"}) {
		t.Fatal("the list does not hold warder's own packages")
	}
	for _, fault := range linkedFaults(packages) {
		t.Error("cmd/warder ", fault)
	}
}

func TestLinkedFaults(t *testing.T) {
	for _, p := range []linked{{"database/sql", ""}, {"example.org/x/y", "example.org/x"}} {
		if len(linkedFaults([]linked{p})) == 0 {
			t.Errorf("not found: %v", p)
		}
	}
	fine := []linked{{"strings", ""}, {"warder/internal/cli", "warder"}, {"github.com/spf13/cobra", "github.com/spf13/cobra"}}
	if faults := linkedFaults(fine); len(faults) > 0 {
		t.Error(faults)
	}
}
