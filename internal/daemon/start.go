package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/caller"
	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/state"
)

// meetTime is how long whoever started this daemon may take until it speaks.
const meetTime = 10 * time.Second

// starter is whoever started this daemon, on the other end of the inherited connection. nil stands for nobody: the daemon was
// started by hand.
type starter struct {
	nc   *net.UnixConn
	conn *frame.ServerConn
	peer *caller.Peer // nil if it can't be told
}

// meetStarter takes over the inherited connection.
func meetStarter(o Options) (*starter, error) {
	if o.StartFD == 0 {
		return nil, nil
	}
	nc, err := platform.InheritedConn(o.StartFD)
	if err != nil {
		return nil, api.Errorf(api.Usage, "--start-fd is for daemons that warder starts by itself").WithCause(err)
	}
	s := &starter{nc: nc}
	if err := s.greet(o.Version); err != nil {
		return nil, errors.Join(fmt.Errorf("meeting whoever started this daemon: %w", err), nc.Close())
	}
	if s.peer, err = caller.PeerOf(nc); err != nil {
		s.peer = nil // it can't be told who that is
	}
	return s, nil
}

func (s *starter) greet(version string) (err error) {
	if err := s.nc.SetReadDeadline(time.Now().Add(meetTime)); err != nil {
		return err
	}
	var mark [1]byte
	if _, err := s.nc.Read(mark[:]); err != nil {
		return err
	}
	if mark[0] != frame.Mark {
		return frame.ErrMalformed
	}
	s.conn, err = frame.Accept(s.nc, frame.Hello{Protocol: frame.Protocol, Version: version}, frame.NewBudget(4*frame.MaxJSON))
	return err
}

func (s *starter) close() {
	if s.peer != nil {
		s.peer.Close()
	}
	_ = s.nc.Close()
}

// reply says that the daemon serves.
func (s *starter) reply(started api.Started, kit kitValues) error {
	output, err := json.Marshal(started)
	if err != nil {
		return err
	}
	return s.conn.WriteReply(output, kit)
}

// fail says why it does not.
func (s *starter) fail(err error) { _ = s.conn.WriteError(toldError(err)) }

// toldError is an error as it crosses the socket: what only the disk knows a way out of gets the hint for that, wherever it failed.
func toldError(err error) *api.Error {
	e := api.AsError(err)
	if hint := state.Hint(err); hint != "" && e.Hint == api.RowOf(api.Internal).Hint {
		return e.WithHint(hint)
	}
	return e
}

// judgeStarter keeps who started this daemon. What the client said on the command line can make it an agent and never a
// person: the kernel says whose the other end is.
func (d birth) judgeStarter(s *starter) {
	if s == nil {
		return // Run has judged its own ancestors
	}
	found := caller.Identity{Verdict: caller.Unknown}
	if s.peer != nil {
		if id, err := d.tables.Load().Judge(s.peer, nil); err == nil {
			found = id
		}
	}
	found.Verdict = stricter(found.Verdict, d.opt.StartedBy)
	d.starter = found
}

// stricter is the verdict that opens less.
func stricter(a, b caller.Verdict) caller.Verdict {
	for _, v := range []caller.Verdict{caller.Agent, caller.Unknown} {
		if a == v || b == v {
			return v
		}
	}
	return a
}

// startRequest is what whoever started this daemon wants from it.
type startRequest struct {
	op     string
	create api.StartCreate
	unlock api.StartUnlock
	values []secret.Value
}

func (r *startRequest) destroy() { frame.DestroyAll(r.values) }

// makesKit reports whether a recovery kit comes of it.
func (r *startRequest) makesKit() bool {
	return r.op == api.OpStartCreate || r.op == api.OpStartRecover
}

// request reads the one request. A daemon started by hand has api.OpStart.
func (s *starter) request() (*startRequest, error) {
	if s == nil {
		return &startRequest{op: api.OpStart}, nil
	}
	raw, err := s.conn.ReadRequest()
	if err != nil {
		return nil, fmt.Errorf("reading what whoever started this daemon wants: %w", err)
	}
	r := &startRequest{op: raw.Op}
	var least, most int
	switch call := (api.Call{Op: raw.Op, Input: raw.Input}); raw.Op {
	case api.OpStart:
	case api.OpStartUnlock:
		least, most = 1, 1
		err = call.Decode(&r.unlock)
	case api.OpStartCreate:
		err = call.Decode(&r.create)
		if !r.create.Unattended {
			least, most = 1, 1
		}
	case api.OpStartRecover:
		err = call.Decode(&r.unlock)
		least, most = 2, 2
		if r.unlock.DeviceSecret {
			least, most = 3, 3
		}
	default:
		err = api.Errorf(api.Usage, "a daemon that starts knows no operation %q", raw.Op)
	}
	if err != nil {
		return nil, err
	}
	if raw.Values < least || raw.Values > most {
		return nil, api.Errorf(api.Usage, "%s takes %d values, not %d", raw.Op, least, raw.Values)
	}
	r.values, err = s.conn.ReadValues(raw.Values)
	if err != nil {
		return nil, fmt.Errorf("reading what whoever started this daemon wants: %w", err)
	}
	return r, nil
}
