package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// TestDone1_readme types the README into a person's terminal and gives its agent what it shows for one: every command as it
// stands there, in its order, in one home without a variable of warder's. What comes back has to be what the README shows.
func TestDone1_readme(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	w := start(t, person.Options{Env: append(goEnviron(t), "WARDER_HOME=")})
	path := "PATH=" + filepath.Join(w.Home(), ".local", "bin") + ":/usr/local/bin:/usr/bin:/bin"
	if program := goProgram(t); program != "" {
		path += ":" + filepath.Dir(program)
	}
	h := &house{World: w, door: w.Terminal(t, person.Shell{Env: []string{path}}), password: token("correct horse ")}
	dir := filepath.Join(h.Home(), "shop")
	ran := map[string]int{}
	for _, example := range testkit.Examples(string(text)) {
		ran[example.Block]++
		var got string
		switch example.Block {
		case "person":
			if strings.HasPrefix(example.Command, "go run ") {
				h.mustRun(t, "cd "+person.Line(root))
				got = follow(t, h, example)
				h.mustRun(t, "mkdir -p "+person.Line(dir)+" && cd "+person.Line(dir))
				break
			}
			got = follow(t, h, example)
		case "agent":
			r := h.Run(t, person.Command{Argv: h.Under(t, "claude", "sh", "-c", example.Command), Env: []string{path}, Dir: dir})
			got = r.Stdout + r.Stderr
		default:
			continue
		}
		if !example.Matches(got) {
			t.Errorf("%s: the README shows:\n%s\nthe command prints:\n%s", example.Command, strings.Join(example.Output, "\n"), got)
		}
	}
	if ran["person"] < 6 || ran["agent"] < 3 || !strings.Contains(string(text), "\n$ go test ./...\n") {
		t.Errorf("the README shows %v", ran)
	}
	if s := h.status(t); s.Daemon.StartedBy != "person" || !s.Daemon.SameBinary || s.Account.Unattended || len(s.Findings) > 0 {
		t.Errorf("status at the end: %+v", s)
	}
}

// follow types a command and answers what the README shows that it asks. It returns what the terminal showed.
func follow(t *testing.T, h *house, example testkit.Example) string {
	t.Helper()
	command := example.Command
	if strings.HasPrefix(command, "go run ") && os.Getenv(person.BuiltVar) == "" {
		command = strings.Replace(command, "go run ./cmd/warder", h.Warder(), 1) // nothing can be built here
	}
	before := len(h.door.Screen())
	h.door.Begin(t, command)
	for _, line := range example.Output {
		switch {
		case strings.HasSuffix(line, "password:"), strings.HasSuffix(line, "again:"):
			h.door.Answer(t, line+" $", h.password)
		case strings.Contains(line, "/n] "), strings.HasSuffix(line, "/n]"), strings.Contains(line, "/N] "):
			_, answer, _ := strings.Cut(line, "] ")
			h.door.Expect(t, `\[(Y/n|y/N)\] $`)
			h.door.Type(t, answer+"\n")
		}
	}
	h.door.Finish(t)
	shown := strings.ReplaceAll(h.door.Screen()[before:], "\r\n", "\n")
	_, shown, _ = strings.Cut(shown, "\n") // the command itself
	at := strings.LastIndex(shown, "<<ready ")
	return shown[:at]
}

// goProgram is the program of the toolchain that runs the tests.
func goProgram(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil && os.Getenv(person.BuiltVar) != "" {
		t.Fatal(err)
	}
	return path
}

// goEnviron lets a program of a world build as this test could.
func goEnviron(t *testing.T) []string {
	t.Helper()
	env := []string{"GOPROXY=off", "CGO_ENABLED=0"}
	if os.Getenv(person.BuiltVar) == "" {
		return env
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOFLAGS"} {
		value, err := exec.CommandContext(t.Context(), goProgram(t), "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	return env
}
