package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"warder/internal/api"
	"warder/internal/platform"
	"warder/internal/state"
)

// programName is what the program is called where shells look for it.
const programName = "warder"

// errOtherProgram says that the place of warder is another program's.
var errOtherProgram = errors.New("another program has this name there")

// install copies the program and records it, and makes the directory of the
// settings, so that what a person puts there is not refused for its mode. Where
// it can't be among the person's own programs, as in a read-only home or where
// another program has its name, it goes to the state directory.
func (o *setup) install(r *reach, unattended, toUser bool) (program, error) {
	p, err := o.installFor(r, toUser)
	if err != nil && toUser && !apart(r) && userBin(r.env) != "" {
		failed := err
		if p, err = o.installFor(r, false); err == nil {
			warn(r.env.Err, "%s was not written (%v): the program is %s, as with --no-install",
				filepath.Join(userBin(r.env), programName), causeOf(failed), p.path)
		}
	}
	if err != nil {
		return program{}, err
	}
	if dir, err := state.CreateDir(r.places.Config.Path); err == nil { // what is wrong with it status tells; it is not needed
		_ = dir.Close()
	}
	return p, recordProgram(r, p, unattended, o.by)
}

// causeOf is an error without the paths that it is about.
func causeOf(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// installFor copies the program to where it shall be.
func (o *setup) installFor(r *reach, toUser bool) (program, error) {
	dir, err := binaryDir(r, toUser)
	if err != nil {
		return program{}, err
	}
	if dir == userBin(r.env) && !o.replace && isOther(filepath.Join(dir, programName)) {
		return program{}, errOtherProgram
	}
	return installTo(dir)
}

// isOther reports whether a path is taken by something that is no warder.
func isOther(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // a link to nothing is nothing
	}
	return !fi.Mode().IsRegular() || !isWarder(path)
}

// isWarder reports whether a file is a program that was built of this source, of
// whatever version: the linker writes the path of the package into each.
func isWarder(path string) bool {
	const mark, step = "path\twarder/cmd/warder\n", 1 << 20
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	buf, kept := make([]byte, len(mark)+step), 0
	for {
		n, err := io.ReadFull(f, buf[kept:])
		text := buf[:kept+n]
		if bytes.Contains(text, []byte(mark)) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buf, text[len(text)-len(mark):])
	}
}

// offerInstall asks whether the program goes to the person's own programs, and
// whether it may take the place of another one there.
func (o *setup) offerInstall(r *reach, c *console) (bool, error) {
	dir := userBin(r.env)
	if o.noInstall || dir == "" || apart(r) {
		return false, nil
	}
	target := filepath.Join(dir, programName)
	if self, err := platform.OwnProgram(); err == nil {
		defer self.Close()
		if sameFile(self, target) {
			return true, nil
		}
	}
	if !isOther(target) {
		return c.confirm(fmt.Sprintf("Install warder as %s?", target), true)
	}
	yes, err := c.confirm(fmt.Sprintf("%s is another program. Put warder in its place?", target), false)
	o.replace = yes
	return yes, err
}

// recordAnew copies the running program over the recorded one, if it differs.
func recordAnew(r *reach) error {
	p, err := installTo(filepath.Dir(r.install.Binary))
	if err != nil || p.sha256 == r.install.SHA256 && p.path == r.install.Binary {
		return err
	}
	if err := recordProgram(r, p, r.install.Unattended, r.install.SetUpBy); err != nil {
		return err
	}
	warn(r.env.Err, "the program was recorded anew; a daemon that runs goes on as it is until: warder daemon restart")
	return nil
}

// warnPath says what to do where a shell would not find the program by its name.
func warnPath(env *Env, program string) {
	export := fmt.Sprintf(`export PATH=%s:"$PATH"`, shellWords(filepath.Dir(program)))
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		path := filepath.Join(dir, filepath.Base(program))
		fi, err := os.Stat(path)
		if err != nil || !filepath.IsAbs(path) || !fi.Mode().IsRegular() || fi.Mode()&0o111 == 0 {
			continue
		}
		if there, err := os.Stat(program); err == nil && os.SameFile(fi, there) {
			return
		}
		warn(env.Err, "your shell takes warder for %s; to have the one that was set up run this, and put it into the shell's start-up file: %s", path, export)
		return
	}
	warn(env.Err, "your shell does not find warder yet: run this, and put it into the shell's start-up file: %s", export)
}

// warnOtherKind says that an account is of another kind than a second setup
// expects: neither becomes the other by itself.
func (o *setup) warnOtherKind(r *reach, who api.Whoami) {
	switch {
	case o.headless && !r.install.Unattended:
		warn(r.env.Err, "--headless changed nothing: the account is one that a person opens")
	case !o.headless && r.install.Unattended && who.Verdict == verdictPerson:
		warn(r.env.Err, "%s; to make it yours, with the recovery code of its kit: warder daemon stop; rm %s; warder unlock --recovery",
			opensForAll, shellWords(passwordFile(r)))
	}
}
