package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
)

// What an agent may do to get a value into another program than a person meant.

// TestCommands_samePath: an entry is the path that its name meant to the person who wrote it. Only a program of exactly that path has
// it, whatever else has its name, is linked to it or comes first.
func TestCommands_samePath(t *testing.T) {
	h := newHouse(t, person.Options{})
	real := strings.TrimSpace(h.door.Run(t, "command -v sha256sum").Output)
	h.add(t, token("only-"), "only-sha --type api-token --level use --command sha256sum") // a bare name, in the person's PATH
	wantsShown(t, "what is kept", h.door.Run(t, "warder item show only-sha --json"), 0, `"path":"`+real+`"`)

	dir := filepath.Join(h.Home(), "own")
	const script = `set -e; mkdir -p "$1/bin" "$1/sub"; printf '#!/bin/sh\necho stolen\n' > "$1/sha256sum"; chmod 755 "$1/sha256sum"
		cp "$1/sha256sum" "$1/fake"; ln -s "$2" "$1/sub/sha256sum"; ln -s "$1/fake" "$1/bin/sha256sum"; cp "$2" "$1/sub/copy"; ln -s "$(dirname "$2")" "$1/usr"`
	if r := h.Run(t, person.Command{Argv: []string{"sh", "-c", script, "sh", dir, real}}); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	rows := []struct {
		name, dir, program string
		path               string // PATH; the world's if empty
		lent               bool
	}{
		{"by its name", dir, "sha256sum", "", true},
		{"by its path", dir, real, "", true},
		{"by a path that leads there", dir, filepath.Dir(real) + "/./" + filepath.Base(real), "", true},
		{"a relative path to another one", dir, "./sha256sum", "", false},
		{"a relative path in a folder below", dir, "bin/sha256sum", "", false},
		{"a PATH that comes first", dir, "sha256sum", dir + ":/usr/bin:/bin", false},
		{"a PATH with a link that comes first", dir, "sha256sum", dir + "/bin:/usr/bin:/bin", false},
		{"a relative PATH", dir, "sha256sum", ".:bin", false},
		{"an empty entry of PATH", dir, "sha256sum", ":/nowhere", false},
		{"a link to it", dir, "sub/sha256sum", "", false},
		{"a copy", dir, "sub/copy", "", false},
		{"through a linked folder", dir, "usr/sha256sum", "", false},
		{"through another process's root", dir, "/proc/self/root" + real, "", false},
		{"a link with its path at the end", dir, dir + "/bin/sha256sum", "", false},
	}
	for _, row := range rows {
		var env []string
		if row.path != "" {
			env = []string{"PATH=" + row.path}
		}
		argv := h.Under(t, "claude", h.Warder(), "run", "only-sha", "--stdin", "--", row.program)
		r := h.Run(t, person.Command{Argv: argv, Env: env, Dir: row.dir})
		lent := r.Status == 0 && strings.HasSuffix(strings.TrimSpace(r.Stdout), "-")
		if lent != row.lent || !row.lent && r.Status != 125 && r.Status != 127 || strings.Contains(r.Stdout, "stolen") {
			t.Errorf("%s: %+v", row.name, r)
		}
	}
	// No agent changes what stands there.
	r := h.agent(t, "", "item", "edit", "only-sha", "--command", dir+"/fake")
	wants(t, "an agent's edit", r, 3, `error\[denied\]`)
}

// TestEnvFile_sameSet: what a person confirmed is one set of names and references at one path.
func TestEnvFile_sameSet(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("one-"), "one --type api-token --level use")
	h.add(t, token("two-"), "two --type api-token --level use")
	file, other := filepath.Join(h.Home(), "app.env"), filepath.Join(h.Home(), "other.env")
	const first, second = "A=warder://personal/one/token\n", "B=warder://personal/two/token\n"
	write := func(path, text string) {
		t.Helper()
		_ = os.Remove(path) // it may be a link
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, first+second)
	confirmed := h.prove(t, "warder run --env-file "+file+" -- true")
	if confirmed.Status != 0 {
		t.Fatalf("%+v", confirmed)
	}
	rows := []struct {
		name string
		make func() (path string)
		lent bool
	}{
		{"as it was", func() string { write(file, first+second); return file }, true},
		{"by another spelling of its path", func() string { return h.Home() + "/./app.env" }, true},
		{"by a relative path", func() string { return "app.env" }, true},
		{"with a comment and another value of its own", func() string { write(file, "# new\n"+first+second+"MODE=x\n"); return file }, false},
		{"in another order", func() string { write(file, second+first); return file }, false},
		{"with one less", func() string { write(file, first); return file }, false},
		{"with a name twice", func() string { write(file, first+second+"A=warder://personal/two/token\n"); return file }, false},
		{"with another field", func() string { write(file, strings.Replace(first, "/token", "/other", 1)+second); return file }, false},
		{"with the other item", func() string { write(file, strings.Replace(first, "one", "two", 1)+second); return file }, false},
		{"under another name", func() string { write(file, "C"+first[1:]+second); return file }, false},
		{"at another path", func() string { write(other, first+second); return other }, false},
		{"through a link", func() string {
			write(file, first+second)
			_ = os.Remove(other)
			_ = os.Symlink(file, other)
			return other
		}, false},
		{"through a hard link", func() string { _ = os.Remove(other); _ = os.Link(file, other); return other }, false},
		{"with only a comment more", func() string { write(file, "# new\n"+first+second); return file }, true},
	}
	for _, row := range rows {
		path := row.make()
		r := h.agent(t, "", "run", "--env-file", path, "--", "sh", "-c", `echo "<$A$B>"`)
		if lent := r.Status == 0 && r.Stdout == "<****(A)****(B)>\n"; lent != row.lent {
			t.Errorf("%s: %+v", row.name, r)
		} else if !row.lent && (r.Status != 125 || !strings.Contains(r.Stderr, "error[denied]")) && !strings.Contains(r.Stderr, "error[not_found]") {
			t.Errorf("%s: %+v", row.name, r)
		}
	}
	// A person is asked for presence, and told which items.
	write(file, second)
	h.door.Begin(t, "warder run --env-file "+file+" -- true")
	h.door.Expect(t, `personal/two/token`)
	h.door.Answer(t, askProof, h.password)
	wantsShown(t, "confirmed anew", h.door.Finish(t), 0, ``)
	if r := h.agent(t, "", "run", "--env-file", file, "--", "true"); r.Status != 0 {
		t.Errorf("confirmed anew: %+v", r)
	}
}

// steering are names of variables that programs take code or trust from.
func steering() []string {
	return strings.Fields(`LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS BASH_ENV ENV PYTHONPATH PYTHONSTARTUP
		PERL5LIB PERL5OPT RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS GIT_SSH_COMMAND GIT_CONFIG_GLOBAL PATH SSL_CERT_FILE SSL_CERT_DIR
		HTTP_PROXY https_proxy ALL_PROXY no_proxy Http_Proxy ld_preload Path git_ssh_command`)
}

// TestSteering: what an agent stores gets no name that steers programs; what a person stores under one is lent.
func TestSteering(t *testing.T) {
	h := newHouse(t, person.Options{})
	h.add(t, token("tok-"), "tok --type api-token --level use")
	wants(t, "an ordinary name", h.agent(t, token(""), "project", "set", "shop", "test", "ORDINARY"), 0, ``)
	for _, name := range steering() {
		const refused = `error\[unsafe_name\]`
		wants(t, "project set "+name, h.agent(t, "x", "project", "set", "shop", "test", name), 2, refused)
		wants(t, "import "+name, h.agent(t, name+"=x\n", "import", "-", "--project", "shop", "--stage", "test", "--yes"), 2, refused)
	}
	for _, args := range [][]string{
		{"project", "set", "shop", "test", "--set", "LD_PRELOAD=x"},
		{"project", "set", "shop", "test", "--ref", "NODE_OPTIONS=warder://personal/tok/token"},
		{"item", "add", "ld-preload", "--type", "api-token"},
		{"item", "add", "mine", "--type", "api-token", "--field", "BASH_ENV"},
	} {
		wants(t, person.Line(args...), h.agent(t, "x", args...), 2, `error\[unsafe_name\]`)
	}
	wantsShown(t, "nothing of it is there", h.door.Run(t, "warder project show shop --json"), 0, `ORDINARY`)
	if shown := h.door.Run(t, "warder project show shop --json").Output; strings.Contains(strings.ToUpper(shown), "PRELOAD") {
		t.Errorf("stored: %s", shown)
	}

	// A person may: the stage is hers, and agents get it as it is.
	h.mustRun(t, "warder project set hers test --set PYTHONPATH=/opt/hers --set HTTPS_PROXY=http://127.0.0.1:9 --level use")
	r := h.agent(t, "", "run", "--project", "hers", "--stage", "test", "--", "sh", "-c", `echo "$PYTHONPATH $HTTPS_PROXY"`)
	if r.Status != 0 || r.Stdout == " \n" {
		t.Errorf("what a person set: %+v", r)
	}

	// For its own run an agent says itself what becomes of a value, as it says what else is in the environment: whoever starts a
	// program could as well start another one. It can't make that stay anywhere.
	r = h.agent(t, "", "run", "tok", "--env-var", "RUBYOPT", "--", "sh", "-c", `echo "<$RUBYOPT>"`)
	if want := fmt.Sprintf("<****(%s)>\n", "RUBYOPT"); r.Status != 0 || r.Stdout != want {
		t.Errorf("its own run: %+v", r)
	}
}
