package seal

import (
	"encoding/binary"
	"fmt"
)

// maxField is the longest field the two length bytes can describe.
const maxField = 1<<16 - 1

// encode is F1's one way to join a label with fields: the label, then each
// field behind its length as two big-endian bytes. Without the lengths, two
// neighbouring fields could trade bytes and still look the same. A field that
// does not fit is an error: cutting it would let two inputs share an encoding.
func encode(label string, fields ...[]byte) ([]byte, error) {
	size := len(label)
	for _, f := range fields {
		size += 2 + len(f)
	}
	out := make([]byte, 0, size)
	out = append(out, label...)
	for _, f := range fields {
		if len(f) > maxField {
			return nil, inputError(fmt.Sprintf("field of %d bytes, at most %d", len(f), maxField))
		}
		out = binary.BigEndian.AppendUint16(out, uint16(len(f)))
		out = append(out, f...)
	}
	return out, nil
}

func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func u16(n uint16) []byte { return binary.BigEndian.AppendUint16(nil, n) }
