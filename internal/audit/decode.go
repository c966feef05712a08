package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ErrDamaged says that a line of the log is no record. Readers go on behind it.
var ErrDamaged = errors.New("damaged audit record")

// decode reads one line, without its newline. It takes exactly the lines that
// Append can make: encoding the record again gives the same bytes, so no two
// readers can see different things in one line.
func decode(line []byte) (Record, error) {
	var r Record
	s := scanner{rest: line, keep: true}
	if err := s.record(&r); err != nil {
		return Record{}, err
	}
	return r, nil
}

// check is decode for who needs only that the line is a record, its number and
// hashes, and the data if the event is one of the log's own.
func check(line []byte) (Record, error) {
	var r Record
	s := scanner{rest: line}
	err := s.record(&r)
	return r, err
}

func damaged(why string) error { return fmt.Errorf("%w: %s", ErrDamaged, why) }

// scanner reads a line from front to back. After a failure it reads on without
// meaning.
type scanner struct {
	rest   []byte
	keep   bool // make strings of all texts, not of the log's own events alone
	failed bool
}

// record reads a whole line.
func (s *scanner) record(r *Record) error {
	if len(s.rest) > MaxLine {
		return damaged("it is too long")
	}
	if !utf8.Valid(s.rest) {
		return damaged("it is not UTF-8")
	}
	if v := s.version(); !s.failed && v != version {
		return damaged(fmt.Sprintf("it has version %d, this warder reads %d", v, version))
	}
	cut := len(s.rest) - lineTail
	if s.failed || cut < 0 {
		return damaged("it does not begin and end as a record does")
	}
	tail := scanner{rest: s.rest[cut:]}
	tail.hash((*[32]byte)(&r.Prev), prevMember, `"`)
	tail.hash(&r.MAC, macMember[1:], lineEnd)
	if tail.failed {
		return damaged("it does not end with the previous hash and the MAC")
	}
	s.rest = s.rest[:cut]
	s.fields(r)
	switch {
	case s.failed:
		return damaged("its members are not those of a record")
	case string(s.rest) == "null":
		return nil
	case spaced(s.rest) || !json.Valid(s.rest):
		return damaged("its data is not compact JSON")
	case s.keep || r.Event != "":
		r.Data = append(json.RawMessage(nil), s.rest...)
	}
	return nil
}

// version reads the start of a line as far as the name of the number.
func (s *scanner) version() uint64 {
	s.skip(`{"v":`)
	v := s.number()
	s.skip(`,"seq":`)
	return v
}

// hash reads 64 digits of lower-case hex between two fixed texts.
func (s *scanner) hash(h *[sha256.Size]byte, before, after string) {
	s.skip(before)
	if s.failed || len(s.rest) < 2*len(h) {
		s.failed = true
		return
	}
	digits := s.rest[:2*len(h)]
	s.rest = s.rest[2*len(h):]
	if _, err := hex.Decode(h[:], digits); err != nil {
		s.failed = true
	}
	for _, c := range digits {
		s.failed = s.failed || 'A' <= c && c <= 'F'
	}
	s.skip(after)
}

// fields reads the members from the number to the name of data.
func (s *scanner) fields(r *Record) {
	r.Seq = s.number()
	s.failed = s.failed || r.Seq == 0
	s.skip(`,"time":"`)
	r.Time = s.time()
	s.skip(`","event":`)
	r.Event = s.event()
	r.ID = s.text(`,"id":`)
	r.Session = s.text(`,"session":`)
	r.Principal = s.principal()
	r.Tool = s.text(`,"tool":`)
	r.Item = s.text(`,"item":`)
	r.Decision = s.text(`,"decision":`)
	r.Reason = s.text(`,"reason":`)
	r.Rule = s.text(`,"rule":`)
	r.Source = s.text(`,"source":`)
	r.Outcome = s.text(`,"outcome":`)
	r.ReportedBy = s.text(`,"reported_by":`)
	s.skip(`,"data":`)
}

// event reads the name of the event.
func (s *scanner) event() string {
	name := s.string()
	s.failed = s.failed || !validEvent(name)
	if s.keep || bytes.HasPrefix(name, []byte(ownPrefix)) {
		return string(name)
	}
	return ""
}

func (s *scanner) principal() *Principal {
	s.skip(`,"principal":`)
	if s.null() {
		return nil
	}
	var p Principal
	s.skip(`{"verdict":`)
	p.Verdict = s.made(s.string())
	p.Client = s.text(`,"client":`)
	s.skip(`,"depth":`)
	p.Depth = int(s.number())
	p.Instance = s.text(`,"instance":`)
	s.skip(`}`)
	if !s.keep {
		return nil
	}
	return &p
}

// text reads a named member that is a string or null. An empty string is
// neither: the writer makes null of it.
func (s *scanner) text(name string) string {
	s.skip(name)
	if s.null() {
		return ""
	}
	text := s.string()
	s.failed = s.failed || len(text) == 0
	return s.made(text)
}

// made makes a string of a text that is to be kept.
func (s *scanner) made(text []byte) string {
	if !s.keep {
		return ""
	}
	return string(text)
}

// skip reads a fixed text.
func (s *scanner) skip(text string) {
	if len(s.rest) < len(text) || string(s.rest[:len(text)]) != text {
		s.failed = true
		return
	}
	s.rest = s.rest[len(text):]
}

// null reads null if it is there.
func (s *scanner) null() bool {
	if len(s.rest) < 4 || string(s.rest[:4]) != "null" {
		return false
	}
	s.rest = s.rest[4:]
	return true
}

// number reads digits without a leading zero, up to maxSeq.
func (s *scanner) number() (n uint64) {
	end := 0
	for end < len(s.rest) && '0' <= s.rest[end] && s.rest[end] <= '9' && n <= maxSeq {
		n = 10*n + uint64(s.rest[end]-'0')
		end++
	}
	if end == 0 || n > maxSeq || end > 1 && s.rest[0] == '0' {
		s.failed = true
		return 0
	}
	s.rest = s.rest[end:]
	return n
}

// time reads a time as timeLayout writes it. Package time's parser would take
// more, and more time.
func (s *scanner) time() time.Time {
	if len(s.rest) < len(timeLayout) {
		s.failed = true
		return time.Time{}
	}
	text := s.rest[:len(timeLayout)]
	s.rest = s.rest[len(timeLayout):]
	var n [7]int // year, month, day, hour, minute, second, millisecond
	part := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c != timeLayout[i] && (c < '0' || c > '9' || timeLayout[i] < '0' || timeLayout[i] > '9'):
			s.failed = true
		case c >= '0' && c <= '9':
			n[part] = 10*n[part] + int(c-'0')
		case part < len(n)-1:
			part++
		}
	}
	t := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], n[6]*int(time.Millisecond), time.UTC)
	_, month, day := t.Date()
	s.failed = s.failed || int(month) != n[1] || day != n[2] || n[3] > 23 || n[4] > 59 || n[5] > 59
	return t
}

// spaced reports whether JSON text has white space outside its strings.
func spaced(text []byte) bool {
	inside := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			inside = !inside
		case '\\':
			i++ // whatever follows ends no string
		case ' ', '\t', '\n', '\r':
			if !inside {
				return true
			}
		}
	}
	return false
}

// string reads a string with the escapes that appendString makes, and no others.
func (s *scanner) string() []byte {
	s.skip(`"`)
	for i, c := range s.rest {
		switch {
		case c == '"':
			text := s.rest[:i]
			s.rest = s.rest[i+1:]
			return text
		case c == '\\':
			return s.escapedString(i)
		case c < ' ':
			s.failed = true
			return nil
		}
	}
	s.failed = true
	return nil
}

// escapedString is string for the rare text whose first escape is at byte i.
func (s *scanner) escapedString(i int) []byte {
	end := i
	for end < len(s.rest) && s.rest[end] != '"' {
		if s.rest[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s.rest) {
		s.failed = true
		return nil
	}
	written := s.rest[:end]
	s.rest = s.rest[end+1:]
	text := unescape(written)
	if quote := appendString(nil, string(text)); !bytes.Equal(quote[1:len(quote)-1], written) {
		s.failed = true // another way to write the same
	}
	return text
}

// unescape turns the escapes of appendString back. What it makes of any others
// does not matter: they are not written that way again.
func unescape(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' || i+1 == len(text) {
			out = append(out, c)
			continue
		}
		i++
		if k := strings.IndexByte(escapes, text[i]); k >= 0 {
			out = append(out, escaped[k])
			continue
		}
		if n, err := strconv.ParseUint(string(text[i+1:min(i+5, len(text))]), 16, 8); err == nil {
			out = append(out, byte(n))
		}
		i += 4
	}
	return out
}

// seqOf reads the version and the number of a line and no more: to find a record
// without judging the others.
func seqOf(line []byte) (seq uint64, ok bool) {
	s := scanner{rest: line}
	v := s.version()
	seq = s.number()
	return seq, !s.failed && v == version
}
