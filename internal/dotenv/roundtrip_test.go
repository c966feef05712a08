package dotenv_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/dotenv"
)

// hostile values: each broke some writer or reader of these files.
var hostile = []string{
	"", " ", "\t", " lead and trail ", "a#b", "a # b", "#", "$HOME", "${X:-y}", "$2b$10$abc", "\\", "\\\\", "a\\", "\\n", "\\'",
	"'", "''", "'\\''", "\"", "it's \"q\" \\n $HOME `id`", "l1\nl2\n", "\n", "\r", "\r\n", "\r\r\n", "a\rb", "\\\r\n", "'\r\n\\",
	"\ufeff", "\ufeffx", "\xff\xfe", "\xc3", "\xe3'", "\x01\x7f\x81\x82\x88", "\x1b[2J", "=", "==", "!", "!!", "*", "~", "~root", "-n",
	"$(touch pwned)", "`touch pwned`", "$(touch pwned)'\";`touch pwned`", "'$(touch pwned)'", "\"$(touch pwned)\"", "';touch pwned;'",
	`{"a": "b #c"}`, `say "a # b" now`, `say 'a # b' now`, "it's # c", `5" # c`, `{"a": "\" # "} # c`,
	"\ntouch pwned\n", "'\ntouch pwned\n'", "a[$(touch pwned)]", "\\044(touch pwned)", "export B=1", "x\nexport B='2",
}

// anyValue draws bytes without NUL, mostly those that mean something somewhere.
func anyValue() *rapid.Generator[string] {
	special := rapid.SampledFrom([]string{"'", `"`, "\\", "\n", "\r", "\t", " ", "#", "$", "`", "=", "(", ")", "n", "touch pwned", "\ufeff", "\xff", "export "})
	other := rapid.Map(rapid.ByteRange(1, 255), func(b byte) string { return string([]byte{b}) })
	parts := rapid.SliceOfN(rapid.OneOf(special, special, other), 0, 30)
	return rapid.OneOf(rapid.SampledFrom(hostile), rapid.Map(parts, func(p []string) string { return strings.Join(p, "") }))
}

// anyEntries draws up to 20 values named by name and a counter.
func anyEntries(t *rapid.T, name string, value *rapid.Generator[string]) []dotenv.Entry {
	var entries []dotenv.Entry
	for i, v := range rapid.SliceOfN(value, 1, 20).Draw(t, "values") {
		entries = append(entries, pair(fmt.Sprintf("%s%d", name, i), v))
	}
	return entries
}

func TestU_51_EnvRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9_][A-Za-z0-9_.\-]{0,20}|export`).Draw(t, "name")
		entries := anyEntries(t, name, anyValue())
		text, err := format(dotenv.DialectEnv, entries...)
		if err != nil {
			t.Fatal(err)
		}
		wantSame(t, entries, text)
		// What a checkout on Windows makes of the file must not change values
		// beyond what the grammar says: none, as no raw CR is written.
		wantSame(t, entries, "\ufeff"+strings.ReplaceAll(text, "\n", "\r\n"))
	})
}

// What stands in a pair of quotes of an unquoted value is kept, and what no pair protects is a comment.
func TestU_43_PairsKeepHashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quote := rapid.SampledFrom([]string{`"`, `'`}).Draw(t, "quote")
		inside := rapid.StringMatching(`[ #a-z.]{0,8} #[ #a-z.]{0,8}`).Draw(t, "inside")
		value := rapid.SampledFrom([]string{"x ", "{", "a=", "it's "}).Draw(t, "before") + quote + inside + quote
		text := value + rapid.SampledFrom([]string{"", " ", " # c", "\t#", ` # "c"`, " # 'c'"}).Draw(t, "after")
		f, err := dotenv.Parse("in.env", []byte("A="+text))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(f.Entries[0].Value); got != value {
			t.Fatalf("A=%s is %q, want %q", text, got, value)
		}
	})
}

func wantSame(t rapid.TB, entries []dotenv.Entry, text string) {
	t.Helper()
	f, err := dotenv.Parse("out.env", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%q", err, text)
	}
	if len(f.Warnings) > 0 {
		t.Errorf("warnings: %v", f.Warnings)
	}
	ignoreLine := func(f *dotenv.File) (all [][2]string) {
		for _, e := range f.Entries {
			all = append(all, [2]string{e.Name, string(e.Value)})
		}
		return all
	}
	if diff := cmp.Diff(ignoreLine(&dotenv.File{Entries: entries}), ignoreLine(f)); diff != "" {
		t.Fatalf("after a round trip of %q (-want +got):\n%s", text, diff)
	}
}

// shells to source with: sh must be there, the others are taken if they are.
var shells = []string{"sh", "bash", "dash", "zsh", "ksh", "mksh", "busybox"}

func TestU_52_ShellRoundTrip(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			path := needShell(t, shell)
			rapid.Check(t, func(t *rapid.T) {
				dir, err := os.MkdirTemp("", "dotenv")
				if err != nil {
					t.Fatal(err)
				}
				defer os.RemoveAll(dir)
				entries := anyEntries(t, "V", anyValue())
				text, err := format(dotenv.DialectShell, entries...)
				if err != nil {
					t.Fatal(err)
				}
				var want []string
				script := "printf '%s\\0'"
				for _, e := range entries {
					want = append(want, string(e.Value))
					script += ` "$` + e.Name + `"`
				}
				got, ran := source(t, path, dir, text, script)
				if diff := cmp.Diff(want, got); diff != "" || ran {
					t.Fatalf("%s: command run: %v, values (-want +got):\n%s\n%q", shell, ran, diff, text)
				}
			})
		})
	}
}

// source runs ". ./o.sh" and then script in a shell whose home and working
// directory is dir. It returns the NUL-ended strings printed, and whether anything
// but o.sh is in dir now or anything was said on stderr.
func source(t rapid.TB, shell, dir, text, script string) (printed []string, ran bool) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "o.sh"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-c", ". ./o.sh\n" + script}
	if filepath.Base(shell) == "busybox" {
		args = append([]string{"sh"}, args...)
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, &stderr)
	}
	left, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Split(stdout.String(), "\x00")
	return all[:len(all)-1], len(left) != 1 || stderr.Len() > 0
}

// The names that shells evaluate: the shells here show that the danger is real
// and that what Format lets through is harmless.
func TestU_53_EvaluatedNames(t *testing.T) {
	values := []string{"12", "a[$(touch pwned)]", "$(touch pwned)", "`touch pwned`", `\044(touch pwned)`, "touch pwned"}
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			path := needShell(t, shell)
			for _, name := range []string{
				"RANDOM", "SRANDOM", "HISTCMD", "OPTIND", "SECONDS", "LINENO", "MAILCHECK", "COLUMNS",
				"TMOUT", "PS4", "PS1", "PROMPT", "PROMPT_COMMAND", "MAILPATH", "ENV", "IFS",
			} {
				for _, v := range values {
					text, err := format(dotenv.DialectShell, pair(name, v))
					if err != nil {
						continue
					}
					dir := t.TempDir()
					runIn(t, path, dir, text)
					if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
						t.Errorf("%s=%q runs a command", name, v)
					}
				}
			}
		})
	}
}

// runIn sources text with tracing on, for PS4, and lets the shell fail: a number
// may be out of range for it.
func runIn(t *testing.T, shell, dir, text string) {
	t.Helper()
	writeFile(t, filepath.Join(dir, "o.sh"), []byte(text))
	args := []string{"-c", "set -x\n. ./o.sh\n:"}
	if filepath.Base(shell) == "busybox" {
		args = append([]string{"sh"}, args...)
	}
	cmd := exec.Command(shell, args...)
	cmd.Dir = dir
	_ = cmd.Run()
}

// The tests above find a command that does run: without this they could not fail.
func TestU_53_HarnessSeesCommands(t *testing.T) {
	path := needShell(t, "sh")
	if _, ran := source(t, path, t.TempDir(), "export A=\"$(touch pwned)\"\n", ":"); !ran {
		t.Error("source did not see a command run")
	}
	dir := t.TempDir()
	runIn(t, path, dir, "PS4='$(touch pwned)'\n")
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err != nil {
		t.Error("runIn did not see a prompt expanded")
	}
}

func TestU_52_DockerRoundTrip(t *testing.T) {
	written := 0
	rapid.Check(t, func(t *rapid.T) {
		entries := anyEntries(t, "V", anyValue())
		// Only what docker can't hold may be refused.
		entries = slices.DeleteFunc(entries, func(e dotenv.Entry) bool {
			_, err := format(dotenv.DialectDocker, e)
			if fits := utf8.Valid(e.Value) && !bytes.ContainsAny(e.Value, "\r\n"); fits != (err == nil) {
				t.Fatalf("%q: %v", e.Value, err)
			}
			return err != nil
		})
		text, err := format(dotenv.DialectDocker, entries...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readDocker(text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(vars(&dotenv.File{Entries: entries}), got); diff != "" {
			t.Fatalf("values (-want +got):\n%s\n%q", diff, text)
		}
		written += len(entries)
	})
	if written == 0 {
		t.Error("nothing was written")
	}
}

func TestU_52_DockerLongestLine(t *testing.T) {
	e := pair("A", strings.Repeat("x", 65533))
	text, err := format(dotenv.DialectDocker, e, pair("B", "1"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := readDocker(text)
	if err != nil || got["A"] != string(e.Value) || got["B"] != "1" {
		t.Errorf("read %d variables: %v", len(got), err)
	}
}

// readDocker follows docker's rule for --env-file: lines of NAME=value, leading
// white space dropped, comments only as whole lines, the value taken as it is.
func readDocker(text string) (map[string]string, error) {
	vars := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	for first := true; lines.Scan(); first = false {
		if !utf8.Valid(lines.Bytes()) {
			return nil, errors.New("not UTF-8")
		}
		line := lines.Text()
		if first {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		line = strings.TrimLeftFunc(line, unicode.IsSpace)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			return nil, errors.New("bad name")
		}
		vars[name] = value
	}
	return vars, lines.Err()
}
