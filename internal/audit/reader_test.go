package audit_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"golang.org/x/crypto/hkdf"
)

// A second reader of F2, written from docs/formats.md: it shares no code with
// the package and holds the fixture to what the document says.

// reader goes along the chain and the row of keys.
type reader struct {
	seq  int
	prev [32]byte
	key  []byte // of the next record
}

func mac(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// line reads one line.
func (r *reader) line(text string) (event string, err error) {
	const names = "v seq time event id session principal tool item decision reason rule source outcome reported_by data prev mac"
	dec := json.NewDecoder(strings.NewReader(text))
	members := map[string]json.RawMessage{}
	var order []string
	if _, err := dec.Token(); err != nil {
		return "", err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return "", err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return "", err
		}
		order = append(order, fmt.Sprint(name))
		members[fmt.Sprint(name)] = value
	}
	if strings.Join(order, " ") != names {
		return "", fmt.Errorf("members %v", order)
	}
	r.seq++
	covered, tail, _ := strings.Cut(text, `,"mac":"`)
	switch {
	case string(members["seq"]) != fmt.Sprint(r.seq):
		return "", fmt.Errorf("record %d has the number %s", r.seq, members["seq"])
	case string(members["prev"]) != `"`+hex.EncodeToString(r.prev[:])+`"`:
		return "", fmt.Errorf("record %d does not follow", r.seq)
	case tail != hex.EncodeToString(mac(r.key, covered))+`"}`:
		return "", fmt.Errorf("record %d has another MAC", r.seq)
	}
	r.prev = sha256.Sum256([]byte(text))
	next := make([]byte, 32)
	if _, err := io.ReadFull(hkdf.Expand(sha256.New, r.key, []byte("warder/audit-step/v1")), next); err != nil {
		return "", err
	}
	r.key = next
	return string(bytes.Trim(members["event"], `"`)), nil
}

// segment reads all lines of a segment and returns the event of the first, and
// how many were changed as the fixture's break was made.
func (r *reader) segment(data []byte) (first string, changed int, err error) {
	for _, line := range lines(data) {
		text := strings.TrimSuffix(string(line), "\n")
		before := *r
		event, err := r.line(text)
		if err != nil && strings.Contains(err.Error(), "MAC") {
			changed++
			*r = before
			event, err = r.line(strings.Replace(text, "deny ", "allow", 1))
		}
		if err != nil {
			return "", 0, err
		}
		if first == "" {
			first = event
		}
	}
	return first, changed, nil
}

func TestF2_SecondReader(t *testing.T) {
	s, a := openFixture(t)
	r := reader{key: unhex(t, a.FirstKey)}
	broken := 0
	for i, name := range s.segments() {
		if want := fmt.Sprintf("%016d.jsonl", r.seq+1); name != want {
			t.Errorf("%s should be %s", name, want)
		}
		first, changed, err := r.segment(s.read(name))
		must(t, err)
		if i > 0 && first != "audit.rotated" && first != "audit.sealed" {
			t.Errorf("%s begins with %s", name, first)
		}
		broken += changed
	}
	if broken != 1 {
		t.Errorf("%d lines were changed", broken)
	}
	file := s.read("key")
	header := "WARDERAK\x00\x01\x00\x28" + string([]byte{0, 0, 0, 0, 0, 0, 0, byte(r.seq)}) + string(r.prev[:])
	want := header + string(r.key) + string(mac(r.key, "warder/audit-state/v1", header))
	if string(file) != want {
		t.Errorf("the key file is %x, want %x", file, want)
	}
	checkpoints := s.read("checkpoints")
	if head := "WARDERAC\x00\x01\x00\x10" + string(s.account[:]); !strings.HasPrefix(string(checkpoints), head) || (len(checkpoints)-len(head))%101 != 0 {
		t.Errorf("the checkpoints are %x", checkpoints)
	}
}
