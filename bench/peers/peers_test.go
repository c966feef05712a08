package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestPeersMask: what is timed does its work, wherever the text is cut.
func TestPeersMask(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := randomKeys(r, 20)
	text := buildLog(r, 200<<10, 5<<10, keys)
	runs, err := start(peers(), input{keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range peers() {
		var out bytes.Buffer
		values := make([]string, len(keys))
		for i, k := range keys {
			values[i] = k.key
		}
		slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) })
		w, err := p.start(&out, values)
		if err != nil {
			t.Fatal(err)
		}
		for piece := range slices.Chunk(text, 1000) {
			if _, err := w.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		marks := 0
		for _, m := range []string{mark, "[MASKED]"} {
			marks += strings.Count(out.String(), m)
		}
		// One that looks at each write alone misses what is cut.
		want := 0
		for _, v := range values {
			want += bytes.Count(text, []byte(v))
		}
		if alone := strings.HasPrefix(p.name, "Harness"); !alone && (i > 0) != (marks == want) || alone && marks < want/2 {
			t.Errorf("%s: %d marks, want %d", p.name, marks, want)
		}
		if runs[i].name != p.name {
			t.Errorf("%s runs as %s", p.name, runs[i].name)
		}
	}
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	var out bytes.Buffer
	if err := run(&out, 1<<20, 1, 1); err != nil {
		t.Fatal(err)
	}
	for _, p := range peers() {
		if !strings.Contains(out.String(), "\n"+p.name) {
			t.Errorf("no row of %s", p.name)
		}
	}
}
