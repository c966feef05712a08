package cli

import (
	"context"
	"errors"
	"fmt"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// provable is the input of an operation that needs presence.
type provable interface{ Prove(hash, challenge string) }

// proving is how one command proves that a person is there.
type proving struct {
	prompt string                               // for the password, if another than usual
	ask    func(*console) (secret.Value, error) // for what only the daemon may read, which goes inside the proof; nil for nothing
	got    secret.Value                         // what was answered
	answer string                               // the receipt of the last proof: what does not know it has not opened that
}

// actShows is how often a person is asked about an act that does something else
// each time: whoever changes it that often doesn't want it to be read.
const actShows = 3

// prove shows what the act does, asks for the password and repeats the act with
// a proof of presence, for exactly what was shown. Where it does something else
// by then, the person is shown that and asked again.
//
// The password goes to a process of the recorded program that is started for
// it, and never to what answers at the socket: that may be anything that runs
// as this user.
func (r *reach) prove(ctx context.Context, asked error, in provable, again func(proof secret.Value) ([]secret.Value, error)) ([]secret.Value, error) {
	c, err := r.env.console()
	if err != nil {
		return nil, asked
	}
	defer c.close()
	if r.env.prover == nil {
		if err := mayLaunch(r); err != nil { // before anybody types
			return nil, err
		}
	}
	defer r.proving.forget()
	for range actShows {
		if err := c.say("warder asks for your master password to %s.", asked.Error()); err != nil {
			return nil, err
		}
		question := questionOf(asked)
		proof, err := asking{r, c}.proof(ctx, question)
		if err != nil {
			return nil, err
		}
		in.Prove(question.Hash, question.Challenge)
		got, err := again(proof)
		proof.Destroy()
		if codeOf(err) != api.NeedsApproval {
			return got, err
		}
		frame.DestroyAll(got)
		why := "Nothing was done: it would do something else by now."
		if questionOf(err).Hash == question.Hash {
			why = "Nothing was done: that took too long, or was answered already."
		}
		if err := c.say("%s", why); err != nil {
			return nil, err
		}
		asked = err
	}
	return nil, api.Errorf(api.NeedsApproval, "what it does changed each time that it was shown, so it was not done").
		WithHint("see what changes it, then try again")
}

// questionOf is what is to be proved: the act that an error asks about.
func questionOf(asked error) api.Prove {
	var e *api.Error
	if !errors.As(asked, &e) {
		return api.Prove{}
	}
	return api.Prove{Hash: e.Hash, Challenge: e.Challenge, Shown: e.Message}
}

// asking is a question for a person's presence at a terminal.
type asking struct {
	*reach
	c *console
}

// proof asks for the password and has the proof made. A mistyped password may
// be typed again.
func (r asking) proof(ctx context.Context, question api.Prove) (secret.Value, error) {
	prompt := r.proving.prompt
	if prompt == "" {
		prompt = "Master password: "
	}
	for try := 1; ; try++ {
		password, err := r.c.hidden(prompt)
		if err != nil {
			return secret.Value{}, err
		}
		proof, err := r.with(ctx, password, question)
		password.Destroy()
		if codeOf(err) != api.WrongPassword || try == passwordTries {
			return proof, err
		}
		if err := r.c.say("%s", sentence(err.Error())); err != nil {
			return secret.Value{}, err
		}
	}
}

// with has the proof made with a password.
func (r asking) with(ctx context.Context, password secret.Value, question api.Prove) (secret.Value, error) {
	values := []secret.Value{password}
	if p := &r.proving; p.ask != nil {
		if p.got.IsZero() {
			var err error
			if p.got, err = p.ask(r.c); err != nil {
				return secret.Value{}, err
			}
		}
		values = append(values, p.got)
	}
	proved, got, err := r.launch(ctx, order{op: api.OpStartProve, in: question, values: values})
	if err == nil && len(got) != 1 {
		err = api.Errorf(api.Internal, "the recorded program made %d proofs", len(got))
	}
	if err != nil {
		frame.DestroyAll(got)
		return secret.Value{}, err
	}
	r.proving.answer = proved.Receipt.Receipt
	return got[0], nil
}

// launch starts the recorded program for one proof of presence.
func (r asking) launch(ctx context.Context, o order) (proved api.Proved, got []secret.Value, err error) {
	if r.env.prover != nil {
		return r.env.prover(ctx, o)
	}
	conn, err := r.spawn(ctx, "prove")
	if err != nil {
		return proved, nil, err
	}
	defer func() { _ = conn.Close() }()
	got, err = conn.Call(ctx, o.op, o.in, &proved, o.values...)
	return proved, got, err
}

// forget wipes what was typed.
func (p *proving) forget() {
	p.got.Destroy()
	p.got = secret.Value{}
}

// proven refuses an answer that did not come from the daemon: one that repeats
// not the receipt of the proof, which only the daemon of this account can open.
func proven(r *reach, answer api.Receipt) error {
	if r.proving.answer != "" && answer.Receipt == r.proving.answer {
		return nil
	}
	who := "what answers"
	if r.conn != nil {
		who = fmt.Sprintf("what answers (pid %d)", r.conn.ServerPID())
	}
	return api.Errorf(api.Unreachable, "%s is not the daemon of this account, so nothing that it says is to be believed", who).
		WithHint("find out what that process is and end it, then: warder unlock")
}
