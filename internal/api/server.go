package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"time"

	"warder/internal/api/frame"
	"warder/internal/platform"
)

const (
	// grace is how long cancelled calls have to return before their connections are closed, and again before shutting down
	// gives up waiting for them.
	grace = time.Second

	// acceptPause is the wait after the system refused to accept, which it does while descriptors are short.
	acceptPause = 100 * time.Millisecond
)

// errShutdown is the cause of contexts that end because the server does.
var errShutdown = errors.New("the daemon is shutting down")

// Config is what a Server is made of.
type Config struct {
	Hello  frame.Hello   // what the daemon says about itself
	Ops    map[string]Op // by name
	Limits Limits
	Log    *slog.Logger // nil for none

	// Admit judges who is on the other end, before anything is read. Its error refuses the connection, which is closed
	// without a word. peer goes with every call; release, if not nil, is called when the connection is over. Admit runs on
	// a goroutine of its own for each connection.
	Admit func(nc *net.UnixConn) (peer any, release func(), err error)
}

// Server serves operations. It is used once: one [Server.Serve], one [Server.Shutdown].
type Server struct {
	hello  frame.Hello
	ops    *operations
	admit  func(*net.UnixConn) (any, func(), error)
	log    *slog.Logger
	budget *frame.Budget
	conns  *register
	http   *httpSide

	endCalls, endStreams context.CancelCauseFunc
}

// NewServer checks cfg and makes a Server.
func NewServer(cfg Config) (*Server, error) {
	if cfg.Admit == nil {
		return nil, errors.New("making the server: nothing judges who connects")
	}
	if err := cfg.Hello.Check(); err != nil {
		return nil, fmt.Errorf("making the server: %w", err)
	}
	for name, op := range cfg.Ops {
		if err := op.check(name); err != nil {
			return nil, fmt.Errorf("making the server: %w", err)
		}
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	limits := cfg.Limits.withDefaults()
	s := &Server{
		hello:  cfg.Hello,
		ops:    &operations{known: maps.Clone(cfg.Ops), log: cfg.Log},
		admit:  cfg.Admit,
		log:    cfg.Log,
		budget: frame.NewBudget(limits.Bytes),
		conns:  newRegister(limits),
	}
	s.ops.calls, s.endCalls = context.WithCancelCause(context.Background())
	s.ops.streams, s.endStreams = context.WithCancelCause(s.ops.calls)
	s.http = newHTTPSide(s)
	return s, nil
}

// Serve takes connections from l until Shutdown or until l fails, and closes l.
func (s *Server) Serve(l *Listener) error {
	if !s.conns.enter() {
		return errors.Join(errShutdown, l.Close())
	}
	defer s.conns.running.Done()
	stop := context.AfterFunc(s.ops.streams, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	s.http.start()
	for {
		nc, err := l.AcceptUnix()
		switch {
		case s.ops.streams.Err() != nil:
			if err == nil {
				_ = nc.Close()
			}
			return l.Close()
		case isPassing(err):
			s.log.LogAttrs(s.ops.streams, slog.LevelWarn, "accepting a connection failed", slog.String("cause", err.Error()))
			s.pause(acceptPause)
		case err != nil:
			return errors.Join(fmt.Errorf("accepting a connection: %w", err), l.Close())
		default:
			s.take(nc)
		}
	}
}

// isPassing reports whether accepting may work again without anybody doing anything.
func isPassing(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary() && !errors.Is(err, net.ErrClosed)
}

// pause waits for d or for shutting down.
func (s *Server) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ops.streams.Done():
	}
}

// take begins to serve one connection.
func (s *Server) take(nc *net.UnixConn) {
	cred, err := platform.PeerCredentials(nc)
	if err != nil {
		cred = platform.PeerCred{} // Admit decides whether that will do
	}
	c := newConn(nc, cred.PID, s.conns)
	if !s.conns.add(c) {
		_ = nc.Close()
		return
	}
	go func() {
		peer, release, err := s.admit(nc)
		if err != nil {
			s.log.LogAttrs(s.ops.calls, slog.LevelInfo, "connection refused",
				slog.Int("pid", cred.PID), slog.Int("uid", int(cred.UID)), slog.String("cause", err.Error()))
			_ = c.Close()
			return
		}
		c.peer, c.release = peer, release
		s.serve(c)
	}()
}

// serve finds out what an admitted connection speaks, and serves it.
func (s *Server) serve(c *conn) {
	frames, err := c.speaksFrames()
	switch {
	case err != nil:
		_ = c.Close()
	case frames:
		s.converse(c)
		_ = c.Close()
	default:
		s.http.hand(c)
	}
}

// Shutdown stops accepting, ends streams and connections without a call, and waits for the calls that run. When ctx ends
// they are cancelled, and after two more seconds at most Shutdown returns the cause of ctx: a handler that ignores its
// context may still run then. The socket is gone when it returns.
func (s *Server) Shutdown(ctx context.Context) error {
	s.conns.close()
	s.http.lastRequests()
	s.endStreams(errShutdown)
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.conns.running.Wait()
	}()
	err := s.drain(ctx, done)
	s.endCalls(errShutdown)
	s.http.stop()
	return err
}

// drain waits for done, with more and more force.
func (s *Server) drain(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.endCalls(errShutdown)
	if !within(grace, done) {
		s.conns.dropAll(func(*conn) bool { return true })
		within(grace, done)
	}
	return fmt.Errorf("shutting down before all calls were done: %w", context.Cause(ctx))
}

// within waits for done, for no longer than d, and reports whether it came.
func within(d time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}
