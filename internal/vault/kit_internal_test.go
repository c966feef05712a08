package vault

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/secret"
)

// symbolsOf is the text of a code.
func symbolsOf(t tester, raw []byte) string {
	t.Helper()
	v, err := secret.New(slices.Clone(raw))
	v = must(t, v, err)
	defer v.Destroy()
	text, err := codeText(v)
	text = must(t, text, err)
	defer text.Destroy()
	var s string
	_ = text.Use(func(b []byte) { s = string(b) })
	return s
}

// typed reads a code as a person typed it.
func typed(text string, n int) ([]byte, error) {
	v, err := secret.New([]byte(text))
	if err != nil {
		return nil, err
	}
	defer v.Destroy()
	raw, err := parseCode(v, n)
	if err != nil {
		return nil, err
	}
	defer raw.Destroy()
	var b []byte
	err = raw.Use(func(r []byte) { b = bytes.Clone(r) })
	return b, err
}

// TestCodesAreAsPublished compares with codes worked out apart from this code: base32 of the published alphabet, then the first ten bits
// of the SHA-256.
func TestCodesAreAsPublished(t *testing.T) {
	count := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i)
		}
		return b
	}
	for want, raw := range map[string][]byte{
		"0000-0000-0000-0000-0000-0000-0000-0000-VS": make([]byte, 20), "000G-40R4-0M30-E209-185G-R38E-1W81-24GK-WY": count(20),
		"0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-0000-CS": make([]byte, 32), "000G-40R4-0M30-E209-185G-R38E-1W81-24GK-2GAH-C5RR-34D1-P70X-3RFG-CC": count(32), "ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZZ-ZZZG-NY": bytes.Repeat([]byte{0xff}, 32),
	} {
		if got := symbolsOf(t, raw); got != want {
			t.Errorf("%x is %s, want %s", raw, got, want)
		}
		if got, err := typed(want, len(raw)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s is read as %x (%v)", want, got, err)
		}
	}
}

func TestCodesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.SampledFrom([]int{deviceSecretLen, recoveryCodeLen}).Draw(t, "n")
		raw := rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "raw")
		text := symbolsOf(t, raw)
		if symbols := strings.ReplaceAll(text, "-", ""); len(symbols) != map[int]int{deviceSecretLen: 54, recoveryCodeLen: 34}[n] {
			t.Fatalf("%d symbols", len(symbols))
		}
		for i, group := range strings.Split(text, "-") {
			if len(group) != 4 && (i+1)*5 < len(text) || len(group) == 0 || len(group) > 4 {
				t.Fatalf("a group of %d", len(group))
			}
		}
		if got, err := typed(asTyped(t, text), n); err != nil || !bytes.Equal(got, raw) {
			t.Fatalf("%x (%v), want %x", got, err, raw)
		}
		for _, other := range []int{deviceSecretLen + recoveryCodeLen - n, n - 1, n + 1, 1, 0} {
			if _, err := typed(text, other); err == nil {
				t.Fatalf("read as %d bytes", other)
			}
		}
	})
}

// asTyped is the code as hands and eyes may give it back.
func asTyped(t *rapid.T, text string) string {
	like := map[byte]string{'0': "0Oo", '1': "1IiLl"}
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c == '-' {
			b.WriteString(rapid.SampledFrom([]string{"-", "", " ", "\n", " - ", "\t", "\r\n"}).Draw(t, "gap"))
			continue
		}
		forms := like[c]
		if forms == "" {
			forms = string(c) + strings.ToLower(string(c))
		}
		b.WriteByte(forms[rapid.IntRange(0, len(forms)-1).Draw(t, "form")])
	}
	return b.String()
}

// TestCodesMistyped changes one symbol, at each place, into each other one, of many codes. The check symbols find all but one such mistake
// in about a thousand.
func TestCodesMistyped(t *testing.T) {
	OneThread(t)
	for _, n := range []int{deviceSecretLen, recoveryCodeLen} {
		tried, passed := 0, 0
		for range 100 {
			var raw []byte
			v, err := secret.Random(n)
			v = must(t, v, err)
			_ = v.Use(func(b []byte) { raw = bytes.Clone(b) })
			v.Destroy()
			x, y := mistype(t, raw)
			tried, passed = tried+x, passed+y
		}
		t.Logf("codes of %d bytes: %d of %d single wrong symbols pass, 1 in %d", n, passed, tried, tried/max(1, passed))
		// 1 in 1024 is to be expected; three times that many would be a check that does not check.
		if passed*1024 > 3*tried {
			t.Errorf("%d of %d pass", passed, tried)
		}
	}
}

// mistype counts the single wrong symbols of one code and those that pass. None may pass in the check symbols, or be read as the right code.
func mistype(t *testing.T, raw []byte) (tried, passed int) {
	symbols := []byte(strings.ReplaceAll(symbolsOf(t, raw), "-", ""))
	for i := range symbols {
		for _, c := range []byte(crockford) {
			if c == symbols[i] {
				continue
			}
			wrong := slices.Clone(symbols)
			wrong[i] = c
			tried++
			got, err := typed(string(wrong), len(raw))
			if err != nil {
				continue
			}
			passed++
			if i >= len(symbols)-2 || bytes.Equal(got, raw) {
				t.Fatalf("symbol %d of %d: read as %x", i, len(symbols), got)
			}
		}
	}
	return tried, passed
}

// TestCodesThatAreNone are too short, too long, or not of the alphabet.
func TestCodesThatAreNone(t *testing.T) {
	text := symbolsOf(t, make([]byte, recoveryCodeLen))
	for name, bad := range map[string]string{
		"nothing": "", "only gaps": " - \n", "one symbol less": text[:len(text)-1], "one more": text + "0", "twice": text + text,
		"a U": strings.Replace(text, "0", "U", 1), "a letter of another alphabet": strings.Replace(text, "0", "О", 1),
		"a comma": strings.Replace(text, "-", ",", 1), "a zero byte": text + "\x00", "a long dash": strings.Replace(text, "-", "–", 1),
		"two symbols swapped": swapDifferent(text),
	} {
		if raw, err := typed(bad, recoveryCodeLen); err == nil {
			t.Errorf("%s: %q is read as %x", name, bad, raw)
		}
	}
}

// swapDifferent swaps the last two symbols that differ.
func swapDifferent(text string) string {
	b := []byte(text)
	for i := len(b) - 1; i > 0; i-- {
		if b[i] != b[i-1] && b[i] != '-' && b[i-1] != '-' {
			b[i], b[i-1] = b[i-1], b[i]
			break
		}
	}
	return string(b)
}
