package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"warder/internal/api"
	"warder/internal/secret"
	"warder/internal/vault"
)

// Prove is a process that makes one proof of presence for the client that started it, and ends. It is given the master password
// over the connection that it inherits, as a fresh daemon is at unlock, so that the password need not go to whatever listens at
// the socket. It opens the account for as long as that takes and changes nothing in it but the count of wrong passwords.
//
// It trusts its environment and its arguments no more than [Run] does. Whoever starts it with a guess is no better off than at
// unlock, and gets a proof that serves nobody but a person: the daemon decides by who calls before it looks at one.
func Prove(ctx context.Context, o Options) error {
	o.prover = true
	if err := o.check(); err != nil {
		return err
	}
	if o.StartFD == 0 {
		return api.Errorf(api.Usage, "a prover is started by other commands").WithHint("run the command that needs your presence")
	}
	if err := clean(o); err != nil {
		return err
	}
	hidden := hide(func(string, ...any) {}) // there is nowhere to warn
	s, err := meetStarter(o)
	if err != nil {
		return err
	}
	defer s.close()
	if hidden != nil {
		s.fail(hidden)
		return hidden
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.peer != nil {
		go func() { // a client that is gone waits for nothing
			select {
			case <-s.peer.Done():
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	return s.prove(ctx, o)
}

// prove answers the one request of a prover.
func (s *starter) prove(ctx context.Context, o Options) error {
	proof, receipt, err := s.proved(ctx, o)
	if err != nil {
		s.fail(err)
		return err
	}
	defer proof.Destroy()
	output, err := json.Marshal(api.Proved{Receipt: receipt})
	if err != nil {
		return err
	}
	return s.conn.WriteReply(output, []secret.Value{proof})
}

// proved reads what is to be proved and proves it.
func (s *starter) proved(ctx context.Context, o Options) (proof secret.Value, receipt api.Receipt, err error) {
	in, values, err := s.proveRequest()
	if err != nil {
		return proof, receipt, err
	}
	defer destroy(values)
	cfg := vault.Config{AccountDir: accountDir(o.Data), StateDir: o.State}
	return makeProof(ctx, cfg, vault.Presence{Act: in.Hash, Challenge: in.Challenge, Shown: in.Shown, Caller: processOf(s.peer)}, values)
}

// makeProof makes a proof with the password, which is the first of the values. A second one is carried.
func makeProof(ctx context.Context, cfg vault.Config, p vault.Presence, values []secret.Value) (proof secret.Value, receipt api.Receipt, err error) {
	wrong, err := vault.WrongPasswords(cfg) // the right one makes them forgotten
	if err != nil {
		return proof, receipt, accountError(err)
	}
	var carried secret.Value
	if len(values) > 1 {
		carried = values[1]
	}
	load, word, err := makeLoad(wrong, carried)
	if err != nil {
		return proof, receipt, err
	}
	defer load.Destroy()
	var sealed []byte
	err = afterShortWait(ctx, func() (err error) {
		sealed, err = vault.Prove(cfg, values[0], load, p)
		return err
	})
	if err != nil {
		return proof, receipt, accountError(err)
	}
	proof, err = secret.New(sealed)
	return proof, api.Receipt{Receipt: word}, err
}

// proveRequest reads the request. Its values are the caller's to destroy.
func (s *starter) proveRequest() (in api.Prove, values []secret.Value, err error) {
	raw, err := s.conn.ReadRequest()
	if err != nil {
		return in, nil, fmt.Errorf("reading what is to be proved: %w", err)
	}
	call := api.Call{Op: raw.Op, Input: raw.Input}
	switch {
	case raw.Op != api.OpStartProve:
		return in, nil, usage("a prover knows no operation %q", raw.Op)
	case raw.Values < 1 || raw.Values > 2:
		return in, nil, usage("%s takes the password, and at most one value more", raw.Op)
	}
	if err := call.Decode(&in); err != nil {
		return in, nil, err
	}
	if in.Hash == "" || in.Challenge == "" || in.Shown == "" {
		return in, nil, usage("a proof takes the act's hash, a challenge and the text that was shown")
	}
	values, err = s.conn.ReadValues(raw.Values)
	if err != nil {
		return in, nil, fmt.Errorf("reading what is to be proved: %w", err)
	}
	return in, values, nil
}
