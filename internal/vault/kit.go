package vault

import (
	"crypto/sha256"
	"errors"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
)

// Kit is what is printed once and kept on paper: with it the account can be opened again after a lost device or password.
// DeviceSecret and RecoveryCode are text (F1.2) in locked memory.
type Kit struct {
	Account      seal.ID
	DeviceSecret secret.Value
	RecoveryCode secret.Value
	StateCode    string // of the account when the kit was made, to compare with another device
	Created      time.Time
}

// Destroy wipes the kit.
func (k *Kit) Destroy() {
	k.DeviceSecret.Destroy()
	k.RecoveryCode.Destroy()
}

const (
	deviceSecretLen = 32
	recoveryCodeLen = 20
)

// crockford is the alphabet of codes that people type: no I, L, O or U, which are misread.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ErrMistyped says that what was typed is no recovery code or device secret: a typing error, not a wrong one.
var ErrMistyped = errors.New("the code is mistyped: its check symbols do not fit")

// codeText writes raw bytes as F1.2's code: symbols, two check symbols, dashes between groups of four.
func codeText(raw secret.Value) (secret.Value, error) {
	symbols := (raw.Len()*8+4)/5 + 2
	return secret.Make(symbols+(symbols-1)/4, func(dst []byte) error {
		return raw.Use(func(b []byte) {
			n := 0
			put := func(five byte) {
				if n%5 == 4 {
					dst[n] = '-'
					n++
				}
				dst[n] = crockford[five]
				n++
			}
			eachFive(b, put)
			for _, c := range checkSymbols(b) {
				put(c)
			}
		})
	})
}

// eachFive calls put for each 5 bits from the most significant end, the last padded with zeros.
func eachFive(b []byte, put func(byte)) {
	var acc uint32
	bits := 0
	for _, c := range b {
		acc, bits = acc<<8|uint32(c), bits+8
		for bits >= 5 {
			bits -= 5
			put(byte(acc>>bits) & 31)
		}
	}
	if bits > 0 {
		put(byte(acc<<(5-bits)) & 31)
	}
}

// checkSymbols are the first ten bits of the SHA-256 of b: one mistyped code in a thousand passes.
func checkSymbols(b []byte) [2]byte {
	sum := sha256.Sum256(b)
	return [2]byte{sum[0] >> 3, (sum[0]&7)<<2 | sum[1]>>6}
}

// parseCode reads a code of n raw bytes as a person types it.
func parseCode(text secret.Value, n int) (raw secret.Value, err error) {
	raw, err = secret.Make(n, func(dst []byte) error {
		ok := false
		if err := text.Use(func(b []byte) { ok = decodeCode(dst, b) }); err != nil {
			return err
		}
		if !ok {
			return ErrMistyped
		}
		return nil
	})
	return raw, err
}

func decodeCode(dst, text []byte) bool {
	var acc uint32
	var check [2]byte
	bits, n, symbols := 0, 0, (len(dst)*8+4)/5
	seen := 0
	for _, c := range text {
		if c == '-' || c == ' ' || c == '\n' || c == '\r' || c == '\t' {
			continue
		}
		five, ok := symbolValue(c)
		if !ok || seen == symbols+2 {
			return false
		}
		if seen >= symbols {
			check[seen-symbols] = five
		} else if acc, bits = acc<<5|uint32(five), bits+5; bits >= 8 && n < len(dst) {
			bits -= 8
			dst[n] = byte(acc >> bits)
			n++
		}
		seen++
	}
	padding := acc & (1<<bits - 1)
	return seen == symbols+2 && padding == 0 && check == checkSymbols(dst)
}

func symbolValue(c byte) (byte, bool) {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	switch c {
	case 'O':
		c = '0'
	case 'I', 'L':
		c = '1'
	}
	for i := range len(crockford) {
		if crockford[i] == c {
			return byte(i), true
		}
	}
	return 0, false
}
