package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"warder/internal/seal"
)

const (
	// MaxLine is the longest line that a reader takes, in bytes. The longest
	// that a writer makes is shorter: twelve texts of MaxInput bytes, each byte
	// escaped to six, and data of maxData.
	MaxLine = 512 << 10

	// maxData is the longest data that is kept as it is. Longer data becomes
	// its Digest.
	maxData = 128 << 10

	// maxEvent is the longest name of an event.
	maxEvent = 64

	// maxSeq is the highest sequence number: what JSON readers keep exact
	// everywhere.
	maxSeq = 1<<53 - 1

	version    = 1
	timeLayout = "2006-01-02T15:04:05.000Z"
)

// The fixed parts of a line (F2.1). The order of the members is part of the
// format, so that a line has one form only and needs no canonical one.
const (
	lineStart  = `{"v":1,"seq":`
	prevMember = `,"prev":"`
	macMember  = `","mac":"`
	lineEnd    = `"}`
	macTail    = len(macMember) - 1 + 2*sha256.Size + len(lineEnd) // all that the MAC does not cover
	lineTail   = len(prevMember) + 2*sha256.Size + 1 + macTail
)

// Record is one event. Empty texts, a nil Principal and nil Data are absent, and
// are null in the log. Append shortens texts as Trim does, and puts U+FFFD in
// the place of what is not UTF-8: nothing that a caller was told by an agent
// can keep an event from being recorded.
type Record struct {
	Seq        uint64     // from 1; set by Append
	Time       time.Time  // in whole milliseconds, UTC; Append's time unless the caller set one
	Event      string     // name such as "permission.decided": a-z, 0-9, "_", in parts joined by "."
	ID         string     // of the intent that the event belongs to
	Session    string     // the session's id
	Principal  *Principal // who asked
	Tool       string
	Item       string // name of the item; what SealName made where agents must not see it
	Decision   string // allow, ask, deny
	Reason     string
	Rule       string // the rule that decided, as it was written
	Source     string // where the rule stands, such as "policy.toml:12"
	Outcome    string
	ReportedBy string          // "client" where the daemon knows the outcome by hearsay only
	Data       json.RawMessage // any more, without values; Append makes it compact
	Prev       seal.Hash       // of the line before; set by Append
	MAC        [sha256.Size]byte
}

// Principal is who asked, as package caller judged it.
type Principal struct {
	Verdict  string // "agent", "person" or "unknown"
	Client   string // name of the agent client, if it is known
	Depth    int    // 1 is an agent, 2 and more a subagent
	Instance string // which process it is: the daemon's text for an instance
}

// Digest stands for content that the log does not keep.
type Digest struct {
	SHA256 string `json:"sha256"` // lower-case hex
	Bytes  int64  `json:"bytes"`
}

// DigestOf returns the digest of b. It hides long content only: who can guess a
// short one can check the guess.
func DigestOf(b []byte) Digest {
	return Digest{SHA256: seal.HashOf(b).String(), Bytes: int64(len(b))}
}

// Line returns the record as the log holds it, byte for byte, without the
// newline.
func (r Record) Line() []byte {
	line := appendHead(nil, r.Seq, appendBody(nil, &r), r.Prev)
	return appendMAC(line, r.MAC)
}

// MarshalJSON returns the same members in the same order as Line. An encoder may
// escape them otherwise, so that hash and MAC no longer fit.
func (r Record) MarshalJSON() ([]byte, error) { return r.Line(), nil }

// errEvent is a programmer's mistake: event names are not taken from outside.
var errEvent = errors.New("the event has no valid name")

// validEvent reports whether name is parts of a-z, 0-9 and "_", joined by ".".
func validEvent[T string | []byte](name T) bool {
	part := false // the part has begun
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_':
			part = true
		case c == '.' && part:
			part = false
		default:
			return false
		}
	}
	return part && len(name) <= maxEvent
}

// clean makes a record fit to be written.
func clean(r *Record, now time.Time) error {
	if !validEvent(r.Event) {
		return errEvent
	}
	if r.Time.IsZero() {
		r.Time = now
	}
	r.Time = stamp(r.Time)
	for _, text := range []*string{
		&r.ID, &r.Session, &r.Tool, &r.Item, &r.Decision, &r.Reason, &r.Rule, &r.Source, &r.Outcome, &r.ReportedBy,
	} {
		*text = Trim(*text)
	}
	if p := r.Principal; p != nil {
		r.Principal = &Principal{Trim(p.Verdict), Trim(p.Client), max(p.Depth, 0), Trim(p.Instance)}
	}
	r.Data = cleanData(r.Data)
	return nil
}

// stamp is t as a line can show it: whole milliseconds of a year of four
// digits. A clock that is far off must not stop the log.
func stamp(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	if y := t.Year(); y < 0 || y > 9999 {
		return time.Time{}
	}
	return t
}

// cleanData makes data compact. What is no JSON is told, not kept, and what is
// too long becomes its digest.
func cleanData(data json.RawMessage) json.RawMessage {
	if len(data) == 0 {
		return nil
	}
	var compact bytes.Buffer
	if !utf8.Valid(data) || json.Compact(&compact, data) != nil {
		return quoted(Unserializable)
	}
	out := compact.Bytes()
	switch {
	case string(out) == "null":
		return nil
	case len(out) <= maxData:
		return out
	}
	return encodeData(DigestOf(out))
}

// encodeData encodes what this package itself puts into a record.
func encodeData(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return quoted(Unserializable)
	}
	return data
}

func quoted(s string) json.RawMessage { return appendString(nil, s) }

// appendBody appends the members between seq and prev, in their fixed order.
func appendBody(b []byte, r *Record) []byte {
	b = append(b, `,"time":"`...)
	b = r.Time.UTC().AppendFormat(b, timeLayout)
	b = append(b, `","event":`...)
	b = appendString(b, r.Event)
	b = appendText(b, `,"id":`, r.ID)
	b = appendText(b, `,"session":`, r.Session)
	b = appendPrincipal(b, r.Principal)
	b = appendText(b, `,"tool":`, r.Tool)
	b = appendText(b, `,"item":`, r.Item)
	b = appendText(b, `,"decision":`, r.Decision)
	b = appendText(b, `,"reason":`, r.Reason)
	b = appendText(b, `,"rule":`, r.Rule)
	b = appendText(b, `,"source":`, r.Source)
	b = appendText(b, `,"outcome":`, r.Outcome)
	b = appendText(b, `,"reported_by":`, r.ReportedBy)
	b = append(b, `,"data":`...)
	if r.Data == nil {
		return append(b, "null"...)
	}
	return append(b, r.Data...)
}

func appendPrincipal(b []byte, p *Principal) []byte {
	if p == nil {
		return append(b, `,"principal":null`...)
	}
	b = append(b, `,"principal":{"verdict":`...)
	b = appendString(b, p.Verdict)
	b = appendText(b, `,"client":`, p.Client)
	b = append(b, `,"depth":`...)
	b = strconv.AppendInt(b, int64(p.Depth), 10)
	b = appendText(b, `,"instance":`, p.Instance)
	return append(b, '}')
}

// appendHead appends a line as far as the MAC covers it.
func appendHead(b []byte, seq uint64, body []byte, prev seal.Hash) []byte {
	b = append(b, lineStart...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, body...)
	b = append(b, prevMember...)
	b = hex.AppendEncode(b, prev[:])
	return append(b, '"')
}

// appendMAC completes a line that appendHead began.
func appendMAC(b []byte, mac [sha256.Size]byte) []byte {
	b = append(b, macMember[1:]...)
	b = hex.AppendEncode(b, mac[:])
	return append(b, lineEnd...)
}

func appendText(b []byte, name, text string) []byte {
	b = append(b, name...)
	if text == "" {
		return append(b, "null"...)
	}
	return appendString(b, text)
}

// appendString appends s as a JSON string that escapes only what it must, as in
// F1's canonical JSON.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	plain := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[plain:i]...)
		b = appendEscape(b, c)
		plain = i + 1
	}
	b = append(b, s[plain:]...)
	return append(b, '"')
}

func appendEscape(b []byte, c byte) []byte {
	if i := strings.IndexByte(escaped, c); i >= 0 {
		return append(b, '\\', escapes[i])
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// escaped are the bytes with an escape of one letter, escapes the letters.
const (
	escaped = "\"\\\b\f\n\r\t"
	escapes = `"\bfnrt`
)
