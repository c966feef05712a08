package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/proc"
	"warder/internal/secret"
)

// The proof that setup gives: an item with a random value, which a program prints.
const (
	proofItem     = "setup-proof-"
	proofVariable = "WARDER_PROOF"
	proofMark     = "****(" + proofVariable + ")"
)

// prove shows that all of it works on this machine, as the user will use it: a value is stored, the installed program lends
// it to a child that prints it, what comes back is hidden, and the log of all that is whole. The item is removed again.
func (o *setup) prove(ctx context.Context, r *reach, program string) setupProof {
	r.mayStart = false // it runs, or there is nothing to be proud of
	proof := setupProof{}
	if name, err := storeProof(ctx, r); err == nil {
		proof.Masked = printsMasked(r.env, program, name)
		_ = tell(ctx, r, api.OpItemRemove, &api.ItemName{Name: name}, nil)
	}
	proof.Verified = verified(ctx, r)
	return proof
}

// storeProof stores the item.
func storeProof(ctx context.Context, r *reach) (name string, err error) {
	name = proofItem + rand.Text()[:8]
	const size = 32
	value, err := secret.Make(size, func(b []byte) error {
		var random [size / 2]byte
		_, _ = rand.Read(random[:]) // it never fails
		hex.Encode(b, random[:])
		secret.Wipe(random[:])
		return nil
	})
	if err != nil {
		return "", err
	}
	defer value.Destroy()
	in := &api.ItemAdd{Name: name, Type: "api-token", Level: "use", Fields: []api.FieldIn{{Name: "token", Concealed: true}}}
	got, err := r.call(ctx, api.OpItemAdd, in, nil, value)
	frame.DestroyAll(got)
	return name, err
}

// printsMasked runs the installed program as a user would, and says whether the child's output came back hidden. A mark
// in it is proof that the child had the value: nothing else is replaced by one.
func printsMasked(env *Env, program, item string) bool {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer null.Close()
	out, w, err := os.Pipe()
	if err != nil {
		return false
	}
	defer out.Close()
	printed := make(chan []byte, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(out, 1<<10))
		printed <- text
	}()
	argv := []string{
		"warder", "run", item, "--env-var", proofVariable, "--mask", "--", "/bin/sh", "-c", `printf %s "$` + proofVariable + `"`,
	}
	ended, err := proc.Run(proc.Spec{Path: program, Argv: argv, Env: env.Environ(), Streams: [3]*os.File{null, w, null}})
	_ = w.Close()
	return err == nil && ended.Status() == 0 && bytes.Equal(<-printed, []byte(proofMark))
}

// text is the proof for a person.
func (p setupProof) text() string {
	switch {
	case p.Masked && p.Verified:
		return "a value was stored, lent to a program, hidden in what it printed, and removed; the log of it is whole"
	case p.Masked:
		return "a value was lent and hidden, but the log is not whole: warder audit verify"
	}
	return "a program did not get a value, or it was not hidden: warder doctor says what this machine lacks"
}

func (p setupProof) say(env *Env) { fmt.Fprintf(env.Out, "Tried: %s.\n", p.text()) }
