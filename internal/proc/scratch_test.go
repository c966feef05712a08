package proc_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/platform"
)

// privatePlace is a directory in memory that is this user's own.
func privatePlace(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "warder-test-")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if inMemory, err := platform.IsInMemory(f); err != nil || !inMemory {
		t.Skip("/dev/shm is on a disk: ", err)
	}
	return dir
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}

// TestU_40_FileOnTmpfs: where no file can be in memory alone, the value lies in a file of its own on a tmpfs, closed to others,
// as often and from whatever program it is opened, and is gone afterwards.
func TestU_40_FileOnTmpfs(t *testing.T) {
	token, second := rand.Text(), rand.Text()
	script := `stat -c %a "$F" "${F%/*}"; head -c 3 "$F" >/dev/null; cat "$F"; (cat "$F"); sh -c 'cat "$F"; exec cat "$G"'; echo "$F" >&2; exec cat "$F"`
	for _, mask := range []string{"", "mask=no-such-text"} {
		place := privatePlace(t)
		args := []string{"refuse=", "places=/no/such/dir:" + place, "file:F=" + token, "file:G=" + second, "--", "sh", "-c", script}
		if mask != "" {
			args = append([]string{mask}, args...)
		}
		got := outcome(t, args...)
		if want := "600\n700\n" + strings.Repeat(token, 3) + second + token; got.stdout != want || got.status != 0 {
			t.Errorf("%q: got %+v", mask, got)
		}
		if path := strings.TrimSpace(got.stderr); !strings.HasPrefix(path, place+"/warder-run-") {
			t.Errorf("%q: the file was %q", mask, path)
		}
		if left := entries(t, place); len(left) != 0 {
			t.Errorf("%q: left behind: %q", mask, left)
		}
	}
}

// TestU_40_FileWhateverTheUmask is closed to others and readable for the program.
func TestU_40_FileWhateverTheUmask(t *testing.T) {
	place := privatePlace(t)
	argv := append([]string{"/bin/sh", "-c", `umask 0; "$@"; umask 0177; "$@"`, "sh"},
		wrapped(t, "refuse=", "places="+place, "file:F=v", "--", "sh", "-c", `stat -c %a "$F"`)...)
	if got, status := launch(t, nil, argv).end(); got != "600\n600\n" || status != 0 {
		t.Errorf("%q, %d", got, status)
	}
}

// TestU_40_NoPlace: without a place nothing is started, and the error says what was looked at.
func TestU_40_NoPlace(t *testing.T) {
	open := privatePlace(t)
	if err := os.Chmod(open, 0o755); err != nil { // #nosec G302 -- what is refused
		t.Fatal(err)
	}
	ran := filepath.Join(t.TempDir(), "ran")
	got := outcome(t, "refuse=", "places=relative:/no/such/dir:/proc:"+open, "file:F=v", "--", "touch", ran)
	if got.status != 125 {
		t.Errorf("got %+v", got)
	}
	for _, word := range []string{"refused by a test", "relative", "/no/such/dir", "/proc", open} {
		if !strings.Contains(got.stderr, word) {
			t.Errorf("no word of %s: %s", word, got.stderr)
		}
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("the program ran")
	}
	if left := entries(t, open); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestU_40_FileOfSignalled: a signal that ends the program ends the file too.
func TestU_40_FileOfSignalled(t *testing.T) {
	for name, number := range map[string]int{"term": platform.SigTerminate, "hangup": platform.SigHangUp, "interrupt": platform.SigInterrupt} {
		t.Run(name, func(t *testing.T) {
			place := privatePlace(t)
			b := begin(t, "refuse=", "places="+place, "file:F=v", "--", "sh", "-c", `echo "$F"; exec sleep 100`)
			if _, err := os.Stat(b.line()); err != nil {
				t.Error(err)
			}
			b.signal(number)
			if _, status := b.end(); status != 128+number {
				t.Errorf("status %d", status)
			}
			if left := entries(t, place); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestU_40_FileOfKilled: what a run that was killed left behind the next one removes, whether that has files or not, and
// nothing else: not what a run that lives has, nor what only looks alike.
func TestU_40_FileOfKilled(t *testing.T) {
	place, elsewhere := privatePlace(t), t.TempDir()
	kept := filepath.Join(elsewhere, "kept")
	alike := filepath.Join(place, "warder-run-file")
	for _, path := range []string{kept, alike} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(elsewhere, filepath.Join(place, "warder-run-link")); err != nil {
		t.Fatal(err)
	}
	lives := begin(t, "refuse=", "places="+place, "file:F=v", "--", "sh", "-c", `echo "$F"; exec sleep 100`)
	living := lives.line()

	for _, args := range [][]string{{"file:F=v"}, {}} {
		killed := begin(t, "refuse=", "places="+place, "file:F=v", "--", "sh", "-c", `echo "$F"; exec sleep 100`)
		file := killed.line()
		killed.signal(platform.SigKill)
		killed.end()
		if _, err := os.Stat(file); err != nil {
			t.Fatalf("nothing was left: %v", err)
		}
		if got := outcome(t, append(append([]string{"refuse=", "places=" + place}, args...), "--", "true")...); got.status != 0 {
			t.Errorf("%+v", got)
		}
		if _, err := os.Stat(filepath.Dir(file)); err == nil {
			t.Errorf("%q: %s is still there", args, file)
		}
	}
	for _, path := range []string{living, alike, kept} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestU_40_WithoutProc: a program in a sandbox without /proc gets its values too, those in files on a tmpfs.
func TestU_40_WithoutProc(t *testing.T) {
	place, token := privatePlace(t), rand.Text()
	hidden := func(argv ...string) []string {
		return append([]string{"/bin/sh", "-c", `exec unshare -rm sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"`, "sh"}, argv...)
	}
	if _, status := launch(t, nil, hidden("true")).end(); status != 0 {
		t.Skip("no name space of an own can be made here")
	}
	for _, mask := range []string{"mask=", "mask=no-such-text"} {
		argv := wrapped(t, mask, "places="+place, "file:F="+token, "env:V="+token, "--", "sh", "-c", `cat "$F"; echo "$V"; echo "$F" >&2`)
		b := launch(t, nil, hidden(argv...))
		got, status := b.end()
		// The race detector complains of the missing /proc, too.
		if path := b.errs.String(); got != token+token+"\n" || status != 0 || !strings.Contains(path, "\n"+place) && !strings.HasPrefix(path, place) {
			t.Errorf("%q, %d, %q", got, status, path)
		}
	}
	if left := entries(t, place); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}
