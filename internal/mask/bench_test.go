package mask_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"warder/internal/mask"
	"warder/internal/secret"
)

// sink copies what it gets, as a pipe would.
type sink struct{ room []byte }

func (s *sink) Write(p []byte) (int, error) {
	if len(p) > len(s.room) {
		s.room = make([]byte, len(p))
	}
	return copy(s.room, p), nil
}

const chunk = 32 << 10

// logText is 4 MiB of lines as a build prints them, with one of the values at each distance.
func logText(values []value, distance int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"INFO", "compiling", "internal/vault", "[12/345]", "200 OK", "GET /api/v1/items?id=", "time=2026-02-03T03:05:06Z", "cached"}
	var b bytes.Buffer
	next := distance
	for b.Len() < 4<<20 {
		for range 4 + r.IntN(8) {
			b.WriteString(words[r.IntN(len(words))])
			fmt.Fprintf(&b, " %x ", r.Uint64())
		}
		if distance > 0 && b.Len() >= next {
			b.WriteString(values[r.IntN(len(values))].bytes)
			next = b.Len() + distance
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// nearText is nothing but values, each cut short.
func nearText(values []value) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	var b bytes.Buffer
	for b.Len() < 4<<20 {
		v := values[r.IntN(len(values))].bytes
		b.WriteString(v[:len(v)-1-r.IntN(len(v)/2)])
	}
	return b.Bytes()
}

func keys(n int) []value {
	prefixes := []string{"ghp_", "sk-", "AKIA", "glpat-", "xoxb-", ""}
	values := make([]value, n)
	for i := range values {
		values[i] = value{fmt.Sprintf("KEY%d", i), prefixes[i%len(prefixes)] + token(20+i%40)}
	}
	return values
}

// BenchmarkCopy is what the others are to be compared with.
func BenchmarkCopy(b *testing.B) {
	write(b, io.Discard, logText(nil, 0), chunk)
}

// write writes text over and over through w into a sink; io.Discard stands for the sink alone.
func write(b *testing.B, w io.Writer, text []byte, size int) {
	b.Helper()
	if w == io.Discard {
		w = &sink{}
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for piece := range slices.Chunk(text, size) {
			if _, err := w.Write(piece); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkMask(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		values := keys(n)
		for _, c := range []struct {
			name string
			text []byte
			set  *mask.Set
		}{
			{"log", logText(values, 100<<10), exactly(b, values...)},
			{"dense", logText(values, 200), exactly(b, values...)},
			{"near", nearText(values), exactly(b, values...)},
			{"forms", logText(values, 100<<10), withForms(b, values...)},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				w := mask.NewWriter(&sink{}, c.set)
				defer w.Close()
				write(b, w, c.text, chunk)
			})
		}
	}
}

// BenchmarkLine writes a line of 100 bytes at a time: look at the time of one.
func BenchmarkLine(b *testing.B) {
	line := append(bytes.Repeat([]byte("compiling "), 10)[:99], '\n')
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := mask.NewWriter(io.Discard, withForms(b, keys(n)...))
			defer w.Close()
			for b.Loop() {
				if _, err := w.Write(line); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBuild adds values and makes the table.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		values := keys(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			secrets := make([]secret.Value, n)
			for i, v := range values {
				secrets[i] = newValue(b, v.bytes)
			}
			for b.Loop() {
				set := mask.NewSet()
				for i, v := range values {
					if err := set.Add(v.name, secrets[i], mask.ValueOptions{}); err != nil {
						b.Fatal(err)
					}
				}
				if _, err := mask.NewWriter(io.Discard, set).Write([]byte("x")); err != nil {
					b.Fatal(err)
				}
				set.Destroy()
			}
		})
	}
}

// BenchmarkWeak has values and texts that are alike.
func BenchmarkWeak(b *testing.B) {
	for _, c := range weakSpots() {
		b.Run(c.name, func(b *testing.B) {
			w := mask.NewWriter(&sink{}, exactly(b, c.values...))
			defer w.Close()
			write(b, w, bytes.Repeat([]byte(c.text), 1+(1<<20)/len(c.text)), chunk)
		})
	}
}
