package mask_test

import (
	"fmt"
	"testing"

	"warder/internal/mask"
)

// BenchmarkSpell spells one value in all forms.
func BenchmarkSpell(b *testing.B) {
	for _, v := range []string{token(20), token(40), token(64), "p@ss w0rd/+&=é-9Xk2", token(40) + "\n" + token(40) + "+/\n"} {
		room := make([]byte, mask.RoomOf([]byte(v), nil, mask.ValueOptions{}))
		b.Run(fmt.Sprintf("%d,%t", len(v), len(v) == len(token(len(v)))), func(b *testing.B) {
			b.ReportAllocs()
			raw, total := []byte(v), 0
			for b.Loop() {
				mask.SpellInto(raw, nil, room, mask.ValueOptions{}, func(s []byte) { total += len(s) })
			}
			b.ReportMetric(float64(total)/float64(b.N), "bytes/op")
		})
	}
}
