package audit_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/state"
)

// onDisk is a scene on a real disk: the file system of TMPDIR, where syncs cost
// what they cost.
func onDisk(b *testing.B) *scene {
	b.Helper()
	root, err := seal.NewRootKey()
	must(b, err)
	b.Cleanup(root.Destroy)
	return (&scene{t: b, path: filepath.Join(b.TempDir(), "audit"), root: root, account: seal.NewID()}).opened()
}

// BenchmarkAppend measures durable events from eight goroutines at once.
func BenchmarkAppend(b *testing.B) {
	s := onDisk(b)
	l := s.open(audit.Options{})
	const clients = 8
	b.ResetTimer()
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for range (b.N + c) / clients {
				if _, err := l.Append(b.Context(), event()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendAlone measures one client, who waits for the disk each time.
func BenchmarkAppendAlone(b *testing.B) {
	s := onDisk(b)
	l := s.open(audit.Options{})
	for b.Loop() {
		s.one(l, event())
	}
}

// BenchmarkFloor is what the disk alone takes for a commit: a synced append and
// a replaced file.
func BenchmarkFloor(b *testing.B) {
	s := onDisk(b)
	must(b, s.dir.WriteNew("log", nil))
	f, err := s.dir.OpenAppend("log")
	must(b, err)
	defer f.Close()
	block, key := make([]byte, 8*600), make([]byte, 116)
	for b.Loop() {
		_, err := f.Write(block)
		must(b, err)
		must(b, f.Sync())
		must(b, s.dir.Replace("key", key))
	}
}

// BenchmarkVerify verifies a log of a million records, with the root key and
// without.
func BenchmarkVerify(b *testing.B) {
	s := million(b)
	for name, opt := range map[string]audit.VerifyOptions{
		"chain": {}, "full": {Root: s.root, Account: s.account},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				report, err := audit.Verify(b.Context(), s.dir, opt)
				must(b, err)
				if !report.OK || report.Events < 1_000_000 {
					b.Fatal(show(report))
				}
			}
		})
	}
}

// million makes the log in memory, without waiting for any disk.
func million(b *testing.B) *scene {
	b.Helper()
	s := newScene(b)
	l := s.open(audit.Options{Generations: 100})
	must(b, l.Checkpoint(s.root, s.account))
	const clients, each = 500, 2000
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range each {
				if _, err := l.Append(b.Context(), event()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	must(b, l.Close())
	return s
}

// BenchmarkOpen opens a log whose current segment is nearly full.
func BenchmarkOpen(b *testing.B) {
	s := newScene(b)
	l := s.open(audit.Options{})
	for range 20_000 {
		l.Note(b.Context(), event())
	}
	must(b, l.Close())
	for b.Loop() {
		dir, err := state.OpenDir(s.path)
		must(b, err)
		l, err := audit.Open(dir, audit.Options{})
		must(b, err)
		must(b, l.Close())
		must(b, dir.Close())
	}
	if fi, err := os.Stat(filepath.Join(s.path, s.segments()[0])); err == nil {
		b.ReportMetric(float64(fi.Size())/1e6, "MB")
	}
}

func BenchmarkDecode(b *testing.B) {
	s := newScene(b).fill(1)
	text := s.read(s.segments()[0])
	text = text[:len(text)-1]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := audit.Decode(text); err != nil {
			b.Fatal(err)
		}
	}
}
