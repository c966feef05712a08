package api

import (
	"io"
	"net"
	"sync"
	"time"

	"warder/internal/api/frame"
)

// firstTime is how long a client may take to send its first byte, and the head of an HTTP request.
const firstTime = 5 * time.Second

// conn is one connection. Whoever serves it calls Close in the end; anybody may call drop to make that happen soon.
type conn struct {
	net.Conn
	pid     int    // 0 where the system does not tell
	peer    any    // what Admit returned
	release func() // what Admit returned, called when the connection is over; may be nil
	first   []byte // read to see what the client speaks, and still to be read by HTTP
	since   uint64 // when it began to wait; 0 while a call runs. The register's lock guards it.
	end     func() error
}

// newConn prepares a connection that the register is about to take in.
func newConn(nc net.Conn, pid int, reg *register) *conn {
	c := &conn{Conn: nc, pid: pid}
	c.end = sync.OnceValue(func() error {
		err := nc.Close()
		if c.release != nil {
			c.release()
		}
		reg.remove(c)
		return err
	})
	return c
}

// Read implements net.Conn for HTTP. Frames are read from the connection below.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.first) > 0 && len(b) > 0 {
		n := copy(b, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	return c.Conn.Read(b)
}

// Close ends the connection. Nothing uses its peer any more.
func (c *conn) Close() error { return c.end() }

// drop closes the connection below; whoever serves it finds out and calls Close.
func (c *conn) drop() { _ = c.Conn.Close() }

// speaksFrames reads the first byte, which tells.
func (c *conn) speaksFrames() (bool, error) {
	if err := c.SetReadDeadline(time.Now().Add(firstTime)); err != nil {
		return false, err
	}
	var b [1]byte
	if _, err := io.ReadFull(c.Conn, b[:]); err != nil {
		return false, err
	}
	if b[0] == frame.Mark {
		return true, nil
	}
	c.first = b[:]
	return false, c.SetReadDeadline(time.Time{})
}
