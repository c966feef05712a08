package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/gate"
)

// client is the process on the other end of a connection, judged once when it connected. It is what Call.Peer holds.
type client struct {
	peer    *caller.Peer
	id      caller.Identity
	session string      // its id
	program fs.FileInfo // what it ran when it connected; nil if that can't be told
}

// errForeign says that another user's process connected.
var errForeign = errors.New("the caller belongs to another user")

// admit judges who connected. It is the server's Admit.
func (d *Daemon) admit(nc *net.UnixConn) (peer any, release func(), err error) {
	p, err := caller.PeerOf(nc)
	if err != nil {
		return nil, nil, fmt.Errorf("judging a caller: %w", err)
	}
	if uid := p.UID(); uid != uint32(os.Geteuid()) {
		p.Close()
		return nil, nil, fmt.Errorf("uid %d: %w", uid, errForeign)
	}
	id, err := d.tables.Load().Judge(p, d.gate.Holds)
	if err != nil {
		p.Close()
		return nil, nil, fmt.Errorf("judging a caller: %w", err)
	}
	return &client{peer: p, id: id, session: gate.NewSession(id).ID, program: programOf(p.PID())}, p.Close, nil
}

// clientOf is who made the call. A connection may outlive the process that opened it, in the hands of one that was never
// judged; such a one is told to go.
func clientOf(call *api.Call) (*client, error) {
	c, ok := call.Peer.(*client)
	if !ok {
		return nil, errors.New("a call without a judged caller")
	}
	if c.peer != nil && !c.peer.Alive() { // nil for one that came without a connection
		return nil, api.Errorf(api.Denied, "the process that opened this connection has exited").
			WithHint("connect to the daemon from the process that asks")
	}
	return c, nil
}
