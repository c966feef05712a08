package secret_test

import (
	"strings"
	"testing"

	"warder/internal/secret"
)

func BenchmarkNewUseDestroy(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"32B", 32}, {"1KiB", 1 << 10}, {"64KiB", 64 << 10}} {
		b.Run(size.name, func(b *testing.B) {
			source := make([]byte, size.n)
			sum := 0
			for b.Loop() {
				v, err := secret.New(source)
				if err != nil {
					b.Fatal(err)
				}
				_ = v.Use(func(p []byte) { sum += int(p[0]) })
				v.Destroy()
			}
		})
	}
}

func BenchmarkUse(b *testing.B) {
	v, err := secret.Random(32)
	if err != nil {
		b.Fatal(err)
	}
	defer v.Destroy()
	sum := 0
	for b.Loop() {
		_ = v.Use(func(p []byte) { sum += int(p[0]) })
	}
}

// BenchmarkStrength has the longest passwords that are looked at, and one that is much longer.
func BenchmarkStrength(b *testing.B) {
	for _, c := range []struct {
		name, password string
	}{
		{"token", "Xk2" + strings.Repeat("q7Zp", 5)},
		{"words", "correct horse battery staple"},
		{"same", strings.Repeat("a", 64)},
		{"ambiguous", strings.Repeat("il1!|", 13)},
		{"dates", strings.Repeat("1.1.11", 11)},
		{"1MiB", strings.Repeat("1qaz2wsx", 1<<17)},
	} {
		b.Run(c.name, func(b *testing.B) {
			password := []byte(c.password)
			b.ReportAllocs()
			for b.Loop() {
				secret.Strength(password)
			}
		})
	}
}
