package main

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strings"

	bobusumisu "github.com/BobuSumisu/aho-corasick"
	buildkite "github.com/buildkite/agent/v3/warderbench"
	coregx "github.com/coregx/ahocorasick"
	"github.com/harness/lite-engine/logstream"
	petar "github.com/petar-dambovaliev/aho-corasick"
	gitlab "gitlab.com/gitlab-org/gitlab-runner/common/buildlogger/warderbench"

	"warder/internal/mask"
	"warder/internal/secret"
)

// peer is a masker.
type peer struct {
	name string
	// most is how many values it can be given in reasonable time and memory; 0: any number.
	most int
	// start makes a writer that hides values, the longest first, in what it passes to dst.
	start func(dst io.Writer, values []string) (io.WriteCloser, error)
}

func peers() []peer {
	sure := func(start func(io.Writer, []string) io.WriteCloser) func(io.Writer, []string) (io.WriteCloser, error) {
		return func(dst io.Writer, values []string) (io.WriteCloser, error) { return start(dst, values), nil }
	}
	return []peer{
		{"copy, no masking", 0, sure(func(dst io.Writer, _ []string) io.WriteCloser { return &copier{dst: dst} })},
		{"warder, values as they are", 0, ours(mask.ValueOptions{Exact: true})},
		{"warder, all forms, folded", 0, ours(mask.ValueOptions{})},
		{"Buildkite agent", 0, sure(func(dst io.Writer, values []string) io.WriteCloser { return buildkite.New(dst, values, mark) })},
		{"GitLab runner", 0, sure(gitlab.New)},
		{"Harness lite-engine, Drone", 0, sure(func(dst io.Writer, values []string) io.WriteCloser {
			return logstream.NewReplacer(bare{dst}, values)
		})},
		{"strings.Replacer, by lines", 0, sure(replacer)},
		{"bytes.Index of each, by lines", 1000, sure(indexEach)},
		{"coregx/ahocorasick", 0, coregxBlocks},
		{"BobuSumisu/aho-corasick", 0, sure(bobuSumisuBlocks)},
		{"petar-dambovaliev/aho-corasick", 1000, sure(petarBlocks)},
	}
}

// copier copies what it gets into one buffer.
type copier struct {
	dst io.Writer
	buf []byte
}

func (c *copier) Write(p []byte) (int, error) {
	c.buf = append(c.buf[:0], p...)
	return c.dst.Write(c.buf)
}

func (c *copier) Close() error { return nil }

// warder is our writer with its set.
type warder struct {
	io.WriteCloser
	set *mask.Set
}

func (w warder) Close() error {
	defer w.set.Destroy()
	return w.WriteCloser.Close()
}

func ours(o mask.ValueOptions) func(io.Writer, []string) (io.WriteCloser, error) {
	return func(dst io.Writer, values []string) (io.WriteCloser, error) {
		set := mask.NewSet()
		for _, b := range values {
			v, err := secret.New([]byte(b))
			if err == nil {
				err = set.Add("", v, o)
			}
			v.Destroy()
			if err != nil {
				return nil, err
			}
		}
		return warder{mask.NewWriter(dst, set), set}, nil
	}
}

// bare makes of a writer what lite-engine wants.
type bare struct{ io.Writer }

func (bare) Open() error  { return nil }
func (bare) Start()       {}
func (bare) Close() error { return nil }
func (bare) Error() error { return nil }

// replacer is what Woodpecker does.
func replacer(dst io.Writer, values []string) io.WriteCloser {
	var pairs []string
	for _, v := range values {
		pairs = append(pairs, v, mark)
	}
	r := strings.NewReplacer(pairs...)
	return &lineFront{dst: dst, hide: func(line []byte) []byte { return []byte(r.Replace(string(line))) }}
}

// indexEach is what GitHub's runner does: each value is searched for in each line, and what overlaps or touches is one.
func indexEach(dst io.Writer, values []string) io.WriteCloser {
	var found []place
	return &lineFront{dst: dst, hide: func(line []byte) []byte {
		found = found[:0]
		for _, v := range values {
			for at := 0; ; at++ {
				i := bytes.Index(line[at:], []byte(v))
				if i < 0 {
					break
				}
				at += i
				found = append(found, place{at, at + len(v)})
			}
		}
		if len(found) == 0 {
			return line
		}
		slices.SortFunc(found, func(a, b place) int { return cmp.Compare(a.start, b.start) })
		var out []byte
		done := 0
		for i, f := range found {
			if i == 0 || f.start > done {
				out = append(append(out, line[done:f.start]...), mark...)
			}
			done = max(done, f.end)
		}
		return append(out, line[done:]...)
	}}
}

func coregxBlocks(dst io.Writer, values []string) (io.WriteCloser, error) {
	a, err := coregx.NewBuilder().AddStrings(values).SetMatchKind(coregx.LeftmostLongest).Build()
	if err != nil {
		return nil, err
	}
	return &blockFront{dst: dst, longest: len(values[0]), search: func(text []byte, found []place) []place {
		m, ok := a.Find(text, 0)
		for ; ok; m, ok = a.Find(text, m.End) {
			found = append(found, place{m.Start, m.End})
		}
		return found
	}}, nil
}

func bobuSumisuBlocks(dst io.Writer, values []string) io.WriteCloser {
	trie := bobusumisu.NewTrieBuilder().AddStrings(values).Build()
	return &blockFront{dst: dst, longest: len(values[0]), search: func(text []byte, found []place) []place {
		trie.Walk(text, func(last, size, _ int64) bool {
			found = append(found, place{int(last - size + 1), int(last + 1)})
			return true
		})
		slices.SortFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
		return found
	}}
}

func petarBlocks(dst io.Writer, values []string) io.WriteCloser {
	builder := petar.NewAhoCorasickBuilder(petar.Opts{DFA: true, MatchKind: petar.LeftMostLongestMatch})
	a := builder.Build(values)
	return &blockFront{dst: dst, longest: len(values[0]), search: func(text []byte, found []place) []place {
		matches := a.IterByte(text)
		for m := matches.Next(); m != nil; m = matches.Next() {
			found = append(found, place{m.Start(), m.End()})
		}
		return found
	}}
}
