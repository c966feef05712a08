package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/platform"
	"warder/internal/secret"
)

// outcomeUnknown is how an act ended whose executor died before it told.
const outcomeUnknown = "unknown"

// byClient says that the daemon knows an outcome by hearsay.
const byClient = "client"

// leases are the acts that were begun here and that a client carries out: the open life of each, from its decision to its
// outcome. A lease belongs to the process that asked for it, and ends with it.
type leases struct {
	ours func(c *client) bool                                      // it runs the program that may have values
	hold func(c *client) (caller.Instance, *platform.Pidfd, error) // holderOf; tests put their own here

	mu   sync.Mutex
	open map[string]*lease
}

type lease struct {
	r      *request
	holder caller.Instance
	ours   bool           // the holder runs the recorded program
	values []secret.Value // until they were given
	cancel context.CancelFunc
}

// begin begins the lease of a request, whose values become its own.
func (l *leases) begin(r *request, values []secret.Value) error {
	c, err := clientOf(r.call)
	if err != nil {
		return err
	}
	hold := l.hold
	if hold == nil {
		hold = holderOf
	}
	holder, pidfd, err := hold(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	held := &lease{r: r, holder: holder, ours: l.ours(c), values: values, cancel: cancel}
	l.mu.Lock()
	if l.open == nil {
		l.open = map[string]*lease{}
	}
	l.open[r.id] = held
	l.mu.Unlock()
	go func() {
		defer pidfd.Close() //nolint:errcheck // nothing is written
		if platform.WaitPidfd(ctx, pidfd) == nil {
			l.abandon(r.id)
		}
	}()
	return nil
}

// holderOf names the process behind a connection, and holds it.
func holderOf(c *client) (caller.Instance, *platform.Pidfd, error) {
	if c.peer == nil {
		return caller.Instance{}, nil, errors.New("a lease for no process")
	}
	holder, err := c.peer.Instance()
	if err != nil {
		return caller.Instance{}, nil, err
	}
	pidfd, err := platform.OpenPidfd(c.peer.PID())
	if err != nil {
		return caller.Instance{}, nil, err
	}
	if !c.peer.Alive() { // the pid may be somebody else's by now
		return caller.Instance{}, nil, errors.Join(api.Errorf(api.Denied, "the process that asked has exited"), pidfd.Close())
	}
	return holder, pidfd, nil
}

// holds says whether the process with that pidfs inode has a lease. Such a process hides itself from who judges the ones below it.
func (l *leases) holds(inode uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, held := range l.open {
		if held.holder.Inode == inode {
			return true
		}
	}
	return false
}

// give hands the values of a lease over, once, to the very process that it belongs to, if that runs the recorded program and
// nobody of its user can read its memory.
func (l *leases) give(call *api.Call) (*api.Reply, error) {
	var in api.RunLease
	if err := call.Decode(&in); err != nil {
		return nil, err
	}
	c, held, err := l.of(call, in.Lease)
	if err != nil {
		return nil, err
	}
	if err := held.prove(c); err != nil {
		return nil, held.r.named(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	values := held.values
	if values == nil {
		return nil, api.Errorf(api.Denied, "the values of %s were given already", in.Lease)
	}
	held.values = nil
	return &api.Reply{Values: values}, nil
}

// of finds the lease of a caller.
func (l *leases) of(call *api.Call, id string) (*client, *lease, error) {
	c, err := clientOf(call)
	if err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	held := l.open[id]
	l.mu.Unlock()
	if held == nil || c.peer == nil {
		return nil, nil, noLease(id)
	}
	if holder, err := c.peer.Instance(); err != nil || holder != held.holder {
		return nil, nil, noLease(id)
	}
	return c, held, nil
}

func noLease(id string) error {
	return api.Errorf(api.NotFound, "there is no open run %q of this process", id)
}

// prove says whether the holder is what may have values: the recorded program, which was seen when it asked, hidden from
// others by now.
func (l *lease) prove(c *client) error {
	if !l.ours {
		return api.Errorf(api.Denied, "values go to the recorded program only, and this is another one").
			WithHint("run the program that setup recorded; see which that is: warder doctor")
	}
	if os.Geteuid() == 0 {
		return nil // root reads everything, so nothing can be seen from it
	}
	err := platform.ReadProcEnviron(c.peer.PID(), make([]byte, 1), func([]byte) bool { return false })
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return api.Errorf(api.Denied, "the program that asks can be read by others of its user").WithCause(fmt.Errorf("reading its environment: %w", err))
}

// end ends a lease with what its holder tells.
func (l *leases) end(ctx context.Context, call *api.Call) (*api.Reply, error) {
	var in api.RunEnd
	if err := call.Decode(&in); err != nil {
		return nil, err
	}
	_, held, err := l.of(call, in.Lease)
	if err != nil || !l.close(in.Lease) {
		return nil, err
	}
	held.r.reportedBy = byClient
	switch {
	case in.Failed != "":
		held.r.note(ctx, eventFailed, wordOf(in.Failed))
	case in.Signal != 0:
		held.r.note(ctx, eventCompleted, "signal "+strconv.Itoa(in.Signal))
	default:
		held.r.note(ctx, eventCompleted, "exit "+strconv.Itoa(in.Code))
	}
	return nil, nil
}

// wordOf is a client's word for why a program did not run, if it is one of ours.
func wordOf(failed string) string {
	switch failed {
	case "not_found", "not_runnable", "too_large":
		return failed
	}
	return string(api.Internal)
}

// abandon ends a lease whose holder died.
func (l *leases) abandon(id string) {
	l.mu.Lock()
	held := l.open[id]
	l.mu.Unlock()
	if held != nil && l.close(id) {
		held.r.note(context.Background(), eventCompleted, outcomeUnknown)
	}
}

// close takes a lease out and wipes what it still has. Of several that try, one does.
func (l *leases) close(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	held := l.open[id]
	if held == nil {
		return false
	}
	delete(l.open, id)
	destroy(held.values)
	held.values = nil
	held.cancel()
	return true
}

// shut ends all leases of a daemon that ends: what becomes of their programs it does not see.
func (l *leases) shut() {
	l.mu.Lock()
	ids := make([]string, 0, len(l.open))
	for id := range l.open {
		ids = append(ids, id)
	}
	l.mu.Unlock()
	for _, id := range ids {
		l.abandon(id)
	}
}
