package daemon

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"unicode/utf8"

	"warder/internal/api"
	"warder/internal/secret"
	"warder/internal/vault"
)

// The members of the JSON form, without the values.
type (
	jsonItem struct {
		Vault    string        `json:"vault"`
		Name     string        `json:"name"`
		Type     string        `json:"type"`
		Level    string        `json:"level"`
		Tags     []string      `json:"tags"`
		Hosts    []string      `json:"hosts"`
		Commands []api.Command `json:"commands"`
		NeverEnv bool          `json:"never_env"`
	}
	jsonStage struct {
		Vault   string `json:"vault"`
		Project string `json:"project"`
		Stage   string `json:"stage"`
		Level   string `json:"level"`
	}
	jsonField struct {
		Section   string `json:"section"`
		Name      string `json:"name"`
		Concealed bool   `json:"concealed"`
		Ref       string `json:"ref"`
	}
)

// jsonWriter writes an export as JSON. It goes on after an error, which err keeps.
type jsonWriter struct {
	out *sink
	err error
}

// export writes the JSON form: {"version":1,"items":[…],"stages":[…]}, each with "fields", each of those with "value", a
// string, or "base64" for a value that is not UTF-8.
func (w *jsonWriter) export(e *export) {
	w.put(`{"version":1,"items":[`)
	for i, x := range e.items {
		item := jsonItem{
			Vault: x.in.vault.Name(), Name: x.in.Name, Type: string(x.in.Type), Level: x.in.Level.String(), Tags: full(x.in.Tags),
			Hosts: []string{}, Commands: []api.Command{}, NeverEnv: x.in.NeverEnv,
		}
		for _, h := range x.in.Hosts {
			item.Hosts = append(item.Hosts, h.Host)
		}
		for _, c := range x.in.Commands {
			item.Commands = append(item.Commands, api.Command{Name: c.Name, Path: c.Path})
		}
		w.object(i, item, x.item.Fields)
	}
	w.put(`],"stages":[`)
	for i, x := range e.stages {
		w.object(i, jsonStage{x.in.vault.Name(), x.above, x.in.Name, x.in.Level.String()}, x.item.Fields)
	}
	w.put("]}\n")
}

// object writes the n-th of a list: its own members and its fields.
func (w *jsonWriter) object(n int, members any, fields []vault.Field) {
	w.open(n, members)
	w.put(`,"fields":[`)
	for i, f := range fields {
		w.open(i, jsonField{f.Section, f.Name, f.Concealed, f.Ref})
		if err := f.Value.Use(func(b []byte) { w.value(b) }); err != nil {
			w.err = errors.Join(w.err, err)
		}
		w.put("}")
	}
	w.put("]}")
}

// open writes the n-th object of a list without its closing brace.
func (w *jsonWriter) open(n int, members any) {
	if n > 0 {
		w.put(",")
	}
	text, err := json.Marshal(members)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.put(string(text[:len(text)-1]))
}

// put writes what is no secret.
func (w *jsonWriter) put(text string) { w.bytes([]byte(text)) }

func (w *jsonWriter) bytes(b []byte) {
	if _, err := w.out.Write(b); err != nil {
		w.err = errors.Join(w.err, err)
	}
}

// value writes a value as a member. It goes to the sink in small pieces over a buffer that is wiped: no encoder of JSON takes
// bytes as text without making a string of them.
func (w *jsonWriter) value(value []byte) {
	if !utf8.Valid(value) {
		w.put(`,"base64":"`)
		w.base64(value)
		w.put(`"`)
		return
	}
	w.put(`,"value":"`)
	plain := 0
	for i, c := range value {
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		w.bytes(value[plain:i])
		var escape [6]byte
		w.bytes(escaped(&escape, c))
		secret.Wipe(escape[:])
		plain = i + 1
	}
	w.bytes(value[plain:])
	w.put(`"`)
}

// escaped is a byte as JSON text in b.
func escaped(b *[6]byte, c byte) []byte {
	const digits = "0123456789abcdef"
	if c == '"' || c == '\\' {
		return append(b[:0], '\\', c)
	}
	return append(b[:0], '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

func (w *jsonWriter) base64(value []byte) {
	var text [64]byte
	const piece = 48 // bytes that fill text
	for len(value) > 0 {
		n := min(piece, len(value))
		base64.StdEncoding.Encode(text[:], value[:n])
		w.bytes(text[:base64.StdEncoding.EncodedLen(n)])
		value = value[n:]
	}
	secret.Wipe(text[:])
}
