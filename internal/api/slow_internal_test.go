package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/api/frame"
)

// inBubble runs a test with a server whose clock is the bubble's own. Goroutines that are left end the test.
func inBubble(t *testing.T, ops map[string]Op, test func(t *testing.T, s *Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(Config{
			Hello: frame.Hello{Protocol: frame.Protocol, Version: "v1.2.3"}, Ops: ops,
			Admit: func(*net.UnixConn) (any, func(), error) { return nil, nil, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		s.http.start()
		test(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
}

// connect is a client's end of a connection in memory, which was admitted.
func connect(t *testing.T, s *Server, pid int) net.Conn {
	t.Helper()
	here, there := net.Pipe()
	c := newConn(there, pid, s.conns)
	if !s.conns.add(c) {
		t.Fatal("no room")
	}
	go s.serve(c)
	t.Cleanup(func() { here.Close() })
	return here
}

const head = "POST /v1/wait HTTP/1.1\r\nHost: warder\r\nWarder-Protocol: 1\r\nContent-Type: application/json\r\n"

// waiting is an operation that takes an hour.
func waiting() map[string]Op {
	return map[string]Op{"wait": {Call: func(ctx context.Context, _ *Call) (*Reply, error) {
		select {
		case <-time.After(time.Hour):
			return &Reply{Output: "done"}, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}}}
}

// TestSlowClients stop in the middle. Each is dropped after the time that F5 gives, to the second.
func TestSlowClients(t *testing.T) {
	for name, c := range map[string]struct {
		sends string
		want  time.Duration
	}{
		"nothing at all":      {"", firstTime},
		"frames' first byte":  {"\x00", 5 * time.Second},
		"a method":            {"POST", firstTime},
		"a head without end":  {head, firstTime},
		"a body without end":  {head + "Content-Length: 100\r\n\r\n{", bodyTime},
		"chunks without end":  {head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", bodyTime},
		"a body never begun":  {head + "Content-Length: 2\r\n\r\n", bodyTime},
		"not HTTP, no frames": {"SSH-2.0-x\r\n\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, waiting(), func(t *testing.T, s *Server) {
				nc := connect(t, s, 1)
				begun := time.Now()
				go io.WriteString(nc, c.sends)
				io.Copy(io.Discard, nc)
				// net/http reads what is left of a refused body for a moment before it closes.
				if took := time.Since(begun); took < c.want || took > c.want+time.Second {
					t.Errorf("dropped after %v, want %v", took, c.want)
				}
			})
		})
	}
}

// TestALongCallIsNotSlow answers after an hour over HTTP: deadlines are for clients, not for what a person takes to decide.
func TestALongCallIsNotSlow(t *testing.T) {
	inBubble(t, waiting(), func(t *testing.T, s *Server) {
		nc := connect(t, s, 1)
		in := bufio.NewReader(nc)
		for _, input := range []string{"Content-Length: 2\r\n\r\n{}", "Content-Length: 0\r\n\r\n"} { // one after the other
			begun := time.Now()
			go io.WriteString(nc, head+input)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(body) != "\"done\"\n" || time.Since(begun) < time.Hour {
				t.Errorf("%q, %v after %v", body, err, time.Since(begun))
			}
			time.Sleep(24 * time.Hour) // and waiting between requests has no end
		}
	})
}

// TestDeafClients ask over HTTP and don't read the answer.
func TestDeafClients(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	ops := map[string]Op{"wait": {Call: func(context.Context, *Call) (*Reply, error) { return &Reply{Output: long}, nil }}}
	inBubble(t, ops, func(t *testing.T, s *Server) {
		nc := connect(t, s, 1)
		io.WriteString(nc, head+"Content-Length: 2\r\n\r\n{}")
		time.Sleep(takeTime + time.Second)
		synctest.Wait()
		if got, err := io.ReadAll(nc); err != nil || len(got) > len(long)/2 {
			t.Errorf("%d bytes after the deadline, %v", len(got), err)
		}
	})
}

// TestShutdownDropsDeafClients does not wait until an answer that nobody takes has used up its time.
func TestShutdownDropsDeafClients(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	ops := map[string]Op{"wait": {Call: func(context.Context, *Call) (*Reply, error) { return &Reply{Output: long}, nil }}}
	inBubble(t, ops, func(t *testing.T, s *Server) {
		nc := connect(t, s, 1)
		io.WriteString(nc, head+"Content-Length: 2\r\n\r\n{}")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		from := time.Now()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(from); took != time.Second+grace {
			t.Errorf("took %v", took)
		}
	})
}

// TestShutdownGivesUp on a handler that ignores its context, after the time that is documented.
func TestShutdownGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun, end := make(chan struct{}), make(chan struct{})
		s, err := NewServer(Config{
			Hello: frame.Hello{Protocol: frame.Protocol, Version: "v1.2.3"},
			Admit: func(*net.UnixConn) (any, func(), error) { return nil, nil, nil },
			Ops: map[string]Op{"wait": {Call: func(context.Context, *Call) (*Reply, error) {
				close(begun)
				<-end
				return nil, nil
			}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		nc := connect(t, s, 1)
		go io.Copy(io.Discard, nc)
		go io.WriteString(nc, "\x00WF\x01"+small(6, `{"protocol":1,"version":"v1.2.3"}`)+small(1, `{"op":"wait"}`))
		<-begun
		noTime := errors.New("no time")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, noTime)
		defer cancel()
		from := time.Now()
		if err := s.Shutdown(ctx); !errors.Is(err, noTime) {
			t.Errorf("got %v", err)
		}
		if took := time.Since(from); took != time.Minute+2*grace {
			t.Errorf("took %v", took)
		}
		close(end)
	})
}

// small is a frame of a few bytes.
func small(kind byte, text string) string {
	return string([]byte{kind, 0, 0, 0, byte(len(text))}) + text
}
