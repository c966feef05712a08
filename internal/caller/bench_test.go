package caller_test

import (
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"warder/internal/caller"
	"warder/internal/platform"
)

// needPidfds skips on systems that Judge answers unknown on.
func needPidfds(t testing.TB) {
	t.Helper()
	pidfd, err := platform.OpenPidfd(os.Getpid())
	if err != nil {
		t.Skip(err)
	}
	pidfd.Close()
}

// deepCaller starts a caller with at least 16 ancestors.
func deepCaller(b *testing.B) *caller.Peer {
	b.Helper()
	needPidfds(b)
	steps := append(slices.Repeat([]step{{Name: "bash"}}, 16), step{Name: "warder"})
	w := newWorld(b, steps...)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.plan.Sock, Net: "unix"})
	must(b, err)
	b.Cleanup(func() { l.Close() })
	must(b, l.SetDeadline(time.Now().Add(20*time.Second)))
	cmd := w.start(b, nil, 0)
	must(b, cmd.Start())
	conn, err := l.AcceptUnix()
	must(b, err)
	b.Cleanup(func() { conn.Close(); _ = cmd.Wait() })
	peer, err := caller.PeerOf(conn)
	must(b, err)
	b.Cleanup(peer.Close)
	return peer
}

// The goals for 16 levels: 100 µs by the kernel's answers, 400 µs by /proc.
func BenchmarkAncestry16(b *testing.B) {
	for _, way := range []struct {
		name string
		proc bool
	}{{"ioctl", false}, {"proc", true}} {
		b.Run(way.name, func(b *testing.B) {
			peer := deepCaller(b)
			b.ReportAllocs()
			for b.Loop() {
				if levels, err := caller.WalkAncestors(peer, way.proc); err != nil || levels != 16 {
					b.Fatal(levels, err)
				}
			}
		})
	}
}

// BenchmarkJudge16 is a whole judgement: programs, arguments and environments
// are read too.
func BenchmarkJudge16(b *testing.B) {
	peer := deepCaller(b)
	tables, _, err := caller.LoadTables(nil, "")
	must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tables.Judge(peer, nil); err != nil {
			b.Fatal(err)
		}
	}
}
