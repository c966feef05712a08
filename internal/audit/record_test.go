package audit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/audit"
	"warder/internal/seal"
)

// TestS1_16_EachFieldIsThere holds the names and the order of the members, and
// null for what is absent.
func TestS1_16_EachFieldIsThere(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{Now: func() time.Time { return time.Date(2026, 2, 3, 4, 5, 6, 789_999_999, time.FixedZone("", 3600)) }})
	s.one(l, audit.Record{Event: "daemon.started"})
	r := event()
	r.Outcome, r.ReportedBy = "exit 0", "client"
	s.one(l, r)
	got := lines(s.read(s.segments()[0]))
	for i, want := range []string{
		`{"v":1,"seq":1,"time":"2026-02-03T03:05:06.789Z","event":"daemon.started","id":null,"session":null,"principal":null,` +
			`"tool":null,"item":null,"decision":null,"reason":null,"rule":null,"source":null,"outcome":null,"reported_by":null,` +
			`"data":null,"prev":"` + seal.Hash{}.String() + `","mac":"`,
		`{"v":1,"seq":2,"time":"2026-02-03T03:05:06.789Z","event":"permission.decided","id":"01J9ZQ6W3Y","session":"s-17",` +
			`"principal":{"verdict":"agent","client":"claude","depth":1,"instance":"boot/4711/99"},` +
			`"tool":"run","item":"deploy token","decision":"allow","reason":"a rule allows it","rule":"Run(deploy token -- deploy:*)",` +
			`"source":"policy.toml:12","outcome":"exit 0","reported_by":"client",` +
			`"data":{"argv":["deploy","--stage","production"],"cwd":"/srv/app"},"prev":"` + seal.HashOf(bytes.TrimSuffix(got[0], []byte("\n"))).String() + `","mac":"`,
	} {
		if line := string(got[i]); !strings.HasPrefix(line, want) || len(line) != len(want)+64+len("\"}\n") {
			t.Errorf("line %d is %s\nwant %s…", i+1, line, want)
		}
		if !json.Valid(got[i]) {
			t.Errorf("line %d is no JSON", i+1)
		}
	}
}

// anyText draws texts with all that JSON, terminals and cutting find hard.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{
			"", "null", `"`, `\`, "\\u0041", "a\x00b\x1f\x7f", "\u2028\u2029", "\u202e", "𝄞é", "\xff\xfe", "line\nline\r\n",
			strings.Repeat("ä", 2048), strings.Repeat("x", 4095) + "é", strings.Repeat("\x01", 5000),
		}),
	)
}

func anyRecord() *rapid.Generator[audit.Record] {
	return rapid.Custom(func(t *rapid.T) audit.Record {
		text := func(name string) string { return anyText().Draw(t, name) }
		r := audit.Record{
			Event: rapid.StringMatching(`[a-z0-9_]{1,10}(\.[a-z0-9_]{1,10}){0,3}`).Draw(t, "event"),
			Time:  time.UnixMilli(rapid.Int64Range(-62_135_596_799_999, 253_402_300_799_999).Draw(t, "time")),
			ID:    text("id"), Session: text("session"), Tool: text("tool"), Item: text("item"), Decision: text("decision"),
			Reason: text("reason"), Rule: text("rule"), Source: text("source"), Outcome: text("outcome"), ReportedBy: text("reported_by"),
		}
		if rapid.Bool().Draw(t, "has a principal") {
			r.Principal = &audit.Principal{
				Verdict: text("verdict"), Client: text("client"), Instance: text("instance"),
				Depth: rapid.IntRange(0, 20).Draw(t, "depth"),
			}
		}
		data, err := json.MarshalIndent(map[string]any{text("name"): []any{text("data"), 1.5, nil, true}}, "", " ")
		if err == nil && rapid.Bool().Draw(t, "has data") {
			r.Data = data
		}
		return r
	})
}

// trimmed is the record as the log keeps it.
func trimmed(r audit.Record) audit.Record {
	for _, text := range []*string{&r.ID, &r.Session, &r.Tool, &r.Item, &r.Decision, &r.Reason, &r.Rule, &r.Source, &r.Outcome, &r.ReportedBy} {
		*text = audit.Trim(*text)
	}
	if p := r.Principal; p != nil {
		r.Principal = &audit.Principal{Verdict: audit.Trim(p.Verdict), Client: audit.Trim(p.Client), Instance: audit.Trim(p.Instance), Depth: p.Depth}
	}
	var compact bytes.Buffer
	if r.Data != nil && json.Compact(&compact, r.Data) == nil {
		r.Data = compact.Bytes()
	}
	r.Time = r.Time.UTC().Truncate(time.Millisecond)
	return r
}

// TestRecordsComeBack writes any records and reads them again: the same, and
// written again byte by byte the same.
func TestRecordsComeBack(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	rapid.Check(t, func(rt *rapid.T) {
		r := anyRecord().Draw(rt, "record")
		seq := s.one(l, r)
		got, damaged, err := audit.Tail(s.dir, 1)
		if err != nil || damaged != 0 || len(got) != 1 || got[0].Seq != seq {
			rt.Fatalf("read %v, %d damaged, %v", got, damaged, err)
		}
		want := trimmed(r)
		want.Seq, want.Prev, want.MAC = seq, got[0].Prev, got[0].MAC
		if diff := cmp.Diff(want, got[0]); diff != "" {
			rt.Fatalf("written and read (-want +got):\n%s", diff)
		}
	})
	for _, name := range s.segments() {
		for _, line := range lines(s.read(name)) {
			line = bytes.TrimSuffix(line, []byte("\n"))
			r, err := audit.Decode(line)
			must(t, err)
			if again := r.Line(); !bytes.Equal(again, line) {
				t.Fatalf("read  %s\nagain %s", line, again)
			}
			if data, err := json.Marshal(r); err != nil || !json.Valid(data) {
				t.Fatalf("marshalled to %s, %v", data, err)
			}
		}
	}
	wantWhole(s, l)
}

// wantWhole is want for a log that is still open and has no checkpoint.
func wantWhole(s *scene, l *audit.Log) {
	s.t.Helper()
	must(s.t, l.Checkpoint(s.root, s.account))
	s.want(0, "")
}

func TestS1_17_Trim(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{strings.Repeat("x", 4096), strings.Repeat("x", 4096)},
		{strings.Repeat("x", 4097), strings.Repeat("x", 4096) + "…[TRUNCATED]"},
		{strings.Repeat("x", 4095) + "é", strings.Repeat("x", 4095) + "…[TRUNCATED]"},
		{strings.Repeat("x", 4094) + "é", strings.Repeat("x", 4094) + "é"},
		{strings.Repeat("x", 4093) + "𝄞z", strings.Repeat("x", 4093) + "…[TRUNCATED]"},
		{"a\xffb", "a\uFFFDb"},
		{strings.Repeat("\xff", 9000) + "z", "\uFFFDz"},
	} {
		if got := audit.Trim(c.in); got != c.want {
			t.Errorf("%d bytes become %d: …%q", len(c.in), len(got), got[max(0, len(got)-20):])
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Repeat(anyText().Draw(t, "text"), rapid.IntRange(1, 300).Draw(t, "times"))
		got := audit.Trim(in)
		kept := strings.TrimSuffix(got, audit.Truncated)
		if !utf8.ValidString(got) || len(kept) > audit.MaxInput || len(got) > audit.MaxInput+len(audit.Truncated) {
			t.Fatalf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if !strings.HasPrefix(strings.ToValidUTF8(in, "\uFFFD"), kept) {
			t.Fatal("what is kept is not the beginning")
		}
		if len(in) > audit.MaxInput && utf8.ValidString(in) && len(kept) < audit.MaxInput-3 {
			t.Fatalf("only %d bytes of %d are kept", len(kept), len(in))
		}
		if audit.Trim(got) != got {
			t.Fatal("trimming again changes it")
		}
	})
}

// TestC14_MaskedBeforeCut plants a value across the cut. Cut first, half of it
// would stay.
func TestC14_MaskedBeforeCut(t *testing.T) {
	value := fmt.Sprintf("%x&<%s", seal.NewID(), seal.NewID())
	mask := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(value), []byte("****")) }
	s := newScene(t)
	l := s.open(audit.Options{Mask: mask})
	for at := audit.MaxInput - 2*len(value); at < audit.MaxInput+2; at++ {
		got := l.Input(map[string]string{"text": strings.Repeat("x", at) + value + strings.Repeat("y", 100)})
		for n := 8; n <= len(value); n++ {
			if strings.Contains(got, value[:n]) {
				t.Fatalf("with the value at %d, %d bytes of it stay", at, n)
			}
		}
	}
	if got := newScene(t).open(audit.Options{}).Input(map[string]int{"a": 1}); got != `{"a":1}` {
		t.Errorf("without a mask: %s", got)
	}
	for _, bad := range []any{math.Inf(1), make(chan int), func() {}, json.RawMessage(`{"a":`)} {
		if got := l.Input(bad); got != "[UNSERIALIZABLE]" {
			t.Errorf("%T becomes %q", bad, got)
		}
	}
}

// TestS1_17_DataNeverFails records what is no data, and what is too much.
func TestS1_17_DataNeverFails(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	long := json.RawMessage(`"` + strings.Repeat("z", audit.MaxData) + `"`)
	digest, err := json.Marshal(audit.DigestOf(long))
	must(t, err)
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"null", ""},
		{" null\n", ""},
		{"{", `"[UNSERIALIZABLE]"`},
		{"{}{}", `"[UNSERIALIZABLE]"`},
		{"\"\xff\"", `"[UNSERIALIZABLE]"`},
		{"{ \"a\" : [ 1 , \" \" ] }\n", `{"a":[1," "]}`},
		{string(long), string(digest)},
		{string(long[1 : len(long)-1]), `"[UNSERIALIZABLE]"`},
	} {
		s.one(l, audit.Record{Event: "test.data", Data: json.RawMessage(c.in)})
		got, _, err := audit.Tail(s.dir, 1)
		must(t, err)
		if string(got[0].Data) != c.want {
			t.Errorf("%.40q is kept as %.80q, want %.80q", c.in, got[0].Data, c.want)
		}
	}
	// As long as a line gets: it must still be read.
	worst := strings.Repeat("\x01", 5000)
	s.one(l, audit.Record{
		Event: "test.worst", ID: worst, Session: worst, Tool: worst, Item: worst, Decision: worst, Reason: worst, Rule: worst, Source: worst,
		Outcome: worst, ReportedBy: worst, Principal: &audit.Principal{Verdict: worst, Client: worst, Instance: worst, Depth: -1},
		Data: long[:len(long)-3],
	})
	s.one(l, audit.Record{Event: "test.longest", Reason: worst, Data: append(long[:len(long)-3:len(long)-3], '"')})
	wantWhole(s, l)
}

func TestEventNames(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	for _, bad := range []string{
		"", ".", "a.", ".a", "a..b", "A.b", "a b", "a-b", "ä", "a\n", strings.Repeat("a", 65),
		audit.EventTorn, audit.EventCut, audit.EventBroken, audit.EventRekeyed, audit.EventRotated, audit.EventSealed,
	} {
		if _, err := l.Append(t.Context(), audit.Record{Event: bad}); err == nil {
			t.Errorf("recorded %q", bad)
		}
	}
	for _, good := range []string{"a", "guard.degraded", "tool_intent.created", strings.Repeat("a", 64), "audit.verified"} {
		s.one(l, audit.Record{Event: good})
	}
	if seq, _ := l.Head(); seq != 5 {
		t.Errorf("%d records", seq)
	}
}

// TestC22_OldEventNames: both names of an event are the same event.
func TestC22_OldEventNames(t *testing.T) {
	for in, want := range map[string]string{
		"tool_execution.completed": "tool.execution.completed",
		"tool_intent.created":      "tool.intent.created",
		"tool.execution.completed": "tool.execution.completed",
		"tool_executions.x":        "tool_executions.x",
		"permission.decided":       "permission.decided",
	} {
		if got := audit.CanonicalEvent(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// TestC16_DataForgesNoField: members in data that look like the record's own
// stay in data.
func TestC16_DataForgesNoField(t *testing.T) {
	s := newScene(t)
	l := s.open(audit.Options{})
	forged := `{"seq":99,"event":"audit.sealed","decision":"allow","prev":"00","mac":"` + seal.Hash{}.String() + `"}`
	r := event()
	r.Decision = "deny"
	r.Reason = `","decision":"allow","reason":"`
	r.Data = json.RawMessage(forged)
	s.one(l, r)
	got, _, err := audit.Tail(s.dir, 1)
	must(t, err)
	if got[0].Seq != 1 || got[0].Decision != "deny" || got[0].Reason != r.Reason || string(got[0].Data) != forged {
		t.Errorf("read %+v", got[0])
	}
	var generic map[string]any
	must(t, json.Unmarshal(s.read(s.segments()[0]), &generic))
	if generic["decision"] != "deny" || generic["seq"] != 1.0 {
		t.Errorf("another reader sees %v", generic)
	}
}

func TestSealedNames(t *testing.T) {
	s := newScene(t)
	name := "personal/bank " + seal.NewID().String()
	a, err := audit.SealName(s.root, s.account, name)
	must(t, err)
	b, err := audit.SealName(s.root, s.account, "x")
	must(t, err)
	if a == b || len(a) != len(b) || strings.Contains(a, name) || audit.Trim(a) != a {
		t.Errorf("sealed to %s and %s", a, b)
	}
	if got, err := audit.OpenName(s.root, s.account, a); err != nil || got != name {
		t.Errorf("opened to %q, %v", got, err)
	}
	if got, err := audit.OpenName(s.root, s.account, "deploy token"); err != nil || got != "deploy token" {
		t.Errorf("a clear name is %q, %v", got, err)
	}
	for _, bad := range []string{a[:len(a)-4], a + "AAAA", ".sealed:", ".sealed:*", a[:20] + "A" + a[21:]} {
		if got, err := audit.OpenName(s.root, s.account, bad); err == nil && bad != a {
			t.Errorf("%.30s… opened to %q", bad, got)
		}
	}
	if _, err := audit.OpenName(s.root, seal.NewID(), a); err == nil {
		t.Error("opened for another account")
	}
	if _, err := audit.SealName(s.root, s.account, strings.Repeat("n", 511)); err == nil {
		t.Error("sealed a name that is too long")
	}
}
