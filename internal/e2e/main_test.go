package e2e_test

import (
	"fmt"
	"os"
	"testing"

	"warder/internal/e2e/person"
)

// parts are the programs that this test binary plays beside those of package
// person, by the first argument.
var parts = map[string]func(args []string) error{
	readerPart:   readEverything,
	watcherPart:  watchProcesses,
	squatterPart: squat,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && parts[os.Args[1]] != nil {
		if err := parts[os.Args[1]](os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(person.Main(m))
}
