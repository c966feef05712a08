package frame

import (
	"context"
	"fmt"
	"net"
)

// Inherited meets a daemon that this process has just started, over the connection that it inherited. There is no place to
// be judged: nobody else holds the other end. The daemon may take helloTime to come up. Errors are of type [*Error], but
// for the end of ctx; nc is closed then.
func Inherited(ctx context.Context, nc net.Conn, self Hello) (*ClientConn, error) {
	limited, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	conn, err := handshake(limited, nc, self)
	if err == nil && self.Protocol != conn.server.Protocol {
		err = (&VersionError{Client: self, Server: conn.server}).asError()
	}
	if err == nil {
		return conn, nil
	}
	_ = nc.Close()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("meeting the daemon that was started: %w", context.Cause(ctx))
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // made three lines above, or not at all
		return nil, e
	}
	return nil, Errorf(Unreachable, "the daemon that was started does not answer").
		WithHint("its log says why: daemon.log in the state directory").WithCause(err)
}
