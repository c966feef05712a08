package main

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// TestMaskPart measures little: each row is there, and the texts are what the rows say.
func TestMaskPart(t *testing.T) {
	var out bytes.Buffer
	err := measureMask(&report{out: &out, progress: io.Discard}, t.TempDir(), maskScale{text: 64 << 10, weak: 4 << 10, pipe: 64 << 10, many: 120, rounds: 1})
	if errors.Is(err, os.ErrNotExist) || err != nil && strings.Contains(err.Error(), "executable file not found") {
		t.Skip("there is no cat here")
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"1 value, all forms, folded", "100 values, as they are", "100 values, all forms, folded", "120 values, all forms", "a hit each 200 bytes",
		"10 % ESC", "a line a write", "no folded base64", "build, 100 values", "build, 120 values", "resident", "behind a child's pipe", "weak spot", "cut short",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no row says %q:\n%s", want, &out)
		}
	}
}

// TestMaskTexts have what is hidden, and the ESC bytes.
func TestMaskTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	keys := randomKeys(r, 10)
	count := func(text []byte) (n int) {
		for _, k := range keys {
			n += bytes.Count(text, []byte(k.key))
		}
		return n
	}
	for _, k := range keys {
		if len(k.key) < 20 || len(k.key) > 64 {
			t.Errorf("a key of %d characters", len(k.key))
		}
	}
	if n := count(buildLog(r, 1<<20, 10<<10, keys)); n < 95 || n > 105 {
		t.Errorf("%d hits in 1 MiB, one each 10 KiB", n)
	}
	if n := count(buildLog(r, 1<<20, 0, nil)); n > 0 {
		t.Errorf("%d hits in a log without", n)
	}
	if n := count(nearMisses(r, 1<<20, keys)); n > 0 {
		t.Errorf("%d hits among values cut short", n)
	}
	if text := colourful(r, 1<<20, keys); bytes.Count(text, []byte("\x1b")) < 1<<20*95/1000 || bytes.Count(text, []byte("\x1b")) > 1<<20*105/1000 {
		t.Errorf("%d ESC bytes in 1 MiB", bytes.Count(text, []byte("\x1b")))
	}
}

func TestBar(t *testing.T) {
	for _, c := range []struct {
		bar     bar
		verdict string
	}{
		{bar{"share", 0.5, 0.3, 0.45, "of copy", false}, "goal met"},
		{bar{"share", 0.4, 0.3, 0.45, "of copy", false}, "met"},
		{bar{"share", 0.2, 0.3, 0.45, "of copy", false}, "MISSED"},
		{bar{"share", 0.2, 0.1, 0, "of copy", false}, "met"},
		{bar{"time", 30, 60, 30, "ns", true}, "goal met"},
		{bar{"time", 31, 60, 30, "ns", true}, "met"},
		{bar{"time", 61, 60, 30, "ns", true}, "MISSED"},
		{bar{"speed", 61, 0, 0, "MB/s", false}, ""},
	} {
		if got := c.bar.verdict(); got != c.verdict {
			t.Errorf("%+v: %q, want %q", c.bar, got, c.verdict)
		}
		for _, check := range []bool{false, true} {
			var out bytes.Buffer
			r := &report{out: &out, check: check}
			r.showBars([]bar{c.bar})
			if failed := r.verdict() != nil; failed != (check && c.verdict == "MISSED") {
				t.Errorf("%+v, checked %t: failed %t", c.bar, check, failed)
			}
			if !strings.Contains(out.String(), c.bar.what) || !strings.Contains(out.String(), c.verdict) {
				t.Errorf("%+v is shown as %q", c.bar, &out)
			}
		}
	}
}
