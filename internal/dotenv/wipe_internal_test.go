package dotenv

import (
	"bytes"
	"testing"
)

// What the parser drops is wiped: nobody else can do it.
func TestDroppedValuesAreWiped(t *testing.T) {
	p := parser{rest: []byte("A=first\nA=second\nB"), line: 1, place: map[string]int{}}
	var kept [][]byte
	for range 2 {
		if err := p.readLine(); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, p.out.Entries[len(p.out.Entries)-1].Value)
	}
	if string(kept[1]) != "second" || len(bytes.Trim(kept[0], "\x00")) != 0 {
		t.Errorf("after a duplicate: %q", kept)
	}

	p = parser{rest: []byte("A=one\n"), line: 1, place: map[string]int{}}
	if err := p.readLine(); err != nil {
		t.Fatal(err)
	}
	value := p.out.Entries[0].Value
	p.rest = []byte("B")
	if f, err := p.finish(); err == nil || f != nil {
		t.Fatalf("finish: %v, %v", f, err)
	}
	if !bytes.Equal(value, []byte{0, 0, 0}) {
		t.Errorf("after an error: %q", value)
	}
}

// Buffers that hold values never grow: a grown buffer leaves a copy behind.
func TestBuffersDoNotGrow(t *testing.T) {
	for _, v := range []string{"", "plain", "'''''", "'\r\r\r", "'\"\"\"$$``\\\\", "'\n\n"} {
		for _, d := range []Dialect{DialectEnv, DialectShell, DialectDocker} {
			e := Entry{Name: "A", Value: []byte(v)}
			bound := lineBound([]Entry{e})
			if n := len(appendLine(nil, d, e)); n > bound {
				t.Errorf("%s of %q takes %d bytes, bound %d", d, v, n, bound)
			}
		}
	}
	for _, body := range []string{"", "abc", `\n\r\t\"`, "\r\n\r\n", `\\\`} {
		if out := unquote([]byte(body), true); len(out) > len(body) {
			t.Errorf("unquote(%q) is longer", body)
		}
	}
}
