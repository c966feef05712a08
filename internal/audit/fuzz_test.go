package audit_test

import (
	"bytes"
	"testing"

	"warder/internal/audit"
)

// seed is the line of a usual record.
const seed = `{"v":1,"seq":7,"time":"2026-02-03T03:05:06.789Z","event":"permission.decided","id":"i-1","session":null,` +
	`"principal":{"verdict":"agent","client":"claude","depth":1,"instance":null},"tool":"run","item":"a \"b\" \u0001","decision":"allow",` +
	`"reason":null,"rule":null,"source":"policy.toml:12","outcome":null,"reported_by":null,"data":{"a":[1,"x y"]},` +
	`"prev":"00000000000000000000000000000000000000000000000000000000000000aa","mac":"bb000000000000000000000000000000000000000000000000000000000000cc"}`

// FuzzDecode: a line that is taken is written again as it is.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(seed))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := audit.Decode(line)
		if err == nil && !bytes.Equal(r.Line(), line) {
			t.Errorf("read  %q\nagain %q", line, r.Line())
		}
	})
}

func TestSeedIsARecord(t *testing.T) {
	if _, err := audit.Decode([]byte(seed)); err != nil {
		t.Error(err)
	}
}

// FuzzDecodeCheckpoints: a file that is taken is written again as it is.
func FuzzDecodeCheckpoints(f *testing.F) {
	f.Add(append([]byte("WARDERAC\x00\x01\x00\x10"), make([]byte, 16+101)...))
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := audit.DecodeCheckpoints(file)
		if err == nil && !bytes.Equal(c.Encode(), file) {
			t.Errorf("read %x, again %x", file, c.Encode())
		}
	})
}

// FuzzSegment puts anything in the place of a log's segment, or behind it. Only
// the log itself is whole, readers end, and a writer goes on.
func FuzzSegment(f *testing.F) {
	s := newScene(f)
	l := s.open(audit.Options{})
	must(f, l.Checkpoint(s.root, s.account))
	s.add(l, 2)
	must(f, l.Close())
	name := s.segments()[0]
	data := s.read(name)
	f.Add([]byte(seed+"\n"), true)
	f.Add([]byte(seed+"\n"), false)
	f.Add([]byte(`{"v":1,"seq":3`), true)
	f.Fuzz(func(t *testing.T, bytesThere []byte, behind bool) {
		from := *s
		from.t = t
		c := from.copy()
		text := bytesThere
		if behind {
			text = append(bytes.Clone(data), bytesThere...)
		}
		c.write(name, text)
		whole := bytes.HasPrefix(text, data) && !bytes.Contains(text[len(data):], []byte("\n"))
		for how, r := range map[string]audit.Report{"chain": c.verify(), "full": c.full()} {
			if r.OK != whole {
				t.Errorf("%s: %s", how, show(r))
			}
		}
		if _, _, err := audit.Tail(c.dir, 10); err != nil {
			t.Error(err)
		}
		l := c.open(audit.Options{})
		defer l.Close()
		c.add(l, 1)
		if r := c.full(); r.OK != bytes.HasPrefix(text, data) {
			t.Errorf("after going on: %s", show(r))
		}
	})
}

// TestOneForm writes the same record in other ways that JSON allows. None is
// taken: a line has one form.
func TestOneForm(t *testing.T) {
	for _, c := range []struct{ old, new string }{
		{`"v":1`, `"v":01`},
		{`"v":1`, `"v":1.0`},
		{`"v":1`, `"v":2`},
		{`"seq":7`, `"seq":07`},
		{`"seq":7`, `"seq":0`},
		{`"seq":7`, `"seq":-7`},
		{`"seq":7`, `"seq":7e0`},
		{`"seq":7`, `"seq":9007199254740992`},
		{`"seq":7`, `"seq":18446744073709551623`},
		{`"seq":7,`, `"seq":7, `},
		{`"v":1,"seq":7,`, `"seq":7,"v":1,`},
		{`05:06.789Z`, `05:06,789Z`},
		{`05:06.789Z`, `05:60.789Z`},
		{`2026-02-03`, `2026-02-30`},
		{`2026-02-03`, `2026-13-03`},
		{`2026-02-03T03`, `2026-02-03T24`},
		{`2026-02-03T`, `2026-02-03 `},
		{`.789Z`, `.789z`},
		{`.789Z`, `.78Z`},
		{`permission.decided`, `Permission.decided`},
		{`permission.decided`, ``},
		{`"id":"i-1"`, `"id":""`},
		{`"id":"i-1"`, `"id":1`},
		{`"id":"i-1"`, `"id":"i\u002d1"`},
		{`"id":"i-1"`, `"id":"i-1\/"`},
		{`"id":"i-1"`, "\"id\":\"i-\t1\""},
		{`"id":"i-1"`, "\"id\":\"i-\xff1\""},
		{`\u0001`, `\u001F`},
		{`\u0001`, `\u0041`},
		{`\u0001`, `\u1`},
		{`\u0001`, `\n\`},
		{`"session":null`, `"session":nul`},
		{`"session":null,`, ``},
		{`"session":null`, `"session":null,"session":null`},
		{`"depth":1`, `"depth":-1`},
		{`"depth":1`, `"depth":""`},
		{`"instance":null}`, `"instance":null,"uid":0}`},
		{`"data":{"a":[1,"x y"]}`, `"data":{"a": [1,"x y"]}`},
		{`"data":{"a":[1,"x y"]}`, `"data":{"a":[1,"x y"]}}`},
		{`"data":{"a":[1,"x y"]}`, `"data":{"a":[1,"x y"]`},
		{`"data":{"a":[1,"x y"]}`, `"data":`},
		{`"data":{"a":[1,"x y"]}`, `"data":null `},
		{`"data":{"a":[1,"x y"]}`, `"data":1,"data":2`},
		{`00aa"`, `00AA"`},
		{`00aa"`, `00ag"`},
		{`0000cc"}`, `0000CC"}`},
		{`0000cc"}`, `0000cc"} `},
		{`0000cc"}`, `0000cc","mac":"x"}`},
		{`{"v"`, ` {"v"`},
		{`{"v"`, "\ufeff{\"v\""},
	} {
		line := bytes.Replace([]byte(seed), []byte(c.old), []byte(c.new), 1)
		if bytes.Equal(line, []byte(seed)) {
			t.Fatalf("%s is not in the seed", c.old)
		}
		if r, err := audit.Decode(line); err == nil {
			t.Errorf("%s is taken as %s", c.new, r.Line())
		}
	}
	for n := range len(seed) {
		if _, err := audit.Decode([]byte(seed[:n])); err == nil {
			t.Errorf("cut to %d bytes it is taken", n)
		}
	}
}
