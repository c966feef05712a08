package frame

import (
	"context"
	"io/fs"
	"net"
)

// Handshake makes a client over any connection, without the checks of Dial.
func Handshake(ctx context.Context, nc net.Conn, self Hello) (*ClientConn, error) {
	return handshake(ctx, nc, self)
}

// Greeting is what an end that claims to be h sends first.
func Greeting(h Hello) ([]byte, error) { return greeting(h) }

// DecodeRequest reads the JSON of a request.
func DecodeRequest(body []byte) (Request, error) { return decodeRequest(body) }

// CheckAs is check with another owner than this process.
func CheckAs(path string, want fs.FileMode, owner uint32) error { return check(path, want, owner) }

// AppendFrame makes one frame of any kind.
func AppendFrame(to []byte, k uint8, body []byte) []byte { return appendFrame(to, kind(k), body) }

// The kinds of frames, as F5 numbers them.
const (
	KindRequest = uint8(kindRequest)
	KindValue   = uint8(kindValue)
	KindReply   = uint8(kindReply)
	KindError   = uint8(kindError)
	KindItem    = uint8(kindItem)
	KindHello   = uint8(kindHello)
)

// Left is what nobody holds of a budget.
func (b *Budget) Left() int64 { return b.left.Load() }
