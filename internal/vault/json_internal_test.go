package vault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A node is any value of canonical JSON: map[string]any, []any, string, int64 or bool.

func putNode(e *encoder, x any) {
	switch x := x.(type) {
	case map[string]any:
		e.object(nil, mapMembers(x, putNode)...)
	case []any:
		e.list(len(x), func(i int) { putNode(e, x[i]) })
	case string:
		e.str(x)
	case int64:
		e.num(x)
	case bool:
		e.text(strconv.FormatBool(x))
	}
}

func readNode(d *decoder) any {
	switch c := d.peek(); c {
	case '{':
		m := map[string]any{}
		d.object(func(key string) { m[key] = readNode(d) })
		return m
	case '[':
		list := []any{}
		d.list(func() { list = append(list, readNode(d)) })
		return list
	case '"':
		return d.str()
	case 't', 'f':
		return d.flag()
	default:
		return d.num()
	}
}

func encodeNode(x any) []byte { return mustEncode(func(e *encoder) { putNode(e, x) }) }

func decodeNode(in []byte) (x any, err error) {
	err = decode(in, func(d *decoder) { x = readNode(d) })
	return x, err
}

// skipNode walks over one value as over one that is not known.
func skipNode(in []byte) error { return decode(in, (*decoder).skip) }

// textGen draws texts with all that needs care in a string.
func textGen() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]string{`"`, `\`, "\x00", "\x01", "\b", "\t", "\n", "\v", "\f", "\r", "\x1f", " ", "\x7f", "/", "<", "é", "e\u0301", "\u2028", "\ufeff", "\ufffd", "😀", "\U0010ffff", ""})
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(odd, rapid.StringN(0, 4, 8)), 0, 6).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

func intGen() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64Range(-maxInt, maxInt), rapid.SampledFrom([]int64{0, 1, -1, 9, 10, maxInt, -maxInt}))
}

func nodeGen(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(textGen().AsAny(), intGen().AsAny(), rapid.Bool().AsAny())
	if depth == 0 {
		return leaf
	}
	inner := rapid.Deferred(func() *rapid.Generator[any] { return nodeGen(depth - 1) })
	list := rapid.Custom(func(t *rapid.T) any { return rapid.SliceOfN(inner, 0, 4).Draw(t, "list") })
	object := rapid.Custom(func(t *rapid.T) any { return rapid.MapOfN(textGen(), inner, 0, 4).Draw(t, "object") })
	return rapid.OneOf(leaf, list, object)
}

func TestJSONComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := nodeGen(4).Draw(t, "x")
		text := encodeNode(x)
		got, err := decodeNode(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(x, got); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
		if err := skipNode(text); err != nil {
			t.Fatalf("skipping %s: %v", text, err)
		}
		if again := encodeNode(got); !bytes.Equal(text, again) {
			t.Fatalf("%s and %s are one value", text, again)
		}
	})
}

// TestJSONIsJSON compares with the reader and writer of the standard library, which know nothing of ours.
func TestJSONIsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := nodeGen(3).Draw(t, "x")
		text := encodeNode(x)
		var got any
		in := json.NewDecoder(bytes.NewReader(text))
		in.UseNumber()
		if err := in.Decode(&got); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(x, plain(t, got)); diff != "" {
			t.Fatalf("%s: %s", text, diff)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil || !bytes.Equal(compact.Bytes(), text) {
			t.Fatalf("white space in %s (%v)", text, err)
		}
		checkSorted(t, text)
	})
}

// plain makes numbers of the standard library's numbers.
func plain(t *rapid.T, x any) any {
	switch x := x.(type) {
	case json.Number:
		n, err := x.Int64()
		if err != nil {
			t.Fatal(err)
		}
		return n
	case []any:
		for i := range x {
			x[i] = plain(t, x[i])
		}
		return x
	case map[string]any:
		for k := range x {
			x[k] = plain(t, x[k])
		}
		return x
	}
	return x
}

// checkSorted reads the keys of the outermost object in the order in which they stand.
func checkSorted(t *rapid.T, text []byte) {
	in := json.NewDecoder(bytes.NewReader(text))
	if first, err := in.Token(); err != nil || first != json.Delim('{') {
		return
	}
	var keys []string
	for in.More() {
		key, err := in.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.IsSorted(keys) {
		t.Fatalf("keys of %s stand as %q", text, keys)
	}
}

// TestJSONIsMeasured wants the first pass to know the size of the second: a slice that grows leaves copies behind.
func TestJSONIsMeasured(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := nodeGen(3).Draw(t, "x")
		n := measure(func(e *encoder) { putNode(e, x) })
		if text := encodeNode(x); len(text) != n || cap(text) != n {
			t.Fatalf("%d bytes in room for %d, measured %d", len(text), cap(text), n)
		}
	})
}

func TestJSONOrderOfKeys(t *testing.T) {
	// By bytes, so "B" before "a" and U+FFFD before U+10000, whatever a language or UTF-16 say.
	want := `{"":1,"A":1,"B":1,"a":1,"a\u0000":1,"aa":1,"b":1,"é":1,"` + "\ufffd" + `":1,"` + "\U00010000" + `":1}`
	keys := []string{"b", "a", "", "\U00010000", "aa", "B", "é", "A", "a\x00", "\ufffd"}
	x := map[string]any{}
	for _, k := range keys {
		x[k] = int64(1)
	}
	if got := string(encodeNode(x)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if _, err := decodeNode([]byte(want)); err != nil {
		t.Error(err)
	}
}

func TestJSONEscapes(t *testing.T) {
	want := map[byte]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	for c := range byte(0x80) {
		text := want[c]
		switch {
		case text != "":
		case c < 0x20:
			text = fmt.Sprintf(`\u%04x`, c)
		default:
			text = string(rune(c))
		}
		if got := string(encodeNode(string(rune(c)))); got != `"`+text+`"` {
			t.Errorf("byte %#x is written as %s, not %s", c, got, text)
		}
	}
}

// badJSON are spellings that another reader might take for one of ours.
func badJSON() map[string]string {
	return map[string]string{
		"nothing":                  ``,
		"a key twice":              `{"a":1,"a":1}`,
		"keys out of order":        `{"b":1,"a":1}`,
		"keys by length":           `{"b":1,"aa":1}`,
		"keys without case":        `{"a":1,"B":1}`,
		"keys by UTF-16":           `{"` + "\U00010000" + `":1,"` + "\ufffd" + `":1}`,
		"inner keys out of order":  `{"a":{"c":1,"b":1}}`,
		"a space in front":         ` {"a":1}`,
		"a space at the end":       `{"a":1} `,
		"a line at the end":        "{\"a\":1}\n",
		"a space after a colon":    `{"a": 1}`,
		"a space before a colon":   `{"a" :1}`,
		"a space after a comma":    `[1, 2]`,
		"a space in an object":     `{ }`,
		"a tab in a list":          "[\t]",
		"a byte order mark":        "\ufeff{}",
		"a comma too many":         `[1,]`,
		"a comma in an object":     `{"a":1,}`,
		"a comma in front":         `[,1]`,
		"two commas":               `[1,,2]`,
		"no comma":                 `[1 2]`,
		"no comma in an object":    `{"a":1"b":2}`,
		"only a comma":             `[,]`,
		"no value":                 `{"a":}`,
		"no colon":                 `{"a"1}`,
		"no key":                   `{1:2}`,
		"an open object":           `{"a":1`,
		"an open list":             `[1`,
		"an open string":           `"a`,
		"the wrong bracket":        `[1}`,
		"a second value":           `{}{}`,
		"bytes after the end":      `{}x`,
		"a null after the end":     "{}\x00",
		"null":                     `null`,
		"an escaped letter":        `"\u0041"`,
		"an escaped slash":         `"\/"`,
		"an escaped quote in hex":  `"\u0022"`,
		"an escaped line in hex":   `"\u000a"`,
		"an escaped é":             `"\u00e9"`,
		"an escaped DEL":           `"\u007f"`,
		"hex in upper case":        `"\u001F"`,
		"a U in upper case":        `"\U001f"`,
		"a short escape":           `"\u1f"`,
		"a signed escape":          `"\u+01f"`,
		"an escape cut off":        `"\u00`,
		"an unknown escape":        `"\x1f"`,
		"a vertical tab":           `"\v"`,
		"an escape at the end":     `"\`,
		"a control byte":           "\"\x01\"",
		"a line in a string":       "\"\n\"",
		"a control byte after \\":  "\"\\\x01\"",
		"a lone surrogate":         `"\ud800"`,
		"a pair of surrogates":     `"\ud83d\ude00"`,
		"a surrogate in UTF-8":     "\"\xed\xa0\x80\"",
		"invalid UTF-8":            "\"\xff\"",
		"UTF-8 cut off":            "\"\xc3\"",
		"UTF-8 too long":           "\"\xc0\xaf\"",
		"UTF-8 beyond Unicode":     "\"\xf4\x90\x80\x80\"",
		"an escape in a key":       `{"\u0041":1}`,
		"invalid UTF-8 in a key":   "{\"\xff\":1}",
		"a fraction":               `1.5`,
		"a fraction of nothing":    `1.0`,
		"an exponent":              `1e3`,
		"an exponent in capitals":  `1E3`,
		"a point at the end":       `1.`,
		"a point in front":         `.5`,
		"minus zero":               `-0`,
		"a plus sign":              `+1`,
		"a leading zero":           `01`,
		"a leading zero after -":   `-01`,
		"only zeros":               `00`,
		"only a minus":             `-`,
		"two minuses":              `--1`,
		"a minus inside":           `1-1`,
		"hex":                      `0x10`,
		"beyond 2^53-1":            `9007199254740992`,
		"below -(2^53-1)":          `-9007199254740992`,
		"beyond 64 bits":           `18446744073709551617`,
		"a hundred digits":         strings.Repeat("9", 100),
		"not a number":             `NaN`,
		"infinity":                 `Infinity`,
		"true in capitals":         `True`,
		"true cut off":             `tru`,
		"true and more":            `truefalse`,
		"a comment":                `{}//x`,
		"single quotes":            `'a'`,
		"seventeen lists":          strings.Repeat("[", 17) + strings.Repeat("]", 17),
		"seventeen objects":        strings.Repeat(`{"a":`, 16) + `{}` + strings.Repeat("}", 16),
		"seventeen of both":        strings.Repeat(`{"a":[`, 8) + `{}` + strings.Repeat("]}", 8),
		"a hundred thousand lists": strings.Repeat("[", 100_000),
	}
}

func TestJSONOtherSpellingsAreRefused(t *testing.T) {
	for name, text := range badJSON() {
		// Also inside something right, where another function reads on.
		for _, around := range []string{"%s", "[%s]", `{"a":%s}`, `{"a":%s,"b":1}`} {
			in := fmt.Appendf(nil, around, text)
			if around == "[%s]" && text == "" {
				continue // the empty list
			}
			if x, err := decodeNode(in); err == nil {
				t.Errorf("%s: %.60q is read as %v", name, in, x)
			}
			if err := skipNode(in); err == nil {
				t.Errorf("%s: %.60q is skipped", name, in)
			}
		}
	}
}

func TestJSONLimitsAreReached(t *testing.T) {
	for _, text := range []string{
		`0`, `-1`, `9007199254740991`, `-9007199254740991`, `{}`, `[]`, `""`, `true`, `false`, `[[],{},"",0,true]`,
		strings.Repeat("[", 16) + strings.Repeat("]", 16),
		strings.Repeat(`{"a":`, 15) + `{}` + strings.Repeat("}", 15),
		strings.Repeat(`[`, 15) + `[],[]` + strings.Repeat("]", 15),
		"\"\x7f\"", `"/"`, `"\u0000\u001f"`, `"😀"`,
	} {
		x, err := decodeNode([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := skipNode([]byte(text)); err != nil {
			t.Errorf("skipping %s: %v", text, err)
		}
		if again := string(encodeNode(x)); again != text {
			t.Errorf("%s is written again as %s", text, again)
		}
	}
}

// TestJSONTypesAreKept gives each reader of one type all the others.
func TestJSONTypesAreKept(t *testing.T) {
	right := map[string]string{"object": `{"a":1}`, "list": `["a"]`, "text": `"a"`, "number": `-7`, "flag": `true`, "bytes": `"AAAA"`}
	readers := map[string]func(*decoder){
		"object": func(d *decoder) { d.object(func(string) { d.skip() }) },
		"list":   func(d *decoder) { d.strs() },
		"text":   func(d *decoder) { d.str() },
		"number": func(d *decoder) { d.num() },
		"flag":   func(d *decoder) { d.flag() },
		"bytes":  func(d *decoder) { d.publicBytes() },
		"secret": func(d *decoder) { d.base64() },
		"count":  func(d *decoder) { d.count() },
	}
	fits := map[[2]string]bool{
		{"text", "bytes"}: true, {"bytes", "bytes"}: true, {"secret", "bytes"}: true,
	}
	for reader, read := range readers {
		for kind, text := range right {
			err := decode([]byte(text), read)
			if want := reader == kind || fits[[2]string{reader, kind}]; (err == nil) != want {
				t.Errorf("%s read as %s: %v", text, reader, err)
			}
		}
	}
	if err := decode([]byte(`7`), func(d *decoder) { d.count() }); err != nil {
		t.Error(err)
	}
}

func TestJSONBytesHaveOneSpelling(t *testing.T) {
	good := map[string]string{``: "", `AA==`: "\x00", `AAA=`: "\x00\x00", `AAAA`: "\x00\x00\x00", `/+8=`: "\xff\xef", `AAAAAA==`: "\x00\x00\x00\x00"}
	bad := []string{
		`A`, `AA`, `AAA`, `AA=`, `A===`, `=`, `==`, `===`, `====`, `AAAA=`, `AAAA====`, `AA==AAAA`, `AB==`, `AAB=`, `_-8=`, `AA A`, ` AAAA`, `AAAA\n`,
		`A\u0041AA`, `é===`, `AAAAA`, `AAAAAA`, `AAAAAA=`, `AAAA==`, `AA==\r\n`, `\/\/==`,
	}
	readers := map[string]func(d *decoder) string{
		"secret": func(d *decoder) (s string) {
			v := d.base64()
			defer v.Destroy()
			_ = v.Use(func(b []byte) { s = string(b) })
			return s
		},
		"public": func(d *decoder) string { return string(d.publicBytes()) },
	}
	for name, read := range readers {
		for text, want := range good {
			var got string
			if err := decode([]byte(`"`+text+`"`), func(d *decoder) { got = read(d) }); err != nil || got != want {
				t.Errorf("%s: %q is %q (%v), want %q", name, text, got, err, want)
			}
		}
		for _, text := range bad {
			if err := decode([]byte(`"`+text+`"`), func(d *decoder) { read(d) }); err == nil {
				t.Errorf("%s: %q is read", name, text)
			}
		}
	}
}

// TestJSONIsCutAnywhere wants each beginning of a right text refused, and each text with one byte changed read as what it then says
// or refused.
func TestJSONIsCutAnywhere(t *testing.T) {
	text := encodeNode(map[string]any{"a": []any{int64(-12), "é\n\x01", true, false, map[string]any{}}, "b": "x", "c": int64(0)})
	for n := range len(text) {
		if _, err := decodeNode(text[:n]); err == nil {
			t.Errorf("%s is read", text[:n])
		}
	}
	for i := range text {
		for c := range 256 {
			changed := bytes.Clone(text)
			changed[i] = byte(c)
			checkCanonical(t, changed)
		}
	}
}

// checkCanonical wants what is read to be written again as the same bytes, and the two ways to walk over a text to agree.
func checkCanonical(t *testing.T, in []byte) {
	x, err := decodeNode(in)
	if skipped := skipNode(in); (skipped == nil) != (err == nil) {
		t.Errorf("%q: read %v, skipped %v", in, err, skipped)
	}
	if err != nil {
		return
	}
	if again := encodeNode(x); !bytes.Equal(in, again) {
		t.Errorf("%q is read, and written again as %q", in, again)
	}
}

// TestEncoderRefusesWhatNoReaderTakes: what is written and can't be read again is lost.
func TestEncoderRefusesWhatNoReaderTakes(t *testing.T) {
	for name, x := range map[string]any{
		"text": "\xff", "key": map[string]any{"\xed\xa0\x80": int64(1)}, "large": int64(maxInt + 1), "small": int64(-maxInt - 1),
	} {
		text, err := encode(func(e *encoder) { putNode(e, x) })
		if err == nil {
			t.Errorf("%s: written", name)
		}
		if _, err := decodeNode(text); err == nil {
			t.Errorf("%s: a reader takes it", name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "s"))
		e := &encoder{counting: true}
		e.str(s)
		if (e.err == nil) != utf8.ValidString(s) {
			t.Fatalf("%q: %v", s, e.err)
		}
	})
}

func TestBadJSONIsAllDifferent(t *testing.T) {
	texts := slices.Sorted(maps.Values(badJSON()))
	if len(slices.Compact(texts)) != len(badJSON()) {
		t.Error("a spelling stands twice")
	}
}

// mustEncode is encode for what every reader takes.
func mustEncode(put func(*encoder)) []byte {
	text, err := encode(put)
	if err != nil {
		panic(err)
	}
	return text
}
