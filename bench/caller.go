package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// callerPart measures how long the sixteen ancestors of a caller take to find. The processes that it needs are those of the package's own
// benchmarks, so it runs these.
func callerPart(r *report, _ string) error {
	r.step("caller: starting sixteen ancestors")
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", "Ancestry16", "-count", "3", "./internal/caller") //nolint:noctx // ends by itself
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	var rows []row
	for _, way := range []struct {
		name, text string
		budget     time.Duration
	}{
		{"ioctl", "16 ancestors by the kernel's answers about pidfds", 100 * time.Microsecond},
		{"proc", "16 ancestors by /proc", 400 * time.Microsecond},
	} {
		took, found := fastest(out, way.name)
		if !found {
			fmt.Fprintf(r.out, "  %s: this machine has no such way\n", way.text)
			continue
		}
		rows = append(rows, row{way.text, way.budget.String(), took.String(), float64(took) / float64(way.budget)})
	}
	r.show(rows)
	return nil
}

// fastest is the best time of a benchmark's runs.
func fastest(out []byte, name string) (best time.Duration, found bool) {
	for _, m := range regexp.MustCompile(`BenchmarkAncestry16/`+name+`\S*\s+\d+\s+([0-9.]+) ns/op`).FindAllSubmatch(out, -1) {
		ns, err := strconv.ParseFloat(string(m[1]), 64)
		if took := time.Duration(ns); err == nil && (!found || took < best) {
			best, found = took, true
		}
	}
	return best, found
}
