package testkit_test

import (
	"testing"

	"warder/internal/testkit"
)

func TestExamples(t *testing.T) {
	text := "$ not one\n```console person\n$ first\n  out …\n…\nend\n$ second\n```\n```go\n$ none\n```\n```console\n$ third\nx\n```\n"
	examples := testkit.Examples(text)
	if len(examples) != 3 {
		t.Fatalf("got %+v", examples)
	}
	first, second, third := examples[0], examples[1], examples[2]
	if first.Block != "person" || second.Block != "person" || third.Block != "" || third.Command != "third" {
		t.Errorf("got %+v", examples)
	}
	for _, row := range []struct {
		example testkit.Example
		got     string
		want    bool
	}{
		{first, "  out 1 2 \nend\n", true},
		{first, "  out \na\nb\nend", true},
		{first, "out \nend\n", false},
		{first, "  out 1\n", false},
		{first, "  out 1\nend\nmore\n", false},
		{second, "", true},
		{second, "x\n", false},
		{third, "x", true},
		{third, "x.", false},
	} {
		if got := row.example.Matches(row.got); got != row.want {
			t.Errorf("%q matches %q: %v", row.example.Output, row.got, got)
		}
	}
}
