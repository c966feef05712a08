package vault

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"

	"warder/internal/secret"
)

// This file writes canonical JSON (F1.1): one encoding for one meaning, so that hashes and signatures of equal things are
// equal, and a reader with no choices to make. It is our own because encoding/json turns every string into an immutable Go
// string, and an item's strings are secrets: here they go from locked memory to locked memory.

// maxDepth bounds nesting, so that hostile input can't exhaust the stack.
const maxDepth = 16

// maxInt is the largest integer that every JSON reader holds exactly, 2^53-1.
const maxInt = 1<<53 - 1

var (
	errNotCanonical = errors.New("not canonical JSON")
	errNotText      = errors.New("a text is not UTF-8")
	errOutOfRange   = errors.New("a number or time is out of range")
)

// rawMember is an object member this version does not know, kept to be written back.
type rawMember struct {
	key string
	raw []byte
}

// encoder appends canonical JSON. While counting it only measures, so that the second pass can write into a buffer of the right size
// and no copy of a secret is left behind by a growing slice.
type encoder struct {
	out      []byte
	n        int
	counting bool
	err      error // the first fault: what a reader would refuse, or a secret that is gone
}

// member is one key of an object and how to write its value.
type member struct {
	key string
	put func(*encoder)
}

// measure returns how many bytes put writes.
func measure(put func(*encoder)) int {
	e := &encoder{counting: true}
	put(e)
	return e.n
}

// encode writes into ordinary memory: for objects without secrets. What a reader would refuse is an error.
func encode(put func(*encoder)) ([]byte, error) {
	e := &encoder{out: make([]byte, 0, measure(put))}
	put(e)
	return e.out, e.err
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

func (e *encoder) text(s string) {
	e.n += len(s)
	if !e.counting {
		e.out = append(e.out, s...)
	}
}

// raw writes a kept member, which may hold a secret: no string is made of it.
func (e *encoder) raw(b []byte) {
	e.n += len(b)
	if !e.counting {
		e.out = append(e.out, b...)
	}
}

// object writes the members in key order, with the kept unknown ones among them. A member whose put is nil is left out.
func (e *encoder) object(extra []rawMember, members ...member) {
	all := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.put == nil })
	for _, x := range extra {
		all = append(all, member{x.key, func(e *encoder) { e.raw(x.raw) }})
	}
	slices.SortFunc(all, func(a, b member) int { return bytes.Compare([]byte(a.key), []byte(b.key)) })
	e.text("{")
	for i, m := range all {
		if i > 0 {
			e.text(",")
		}
		e.str(m.key)
		e.text(":")
		m.put(e)
	}
	e.text("}")
}

func (e *encoder) list(n int, put func(i int)) {
	e.text("[")
	for i := range n {
		if i > 0 {
			e.text(",")
		}
		put(i)
	}
	e.text("]")
}

func (e *encoder) num(n int64) {
	if n > maxInt || n < -maxInt {
		e.fail(errOutOfRange)
	}
	e.text(strconv.FormatInt(n, 10))
}

const hexDigits = "0123456789abcdef"

func (e *encoder) str(s string) {
	if !utf8.ValidString(s) {
		e.fail(errNotText)
	}
	e.text(`"`)
	start := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		e.text(s[start:i])
		e.text(escape(s[i]))
		start = i + 1
	}
	e.text(s[start:])
	e.text(`"`)
}

// hex writes bytes as a string of their digits.
func (e *encoder) hex(b []byte) {
	e.n += 2*len(b) + len(`""`)
	if !e.counting {
		e.out = append(e.out, '"')
		e.out = hex.AppendEncode(e.out, b)
		e.out = append(e.out, '"')
	}
}

func escape(c byte) string {
	switch c {
	case '"':
		return `\"`
	case '\\':
		return `\\`
	case '\b':
		return `\b`
	case '\f':
		return `\f`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return `\u00` + string(hexDigits[c>>4]) + string(hexDigits[c&15])
}

// base64 writes v's bytes as a string, straight from v's memory into the output.
func (e *encoder) base64(v secret.Value) {
	n := base64.StdEncoding.EncodedLen(v.Len())
	e.text(`"`)
	e.n += n
	if !e.counting {
		at := len(e.out)
		e.out = e.out[:at+n] // measured before: never beyond the capacity
		if err := v.Use(func(b []byte) { base64.StdEncoding.Encode(e.out[at:], b) }); err != nil {
			e.fail(err)
		}
	}
	e.text(`"`)
}

// The optional members below are left out at their zero value.

func textMember(key, s string) member {
	if s == "" {
		return member{}
	}
	return member{key, func(e *encoder) { e.str(s) }}
}

func numMember(key string, n int64) member {
	if n == 0 {
		return member{}
	}
	return member{key, func(e *encoder) { e.num(n) }}
}

func flagMember(key string, b bool) member {
	if !b {
		return member{}
	}
	return member{key, func(e *encoder) { e.text("true") }}
}

func listMember[T any](key string, list []T, put func(*encoder, T)) member {
	if len(list) == 0 {
		return member{}
	}
	return member{key, func(e *encoder) { e.list(len(list), func(i int) { put(e, list[i]) }) }}
}

func mapMember[K ~string, V any](key string, m map[K]V, put func(*encoder, V)) member {
	if len(m) == 0 {
		return member{}
	}
	return member{key, func(e *encoder) { e.object(nil, mapMembers(m, put)...) }}
}

func mapMembers[K ~string, V any](m map[K]V, put func(*encoder, V)) []member {
	all := make([]member, 0, len(m))
	for k, v := range m {
		all = append(all, member{string(k), func(e *encoder) { put(e, v) }})
	}
	return all
}

func putText[T ~string](e *encoder, s T) { e.str(string(s)) }
