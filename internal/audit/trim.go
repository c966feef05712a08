package audit

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const (
	// MaxInput is how much of one text the log keeps, in bytes (S1-17, C-14).
	MaxInput = 4096

	// Truncated stands at the end of a text that was cut.
	Truncated = "…[TRUNCATED]"

	// Unserializable stands for what could not be turned into JSON.
	Unserializable = "[UNSERIALIZABLE]"
)

// Trim returns text as UTF-8 of at most MaxInput bytes, cut between two
// characters and followed by Truncated if it was longer. Trimming again changes
// nothing.
func Trim(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxInput || len(text) <= MaxInput+len(Truncated) && strings.HasSuffix(text, Truncated) {
		return text
	}
	cut := MaxInput
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + Truncated
}

// input is what the log keeps of a tool's input: its JSON, masked and then cut.
// The other way round, half a value would stay that no mask knows.
func input(in any, mask func([]byte) []byte) string {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // it would hide a value with "&" from the mask
	if err := enc.Encode(in); err != nil {
		return Unserializable
	}
	out := bytes.TrimSuffix(text.Bytes(), []byte("\n"))
	if mask != nil {
		out = mask(out)
	}
	return Trim(string(out))
}
