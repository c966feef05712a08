package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake is a part that measures one thing with a known ratio.
func fake(name string, ratio float64, ran *[]string) part {
	return part{name, func(r *report, dir string) error {
		if _, err := os.Stat(dir); err != nil {
			return err
		}
		*ran = append(*ran, name)
		r.step("measuring %s", name)
		r.show([]row{{"thing of " + name, "1 s", "2 s", ratio}})
		return nil
	}}
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		name   string
		want   []string
		ratios [2]float64
		ran    string
		status int
		says   string
	}{
		{"all parts", nil, [2]float64{0.5, 1}, "one two", 0, ""},
		{"one part", []string{"two"}, [2]float64{9, 1}, "two", 0, ""},
		{"missed within the tolerance", nil, [2]float64{1.5, 1.01}, "one two", 0, ""},
		{"missed", nil, [2]float64{0.5, 1.51}, "one two", 1, "missed by more than half: thing of two"},
		{"the others run all the same", nil, [2]float64{2, 1}, "one two", 1, "thing of one"},
		{"no number", nil, [2]float64{math.NaN(), 1}, "one two", 1, "thing of one"},
		{"unknown part", []string{"one", "tow"}, [2]float64{1, 1}, "", 2, `no part "tow"; there are one, two`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ran []string
			var out, progress bytes.Buffer
			err := run(&report{out: &out, progress: &progress}, t.TempDir(), []part{fake("one", c.ratios[0], &ran), fake("two", c.ratios[1], &ran)}, c.want)
			if got := status(err); got != c.status || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("status %d, %v; want %d, %q", got, err, c.status, c.says)
			}
			if got := strings.Join(ran, " "); got != c.ran {
				t.Errorf("ran %q, want %q", got, c.ran)
			}
			for _, name := range ran {
				if !strings.Contains(out.String(), "thing of "+name) || !strings.Contains(progress.String(), "measuring "+name) {
					t.Errorf("of %s it prints %q and %q", name, &out, &progress)
				}
			}
			if strings.Contains(out.String(), "measuring") || c.status == 2 && out.Len() > 0 {
				t.Errorf("the tables hold %q", &out)
			}
		})
	}
}

func TestRun_failureCleansUp(t *testing.T) {
	dir, broken := t.TempDir(), errors.New("broken")
	err := run(&report{out: io.Discard, progress: io.Discard}, dir, []part{{"one", func(*report, string) error { return broken }}}, nil)
	if !errors.Is(err, broken) || status(err) != 1 {
		t.Errorf("error %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestTimed(t *testing.T) {
	if got, want := timed("x", 2*time.Second, time.Second), (row{"x", "2s", "1s", 0.5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// The names are what docs/performance.md and CONTRIBUTING.md call the parts.
func TestPartsHaveNames(t *testing.T) {
	var names []string
	for _, p := range parts() {
		if p.name == "" || p.run == nil || slices.Contains(names, p.name) {
			t.Errorf("part %q", p.name)
		}
		names = append(names, p.name)
	}
}
