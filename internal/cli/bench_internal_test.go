package cli

import (
	"io"
	"testing"
)

// BenchmarkVersion is what the shortest command costs inside the process: the
// whole tree is built for each.
func BenchmarkVersion(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		Run(b.Context(), Env{Out: io.Discard, Err: io.Discard, Getenv: func(string) string { return "" }}, []string{"version"})
	}
}
