package proc_test

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun: what a program gets and gives back, masked or not.
func TestRun(t *testing.T) {
	token := rand.Text()
	tests := map[string]struct {
		args []string
		want result
	}{
		"U-42 argv verbatim":     {[]string{"--", "printf", "%s|", "a", "b c", "$S1", "*", "", "--"}, result{stdout: "a|b c|$S1|*||--|"}},
		"an environment":         {[]string{"env:S=" + token, "--", "sh", "-c", `printf %s "$S"`}, result{stdout: token}},
		"a masked one":           {[]string{"mask=" + token, "env:S=" + token, "--", "sh", "-c", `printf %s "$S"; printf %s "$S" >&2`}, result{"****", "****", 0}},
		"it replaces":            {[]string{"env:HOME=" + token, "--", "sh", "-c", `printf %s "$HOME"; env | grep -c ^HOME=`}, result{stdout: token + "1\n"}},
		"a file":                 {[]string{"file:F=" + token, "--", "sh", "-c", `cat "$F" "$F"; test "${F#/proc/$$/fd/}" != "$F"`}, result{stdout: token + token}},
		"a file for a program's": {[]string{"file:F=" + token, "--", "sh", "-c", `sh -c 'cat "$F"; :'; :`}, result{stdout: token}},
		"a file, each time anew": {
			[]string{"file:F=" + token, "--", "sh", "-c", `head -c 3 "$F" >/dev/null; cat "$F"; (cat "$F"); sh -c 'cat "$F"; exec cat "$F"'; exec cat "$F" "$F"`},
			result{stdout: strings.Repeat(token, 6)},
		},
		"standard input": {[]string{"stdin:=" + token, "--", "cat"}, result{stdout: token}},
		"a large one":    {[]string{"stdin:=x*300000", "--", "wc", "-c"}, result{stdout: "300000\n"}},
		"an empty one":   {[]string{"env:S=", "stdin:=", "--", "sh", "-c", `cat; echo "${S-unset}"`}, result{stdout: "\n"}},
		"U-36 a status":  {[]string{"--", "sh", "-c", "exit 7"}, result{status: 7}},
		"U-36 a signal":  {[]string{"--", "sh", "-c", "kill -TERM $$"}, result{status: 143}},
		"U-36 masked":    {[]string{"mask=x", "--", "sh", "-c", "kill -KILL $$"}, result{status: 137}},
		"not found":      {[]string{"--", "no-such-program-x"}, result{stderr: "no-such-program-x", status: 127}},
		"not to be run":  {[]string{"--", "/etc/passwd"}, result{stderr: "/etc/passwd", status: 127}},
		"U-40 too large": {[]string{"env:BIG=x*204800", "--", "sh", "-c", "echo ran"}, result{stderr: "BIG", status: 125}},
		"U-40 just fits": {[]string{"env:S=x*131069", "--", "sh", "-c", "echo ${#S}"}, result{stdout: "131069\n"}},
		"U-40 just not":  {[]string{"env:S=x*131070", "--", "sh", "-c", "echo ran"}, result{stderr: "S", status: 125}},
	}
	for name, tt := range tests {
		for _, ahead := range [][]string{nil, {"ahead="}} {
			t.Run(name+strings.Join(ahead, ""), func(t *testing.T) {
				got := outcome(t, append(ahead, tt.args...)...)
				if got.stdout != tt.want.stdout || got.status != tt.want.status || !strings.Contains(got.stderr, tt.want.stderr) {
					t.Errorf("got %+v\nwant %+v", got, tt.want)
				}
				if tt.want.stderr == "" && got.stderr != "" {
					t.Errorf("on standard error: %s", got.stderr)
				}
			})
		}
	}
}

// TestNoInterpreter: a text without an interpreter's line is not handed to a shell.
func TestNoInterpreter(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("echo ran\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, "--", script); got.status != 126 || got.stdout != "" {
		t.Errorf("got %+v", got)
	}
}

// TestOneOrder: what goes to one place comes there in the order in which it was printed.
func TestOneOrder(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const script = "i=0; while [ $i -lt 300 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done"
	want, err := exec.Command("sh", "-c", script+" 2>&1").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"mask=a"}, {"mask=a", "ahead="}, {"ahead="}} {
		got, err := exec.Command(self, append(append([]string{"wrap"}, args...), "--", "sh", "-c", script)...).CombinedOutput()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v: %v, %q", args, err, got)
		}
	}
}

// TestOutputThatIsRefused: a masked program whose output can't be written has not worked, whatever its status.
func TestOutputThatIsRefused(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("a device that refuses: ", err)
	}
	defer full.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "wrap", "mask=x", "--", "sh", "-c", "echo told; echo told >&2")
	var told strings.Builder
	cmd.Stdout, cmd.Stderr = full, &told
	_ = cmd.Run()
	const want = "told\nwrap: not all that the program printed is here: write /dev/stdout: no space left on device\n"
	if status := cmd.ProcessState.ExitCode(); status != 125 || told.String() != want {
		t.Errorf("status %d, %q", status, told.String())
	}
}

// TestU_39_stdin: what is piped arrives once, with its end, byte for byte; and what comes back is the same.
func TestU_39_stdin(t *testing.T) {
	data := make([]byte, 5<<20)
	_, _ = rand.Read(data)
	for _, mask := range []string{"", "mask="} {
		args := []string{"--", "cat"}
		if mask != "" {
			args = append([]string{mask}, args...)
		}
		got, status := launch(t, data, wrapped(t, args...)).end()
		if got != string(data) || status != 0 {
			t.Errorf("%q: %d bytes came back of %d, status %d", mask, len(got), len(data), status)
		}
	}
}

// TestDispositions: the program has the signals as a shell gives them, nothing ignored or blocked by a stage.
func TestDispositions(t *testing.T) {
	plain, err := exec.Command("grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status").Output()
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	for _, args := range [][]string{{}, {"mask="}, {"ahead="}, {"ahead=", "mask="}} {
		got := outcome(t, append(args, "--", "grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status")...)
		if got.stdout != string(plain) {
			t.Errorf("%v: %s, without: %s", args, got.stdout, plain)
		}
	}
}

// TestLimits: nor does it have other limits, though Go raises that of open files for itself.
func TestLimits(t *testing.T) {
	script := "ulimit -Sn 256; exec \"$0\" \"$@\""
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("sh", "-c", script, self, "wrap", "--", "sh", "-c", "ulimit -Sn").Output()
	if err != nil || string(out) != "256\n" {
		t.Errorf("%q, %v", out, err)
	}
}

// TestNothingSteersTheStage: variables that would change what Go does reach the program alone, as they were.
func TestNothingSteersTheStage(t *testing.T) {
	for _, args := range [][]string{{}, {"ahead="}} {
		argv := append(append([]string{"env", "-i", "GODEBUG=inittrace=1", "GOMAXPROCS=7", "X=1", "PATH=/usr/bin:/bin"}, wrapped(t, args...)...), "--", "env")
		b := launch(t, nil, append([]string{"/usr/bin/env"}, argv[1:]...))
		out, status := b.end()
		if want := "GODEBUG=inittrace=1\nGOMAXPROCS=7\nX=1\nPATH=/usr/bin:/bin\n"; out != want || status != 0 {
			t.Errorf("%v: %q, %d", args, out, status)
		}
		if n := strings.Count(b.errs.String(), "init runtime "); n != 1 { // of wrap itself
			t.Errorf("%v: %d processes were steered", args, n)
		}
	}
}

// TestDescriptors: nothing is open in it that was not before.
func TestDescriptors(t *testing.T) {
	script := []string{"sh", "-c", "ls /proc/$$/fd"}
	plain, err := exec.Command(script[0], script[1:]...).Output()
	if err != nil {
		t.Skip("no /proc: ", err)
	}
	for _, args := range [][]string{{}, {"mask="}, {"ahead="}, {"ahead=", "mask="}} {
		if got := outcome(t, append(append(args, "env:S=1", "--"), script...)...); got.stdout != string(plain) {
			t.Errorf("%v: open: %q, without: %q", args, got.stdout, plain)
		}
	}
}
