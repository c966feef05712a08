package testkit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// Case is one line of a case file: an expectation written down from a user's
// report, independent of the code that has to meet it.
type Case struct {
	ID     string          `json:"id"`     // row and counter: "U-43-1"
	Kind   string          `json:"kind"`   // what it exercises: "dotenv.parse"
	Setup  CaseSetup       `json:"setup"`  // what is there before
	Action json.RawMessage `json:"action"` // steps
	Expect json.RawMessage `json:"expect"` // checks
}

// CaseSetup is the part of a setup that more than one package reads.
type CaseSetup struct {
	Files map[string]CaseFile `json:"files"`
}

// CaseFile is the content of one file, written in a case as a JSON string or as
// {"hex": "…"}.
type CaseFile []byte

// UnmarshalJSON implements [json.Unmarshaler].
func (f *CaseFile) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*f = CaseFile(text)
		return nil
	}
	var encoded struct {
		Hex *string `json:"hex"`
	}
	if err := json.Unmarshal(b, &encoded); err != nil {
		return err
	}
	if encoded.Hex == nil {
		return fmt.Errorf("file content is neither text nor hex: %.40s", b)
	}
	decoded, err := hex.DecodeString(*encoded.Hex)
	*f = CaseFile(decoded)
	return err
}

// Cases returns the cases of one kind from a JSONL file, in order. It ends the
// test on a line that can't be read and on an empty selection.
func Cases(t testing.TB, path, kind string) []Case {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("testkit: reading cases: %v", err)
	}
	var selected []Case
	for i, line := range bytes.Split(data, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var head struct{ Kind string }
		if err := json.Unmarshal(line, &head); err != nil {
			t.Fatalf("testkit: %s:%d: %v", path, i+1, err)
		}
		if head.Kind != kind {
			continue
		}
		var c Case
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatalf("testkit: %s:%d: %v", path, i+1, err)
		}
		selected = append(selected, c)
	}
	if len(selected) == 0 {
		t.Fatalf("testkit: %s holds no case of kind %q", path, kind)
	}
	return selected
}
