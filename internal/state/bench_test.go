package state_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"warder/internal/state"
)

// fill makes n files of size bytes in folders of two hex digits, as the items
// of a vault lie, without syncing each of them.
func fill(b *testing.B, n, size int) *state.Dir {
	b.Helper()
	d, err := state.CreateDir(filepath.Join(b.TempDir(), "own"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	data := make([]byte, size)
	for i := range n {
		sub, err := d.Create(fmt.Sprintf("%02x", i%256))
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub.Path(), fmt.Sprintf("%08x", i)), data, 0o600); err != nil {
			b.Fatal(err)
		}
		sub.Close()
	}
	return d
}

// BenchmarkRead10000 opens 256 folders, lists them and reads 10,000 files of
// 1 KiB: what opening a vault costs before any cryptography.
func BenchmarkRead10000(b *testing.B) {
	d := fill(b, 10_000, 1024)
	b.ReportAllocs()
	for b.Loop() {
		read := 0
		folders, err := d.List()
		if err != nil {
			b.Fatal(err)
		}
		for _, folder := range folders {
			sub, err := d.Open(folder[:len(folder)-1])
			if err != nil {
				b.Fatal(err)
			}
			names, err := sub.List()
			if err != nil {
				b.Fatal(err)
			}
			for _, name := range names {
				if _, err := sub.Read(name, 1<<20); err != nil {
					b.Fatal(err)
				}
				read++
			}
			sub.Close()
		}
		if read != 10_000 {
			b.Fatalf("read %d files", read)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	d := fill(b, 1, 1024)
	sub, err := d.Open("00")
	if err != nil {
		b.Fatal(err)
	}
	defer sub.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sub.Read("00000000", 1<<20); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriteNew is one durable write: two syncs and little else.
func BenchmarkWriteNew(b *testing.B) {
	d := fill(b, 0, 0)
	data := make([]byte, 1024)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		if err := d.WriteNew(fmt.Sprint(n), data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadSettings(b *testing.B) {
	text := []byte("[lock]\nidle = \"1h\"\nmax = \"10h\"\n[audit]\nmax_size = \"64MiB\"\n[guard]\nmode = \"closed\"\n")
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := state.LoadSettings(text, file, none, nil); err != nil {
			b.Fatal(err)
		}
	}
}
