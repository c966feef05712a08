package platform_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"warder/internal/platform"
)

// statLine is a line of /proc/PID/stat with this name.
func statLine(comm string) string {
	return "42 (" + comm + ") S 7 42 40 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 4096 5 18446744073709551615\n"
}

func TestParseStat_namesCantFakeFields(t *testing.T) {
	for _, comm := range []string{"bash", "", "a b", ") S 1 1 1 1 (", "x) R 1", "(((", ")))", "a\nb", "tmux: server"} {
		got, err := platform.ParseStat([]byte(statLine(comm)))
		if err != nil {
			t.Errorf("%q: %v", comm, err)
		}
		want := platform.ProcStat{PID: 42, PPID: 7, Session: 40, TTY: 34816, Start: 987654, Comm: comm, State: 'S'}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", comm, diff)
		}
	}
}

func TestParseStat_refusesWhatIsCut(t *testing.T) {
	whole := statLine("bash")
	for n := range strings.Index(whole, " 987654") + 1 {
		if _, err := platform.ParseStat([]byte(whole[:n])); err == nil {
			t.Errorf("took %q", whole[:n])
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Fuzz(func(t *testing.T, line []byte) {
		stat, err := platform.ParseStat(line)
		if err != nil {
			return
		}
		again := fmt.Sprintf("%d (%s) %c %d 0 %d %d 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d",
			stat.PID, stat.Comm, stat.State, stat.PPID, stat.Session, stat.TTY, stat.Start)
		if got, err := platform.ParseStat([]byte(again)); err != nil || got != stat {
			t.Errorf("%q gave %+v, written again %+v, %v", line, stat, got, err)
		}
	})
}

func TestStatusNumbers(t *testing.T) {
	status := []byte("Name:\tUid: 0\\nUid:\nUmask:\t0022\nUid:\t1000\t1001\t1002\t1003\nNSpid:\t9\t1\nGroups:\t \nBad:\tx\n")
	for _, row := range []struct {
		label string
		want  []int64
	}{
		{"Uid:", []int64{1000, 1001, 1002, 1003}},
		{"NSpid:", []int64{9, 1}},
		{"Groups:", nil},
	} {
		got, err := platform.StatusNumbers(status, row.label)
		if diff := cmp.Diff(row.want, got); diff != "" || err != nil {
			t.Errorf("%s %v %s", row.label, err, diff)
		}
	}
	for _, label := range []string{"Bad:", "Absent:"} {
		if got, err := platform.StatusNumbers(status, label); err == nil {
			t.Errorf("%s gave %v", label, got)
		}
	}
}

// entriesOf collects what ScanEntries visits.
func entriesOf(t testing.TB, text string, size int) (entries []string, buf []byte) {
	t.Helper()
	buf = make([]byte, size)
	// One byte a read: each position of an entry in the buffer comes about.
	err := platform.ScanEntries(iotest.OneByteReader(strings.NewReader(text)), buf, func(entry []byte) bool {
		entries = append(entries, string(entry))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return entries, buf
}

func TestScanEntries(t *testing.T) {
	for _, row := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"A=1\x00B=2\x00", []string{"A=1", "B=2"}},
		{"A=1\x00B=2", []string{"A=1", "B=2"}},
		{"\x00A\x00", []string{"", "A"}},
		{"12345678\x00B\x00", []string{"12345678", "B"}},
		{"123456789\x00B\x00", []string{"12345678", "B"}},
		{strings.Repeat("x", 100) + "\x00CLAUDE=1\x00", []string{"xxxxxxxx", "CLAUDE=1"}},
		{strings.Repeat("x", 100), []string{"xxxxxxxx"}},
	} {
		got, buf := entriesOf(t, row.text, 8)
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%q: %s", row.text, diff)
		}
		if !bytes.Equal(buf, make([]byte, 8)) {
			t.Errorf("%q: the buffer keeps %q", row.text, buf)
		}
	}
}

func TestScanEntries_stops(t *testing.T) {
	visits := 0
	buf := make([]byte, 16)
	err := platform.ScanEntries(strings.NewReader("A\x00B\x00"), buf, func([]byte) bool { visits++; return false })
	if err != nil || visits != 1 || !bytes.Equal(buf, make([]byte, 16)) {
		t.Errorf("%d visits, %v, buffer %q", visits, err, buf)
	}
}

// FuzzScanEntries: no padding hides an entry, whatever the buffer.
func FuzzScanEntries(f *testing.F) {
	f.Fuzz(func(t *testing.T, text string, size int) {
		size = max(1, min(size, 64))
		got, _ := entriesOf(t, text, size)
		want := strings.Split(text, "\x00")
		if want[len(want)-1] == "" {
			want = want[:len(want)-1]
		}
		if len(got) != len(want) {
			t.Fatalf("%q through %d bytes: %d entries, want %d", text, size, len(got), len(want))
		}
		for i := range want {
			if cut := want[i][:min(len(want[i]), size)]; got[i] != cut {
				t.Errorf("entry %d is %q, want %q", i, got[i], cut)
			}
		}
	})
}
