package frame_test

import (
	"errors"
	"io"
	"testing"

	"warder/internal/api/frame"
)

// TestADisplacedClientMayAskAgain closes the connection while nobody asks, and then after the request was read.
func TestADisplacedClientMayAskAgain(t *testing.T) {
	for name, reads := range map[string]bool{"before the request": false, "after the request": true} {
		t.Run(name, func(t *testing.T) {
			here, there := sockets(t)
			client, server := handshakeOver(t, here, there)
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				if reads {
					server.ReadRequest()
				}
				there.Close()
			}()
			if !reads {
				<-closed
			}
			_, _, err := client.Call(t.Context(), "op", nil, nil)
			if codeOf(err) != frame.Unreachable || errors.Is(err, frame.ErrNotSent) == reads || errors.Is(err, io.ErrUnexpectedEOF) != reads {
				t.Errorf("got %v", errors.Unwrap(err))
			}
		})
	}
}
