// Command bench measures what docs/performance.md promises and prints one table per part, ratios first. It is not shipped.
//
//	go run ./bench          every part
//	go run ./bench vault    one part
//
// Each part makes its own data in a temporary folder (-dir elsewhere: a real disk, not a tmpfs) and removes it.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
)

// part is one measured area.
type part struct {
	name string
	run  func(dir string) error
}

func parts() []part {
	return []part{{"vault", vaultPart}}
}

func main() {
	dir := flag.String("dir", "", "where to put the data; a temporary folder if empty")
	flag.Parse()
	if err := run(*dir, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(dir string, want []string) error {
	if len(want) > 0 && want[0] == openChild {
		return vaultChild(want[1:])
	}
	fmt.Printf("%s, %s/%s, %d cores\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	for _, p := range parts() {
		if len(want) > 0 && !slices.Contains(want, p.name) {
			continue
		}
		temp, err := os.MkdirTemp(dir, "warder-bench-")
		if err != nil {
			return err
		}
		fmt.Printf("\n%s (in %s)\n", p.name, temp)
		err = p.run(temp)
		if rmErr := os.RemoveAll(temp); err == nil {
			err = rmErr
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
