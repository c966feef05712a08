package secret

import (
	"fmt"
	"io"
	"log/slog"
)

// Placeholder is what every formatting path shows in place of the bytes. It is the same for all values, so that it
// gives neither length nor identity away.
const Placeholder = "[secret]"

// Format implements fmt.Formatter: each verb with each flag prints Placeholder, without padding or quotes.
func (v Value) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, Placeholder) }

// String implements fmt.Stringer.
func (v Value) String() string { return Placeholder }

// GoString implements fmt.GoStringer, for printers that ask for it without fmt.
func (v Value) GoString() string { return Placeholder }

// LogValue implements slog.LogValuer.
func (v Value) LogValue() slog.Value { return slog.StringValue(Placeholder) }

// MarshalText implements encoding.TextMarshaler: XML, TOML, YAML and map keys in JSON.
func (v Value) MarshalText() ([]byte, error) { return []byte(Placeholder), nil }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + Placeholder + `"`), nil }

// MarshalBinary implements encoding.BinaryMarshaler, which gob uses too.
func (v Value) MarshalBinary() ([]byte, error) { return []byte(Placeholder), nil }
