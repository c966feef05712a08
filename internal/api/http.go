package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// maxHeader bounds the head of a request; a stream's input is in it.
const maxHeader = 8 << 10

// httpSide serves the connections that speak HTTP. It is a listener for net/http, which takes from it what was accepted
// and judged elsewhere.
type httpSide struct {
	server  *Server
	web     *http.Server
	handed  chan net.Conn
	closed  chan struct{}
	close   func()
	serving sync.WaitGroup
}

// connKey is the key of the *conn in a request's context.
type connKey struct{}

func newHTTPSide(s *Server) *httpSide {
	h := &httpSide{server: s, handed: make(chan net.Conn), closed: make(chan struct{})}
	h.close = sync.OnceFunc(func() { close(h.closed) })
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	h.web = &http.Server{
		Handler:                      h,
		Protocols:                    protocols,
		ReadHeaderTimeout:            firstTime,
		MaxHeaderBytes:               maxHeader,
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	return h
}

// start serves what hand gives, until stop.
func (h *httpSide) start() {
	h.serving.Go(func() { _ = h.web.Serve(h) }) // it ends with ErrServerClosed
}

// hand gives a connection over to net/http, which closes it in the end.
func (h *httpSide) hand(c *conn) {
	select {
	case h.handed <- c:
	case <-h.closed:
		_ = c.Close()
	}
}

// lastRequests makes each connection end with the request that runs.
func (h *httpSide) lastRequests() { h.web.SetKeepAlivesEnabled(false) }

func (h *httpSide) stop() {
	h.close()
	_ = h.web.Close()
	h.serving.Wait()
}

// Accept implements net.Listener.
func (h *httpSide) Accept() (net.Conn, error) {
	select {
	case c := <-h.handed:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (h *httpSide) Close() error {
	h.close()
	return nil
}

// Addr implements net.Listener.
func (h *httpSide) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }
