package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// ordinaryUser makes a world of an ordinary user: root may read anything.
func ordinaryUser() person.Options {
	if os.Getuid() == 0 {
		return person.Options{UID: testkit.UID}
	}
	return person.Options{}
}

// readAll lets the reader read a process and folders of the world, and look for
// the values in every form of testkit's: raw, in hex of both cases, and in both
// alphabets of base64 at each of three alignments.
func readAll(t *testing.T, w *person.World, pid int, values []string, dirs ...string) findings {
	t.Helper()
	var list []sought
	for i, v := range values {
		for form, text := range testkit.Forms(testkit.Canary{Value: []byte(v)}) {
			list = append(list, sought{fmt.Sprintf("value %d as %s", i, form), text})
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	argv := append([]string{w.Program(t, "reader"), readerPart, strconv.Itoa(pid)}, dirs...)
	r := w.Run(t, person.Command{Argv: argv, Stdin: string(text)})
	if r.Status != 0 {
		t.Fatalf("the reader: %+v", r)
	}
	return decode[findings](t, r.Stdout)
}

// TestDone4_sameUser: a program of the same user reads every file, socket and
// entry in /proc of the unlocked daemon, and finds nothing of what is stored.
func TestDone4_sameUser(t *testing.T) {
	h := newHouse(t, ordinaryUser())
	typed := token("typed-")
	h.door.Begin(t, "warder item add mail --type password --level use")
	h.door.Answer(t, askStored, typed)
	wantsShown(t, "add", h.door.Finish(t), 0, ``)
	wantsShown(t, "reveal", h.prove(t, "warder item show mail --reveal"), 0, typed) // so that it was opened once

	pid := h.status(t).Daemon.PID
	got := readAll(t, h.World, pid, []string{typed, h.password}, h.WarderHome(), h.Home())
	for _, hit := range got.Hits {
		t.Errorf("found: %s", hit)
	}
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	if !slices.Contains(got.Read, filepath.Join(proc, "cmdline")) {
		t.Errorf("the reader read %d things and not the command line", len(got.Read))
	}
	if !slices.ContainsFunc(got.Read, func(path string) bool { return strings.HasSuffix(path, ".jsonl") }) {
		t.Error("the reader did not read the log")
	}
	for _, closed := range []string{"mem", "environ", "maps"} {
		if !slices.Contains(got.Denied, filepath.Join(proc, closed)) {
			t.Errorf("%s of the daemon can be opened", closed)
		}
	}
}

// TestReader: the reader finds a value in the memory of a process that does not
// hide, and in a file.
func TestReader(t *testing.T) {
	w := person.Start(t, ordinaryUser())
	value := token("held-")
	p := w.Terminal(t, person.Shell{})
	p.Begin(t, "read -rs held")
	p.Answer(t, ``, value)
	p.Finish(t)
	pid, err := strconv.Atoi(strings.TrimSpace(p.Run(t, "echo $$").Output))
	if err != nil {
		t.Fatal(err)
	}
	p.Run(t, "echo \"$held\" > ~/file")
	for shift, file := range []string{"~/base0", "~/base1", "~/base2"} {
		p.Run(t, fmt.Sprintf("printf '%%s%%s' '%s' \"$held\" | base64 -w0 > %s", strings.Repeat("x", shift), file))
	}
	p.Run(t, "printf %s \"$held\" | od -An -v -tx1 | tr -d ' \\n' > ~/hex")
	got := readAll(t, w, pid, []string{value}, w.Home())
	inMemory := slices.ContainsFunc(got.Hits, func(hit string) bool { return strings.Contains(hit, "/mem ") })
	inFile := slices.ContainsFunc(got.Hits, func(hit string) bool { return strings.HasPrefix(hit, w.Home()) })
	if !inMemory || !inFile {
		t.Errorf("found %q, denied %q", got.Hits, got.Denied)
	}
	for _, form := range []string{"/file: value 0 as raw", "/base0: value 0 as base64", "/base1: value 0 as base64", "/base2: value 0 as base64", "/hex: value 0 as hex"} {
		if !slices.ContainsFunc(got.Hits, func(hit string) bool { return strings.Contains(hit, form) }) {
			t.Errorf("%s is not found: %q", form, got.Hits)
		}
	}
}
