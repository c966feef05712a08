package f1reader

import (
	"bytes"
	"strings"
	"testing"
)

// sizes are the numbers of bytes and symbols of the codes that people type.
func sizes() map[int]int { return map[int]int{secretSize: 54, recoverySize: 34} }

// TestF1_2_Codes checks what readers of typed codes ignore and what they do not.
func TestF1_2_Codes(t *testing.T) {
	for n, symbols := range sizes() {
		raw := randomBytes(n)
		code := codeOf(raw)
		if len(code) != symbols {
			t.Errorf("code of %d symbols, want %d", len(code), symbols)
		}
		typed := strings.ToLower(code[:5]) + " - -" + strings.NewReplacer("0", "o", "1", "L").Replace(code[5:]) + " "
		for _, text := range []string{code, typed, strings.ReplaceAll(code, "1", "i")} {
			if got, err := parseCode(text, n); err != nil || !bytes.Equal(got, raw) {
				t.Errorf("%q: %x, %v", text, got, err)
			}
		}
		check := strings.IndexByte(crockford, code[len(code)-1])
		for name, text := range map[string]string{
			"empty": "", "short": code[1:], "long": code + "0", "a foreign symbol": "U" + code[1:],
			"a line feed": code + "\n", "a wrong check": code[:len(code)-1] + string(crockford[(check+1)%32]),
		} {
			if _, err := parseCode(text, n); err == nil {
				t.Errorf("%s: read", name)
			}
		}
	}
}

// TestF1_2_CodeSpellings checks that no other symbol stands for the same bytes,
// not even in the bits that pad the last one.
func TestF1_2_CodeSpellings(t *testing.T) {
	for n := range sizes() {
		raw := randomBytes(n)
		code := []byte(codeOf(raw))
		for at, right := range code {
			for _, other := range []byte(crockford) {
				code[at] = other
				if got, err := parseCode(string(code), n); err == nil && other != right && bytes.Equal(got, raw) {
					t.Errorf("symbol %d may be %c", at, other)
				}
			}
			code[at] = right
		}
	}
}

// TestF1_2_CodeBits checks the order of bits: it is the alphabet itself that
// comes out of the numbers 0 to 31 in five bits each.
func TestF1_2_CodeBits(t *testing.T) {
	raw := []byte{
		0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf,
		0x84, 0x65, 0x3a, 0x56, 0xd7, 0xc6, 0x75, 0xbe, 0x77, 0xdf,
	}
	if got := base32(raw, 32); got != crockford {
		t.Errorf("base32 = %s", got)
	}
	if got := base32([]byte{0xff}, 2); got != "ZW" { // 11111 111|00
		t.Errorf("base32 of one byte = %s", got)
	}
}

// TestF1_1_ENC checks the encoding of associated data.
func TestF1_1_ENC(t *testing.T) {
	got := enc("label").add(nil, []byte("ab")).u64(1).u16(0x100).bytes
	want := "label" + "\x00\x00" + "\x00\x02ab" + "\x00\x08\x00\x00\x00\x00\x00\x00\x00\x01" + "\x00\x02\x01\x00"
	if string(got) != want {
		t.Errorf("ENC = %q, want %q", got, want)
	}
}
