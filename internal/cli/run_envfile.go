package cli

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/dotenv"
	"warder/internal/proc"
	"warder/internal/secret"
)

// refScheme begins a reference in an env file.
const refScheme = "warder://"

// readEnvFile reads the env file of a run: references go to the daemon, and the names of all else too, since what an env file
// sets is confirmed as a whole.
func (r *runOfProgram) readEnvFile() error {
	path, err := filepath.Abs(r.in.File)
	if err != nil {
		return usageError("%v", err)
	}
	parts, err := readFile(r.env, r.in.File)
	if err != nil {
		return err
	}
	defer frame.DestroyAll(parts)
	r.in.File = path
	size := 0
	for _, p := range parts {
		size += p.Len()
	}
	text := make([]byte, 0, size) // it must not grow: what it grew out of would not be wiped
	for _, p := range parts {
		if err := p.Use(func(b []byte) { text = append(text, b...) }); err != nil {
			return err
		}
	}
	defer secret.Wipe(text)
	file, err := dotenv.Parse(path, text)
	if err != nil {
		return usageError("%v", err).WithHint("correct that line; nothing was run")
	}
	defer file.Wipe()
	for _, w := range file.Warnings {
		warn(r.env.Err, "%s:%d: %s", path, w.Line, w.Text)
	}
	for _, e := range file.Entries {
		ref := api.RunRef{Var: e.Name}
		if value := string(e.Value); strings.HasPrefix(value, refScheme) {
			ref.Ref = value
		} else {
			sum := sha256.Sum256(e.Value)
			ref.Sum = hex.EncodeToString(sum[:])
			if len(r.in.Only) == 0 || slices.Contains(r.in.Only, e.Name) {
				r.give(e.Name, value)
			}
		}
		r.in.Refs = append(r.in.Refs, ref)
	}
	return nil
}

// give gives the program a variable that the file sets itself: in the ways that were asked for, which the daemon then is not asked about.
func (r *runOfProgram) give(name, value string) {
	asked := false
	r.in.Inject = slices.DeleteFunc(r.in.Inject, func(in api.RunInject) bool {
		if in.Field != name && (in.Field != "" || in.Var != name) {
			return false
		}
		asked = true
		r.lent = append(r.lent, proc.Injection{
			Delivery: deliveryOf(in.As), Name: cmp.Or(in.Var, name), Size: len(value),
			Write: func(w io.Writer) error { _, err := io.WriteString(w, value); return err },
		})
		return true
	})
	if !asked {
		r.plain = append(r.plain, name+"="+value)
	}
}
