package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/gate"
	"warder/internal/platform"
	"warder/internal/secret"
)

// holding is the daemon's side of acts that a client carries out: it names the process to the gate, and answers it.
type holding struct {
	gate *gate.Gate
	ours func(c *client) bool                 // it runs the program that may have values
	hold func(c *client) (gate.Holder, error) // holderOf; tests put their own here
}

// lend hands an act to the process that asked for it. Another program than the recorded one holds no lease: it could have as many as
// it likes open, and a holder that hides is passed over where those below it are judged.
func (h holding) lend(call *api.Call, p *gate.Permit, values []secret.Value) error {
	c, err := clientOf(call)
	if err != nil {
		return err
	}
	if !h.ours(c) {
		return errStranger(p.ID())
	}
	holder, err := h.hold(c)
	if err != nil {
		return err
	}
	holder.Trusted = true
	p.Lend(holder, values)
	return nil
}

// errStranger refuses values to another program than the recorded one.
func errStranger(id string) *api.Error {
	e := api.Errorf(api.Denied, "values go to the recorded program only, and this is another one").
		WithHint("run the program that setup recorded; see which that is: warder doctor")
	e.ID = id
	return e
}

// held is a process that is held by its pidfd.
type held struct{ *platform.Pidfd }

func (h held) Wait(ctx context.Context) error { return platform.WaitPidfd(ctx, h.Pidfd) }

// holderOf names the process behind a connection, and holds it.
func holderOf(c *client) (gate.Holder, error) {
	if c.peer == nil {
		return gate.Holder{}, errors.New("a lease for no process")
	}
	instance, err := c.peer.Instance()
	if err != nil {
		return gate.Holder{}, err
	}
	pidfd, err := platform.OpenPidfd(c.peer.PID())
	if err != nil {
		return gate.Holder{}, err
	}
	if !c.peer.Alive() { // the pid may be somebody else's by now
		return gate.Holder{}, errors.Join(api.Errorf(api.Denied, "the process that asked has exited"), pidfd.Close())
	}
	return gate.Holder{Instance: instance, Process: held{pidfd}}, nil
}

// give hands the values of a lease over, each once and as many at a time as a reply takes, to the very process that it belongs to, if that runs the recorded program and
// nobody of its user can read its memory.
func (h holding) give(call *api.Call) (*api.Reply, error) {
	var in api.RunLease
	if err := call.Decode(&in); err != nil {
		return nil, err
	}
	c, lease, err := h.of(call, in.Lease)
	if err != nil {
		return nil, err
	}
	if err := mayHave(c, lease); err != nil {
		return nil, err
	}
	values, err := lease.Take(frame.MaxValues)
	if err != nil {
		return nil, api.Errorf(api.Denied, "the values of %s were given already", in.Lease)
	}
	return &api.Reply{Values: values}, nil
}

// of finds the lease of a caller.
func (h holding) of(call *api.Call, id string) (*client, *gate.Lease, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, nil, err
	}
	if c.peer != nil {
		if instance, err := c.peer.Instance(); err == nil {
			if lease, err := h.gate.Held(id, instance); err == nil {
				return c, lease, nil
			}
		}
	}
	return nil, nil, api.Errorf(api.NotFound, "there is no open run %q of this process", id)
}

// mayHave says whether a holder is what may have values: the recorded program, which was seen when it asked, hidden from
// others by now.
func mayHave(c *client, lease *gate.Lease) error {
	refused := func(format string, args ...any) *api.Error {
		e := api.Errorf(api.Denied, format, args...)
		e.ID = lease.ID()
		return e
	}
	if !lease.Trusted() { // it was taken over from the daemon before
		return errStranger(lease.ID())
	}
	// Whoever attached before it hid would go on reading.
	if pid, err := platform.TracerOf(c.peer.PID()); err == nil && pid != 0 {
		return refused("a debugger (pid %d) is attached to the program that asks", pid).WithHint("find out what it is and end it")
	}
	if os.Geteuid() == 0 {
		return nil // root reads everything, so nothing can be seen from it
	}
	err := platform.ReadProcEnviron(c.peer.PID(), make([]byte, 1), func([]byte) bool { return false })
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return refused("the program that asks can be read by others of its user").WithCause(fmt.Errorf("reading its environment: %w", err))
}

// end ends a lease with what its holder tells.
func (h holding) end(_ context.Context, call *api.Call) (*api.Reply, error) {
	var in api.RunEnd
	if err := call.Decode(&in); err != nil {
		return nil, err
	}
	_, lease, err := h.of(call, in.Lease)
	if err != nil {
		return nil, err
	}
	switch {
	case in.Failed != "":
		lease.Failed(failureOf(in.Failed))
	case in.Signal != 0:
		lease.Completed("signal " + strconv.Itoa(in.Signal))
	default:
		lease.Completed("exit " + strconv.Itoa(in.Code))
	}
	return nil, nil
}

// failureOf is a client's word for why a program did not run, if it is one of ours.
func failureOf(failed string) string {
	switch failed {
	case "not_found", "not_runnable", "too_large":
		return failed
	}
	return string(api.Internal)
}
