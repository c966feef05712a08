package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The watcher looks at the arguments and the environment of every process, again
// and again, for values that must not be there. Processes that are over too soon
// escape it, so it is more likely than certain to find a leak in one run.

// watcherPart is the watcher's first argument; the file that ends it follows.
const watcherPart = "@watch"

// sightings is what the watcher prints.
type sightings struct {
	Programs map[string]int // how often each was seen, by its name
	Hits     []string       // "value N in arguments of NAME", once each
}

// watchProcesses is the watcher's main function. The values to look for, as a
// JSON list, come on its standard input.
func watchProcesses(args []string) error {
	var values [][]byte
	if err := json.NewDecoder(os.Stdin).Decode(&values); err != nil {
		return err
	}
	seen := sightings{Programs: map[string]int{}}
	known := map[string]bool{}
	for {
		entries, err := filepath.Glob("/proc/[1-9]*")
		if err != nil {
			return err
		}
		for _, proc := range entries {
			seen.look(proc, values, known)
		}
		if _, err := os.Stat(args[0]); err == nil {
			return json.NewEncoder(os.Stdout).Encode(seen)
		} else if !os.IsNotExist(err) {
			return fmt.Errorf("%w: %w", fs.ErrInvalid, err)
		}
		time.Sleep(time.Millisecond) // nothing tells of new processes
	}
}

// look looks at one process.
func (s *sightings) look(proc string, values [][]byte, known map[string]bool) {
	comm, err := os.ReadFile(filepath.Join(proc, "comm"))
	if err != nil {
		return // it is over
	}
	name := string(bytes.TrimSpace(comm))
	s.Programs[name]++
	for what, file := range map[string]string{"arguments": "cmdline", "environment": "environ", "name": "comm"} {
		text, err := os.ReadFile(filepath.Join(proc, file))
		if err != nil {
			continue // it is over, or hides
		}
		for i, value := range values {
			hit := fmt.Sprintf("value %d in %s of %s", i, what, name)
			if bytes.Contains(text, value) && !known[hit] {
				known[hit] = true
				s.Hits = append(s.Hits, hit)
			}
		}
	}
}
