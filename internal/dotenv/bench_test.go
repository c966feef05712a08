package dotenv_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"warder/internal/dotenv"
)

// sample is a file of about size bytes in all forms, with no duplicates.
func sample(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "# service %d\nexport SERVICE_%d_URL=https://host-%d.test/path?x=%d # note\n", i, i, i, i)
		fmt.Fprintf(&b, "SERVICE_%d_TEXT='it is %d # text'\nSERVICE_%d_KEY=\"line\\n%d\nline \\\"two\\\"\"\n\n", i, i, i, i)
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for name, data := range map[string][]byte{
		"1MiB":        sample(1 << 20),
		"4KiB":        sample(4 << 10),
		"1MiB/quotes": append([]byte("A='"), append(bytes.Repeat([]byte(`"\`), 1<<19), '\'')...),
		"1MiB/value":  append([]byte("A='"), append(bytes.Repeat([]byte("\r\n"), 1<<19), '\'')...),
		"1MiB/dups":   bytes.Repeat([]byte("A=0123456789abc\n"), 1<<16),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if f, err := dotenv.Parse("bench.env", data); err == nil {
					f.Wipe()
				}
			}
		})
	}
}

func BenchmarkFormat(b *testing.B) {
	data := sample(1 << 20)
	f, err := dotenv.Parse("bench.env", data)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range []dotenv.Dialect{dotenv.DialectEnv, dotenv.DialectShell} {
		b.Run(string(d), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := dotenv.Format(io.Discard, d, f.Entries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
