package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// gate is a handler that tells when it runs and waits to be let through.
type gate struct {
	begun chan struct{}
	open  chan struct{}
	ended chan error // the cause of its context's end; nil where it was let through
}

func newGate() *gate {
	return &gate{make(chan struct{}, 100), make(chan struct{}), make(chan error, 100)}
}

func (g *gate) wait(ctx context.Context) error {
	g.begun <- struct{}{}
	select {
	case <-g.open:
		g.ended <- nil
		return nil
	case <-ctx.Done():
		g.ended <- context.Cause(ctx)
		return ctx.Err()
	}
}

// ops has a call and a stream that wait at the gate.
func (g *gate) ops() map[string]api.Op {
	return map[string]api.Op{
		"call": {Call: func(ctx context.Context, _ *api.Call) (*api.Reply, error) {
			return &api.Reply{Output: "let through"}, g.wait(ctx)
		}},
		"stream": {Stream: func(ctx context.Context, _ *api.Call, send func(any) error) error {
			if err := send("first"); err != nil {
				return err
			}
			return g.wait(ctx)
		}},
		"mirror": {Call: mirror},
	}
}

// TestTheClientGoes closes the connection while a handler runs, in each of the four ways to run one.
func TestTheClientGoes(t *testing.T) {
	for name, ask := range map[string]func(ctx context.Context, w *world){
		"a call in frames": func(ctx context.Context, w *world) { w.dial().Call(ctx, "call", nil, nil) },
		"a stream in frames": func(ctx context.Context, w *world) {
			w.dial().Stream(ctx, "stream", nil, func(json.RawMessage) error { return nil })
		},
		"a call over HTTP":   func(ctx context.Context, w *world) { fetch(ctx, w, "POST", "/v1/call") },
		"a stream over HTTP": func(ctx context.Context, w *world) { fetch(ctx, w, "GET", "/v1/stream/stream") },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate()
			w := serve(t, g.ops())
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				ask(ctx, w)
			}()
			soon(t, "the handler", g.begun)
			cancel()
			if err := soon(t, "the end of its context", g.ended); err == nil {
				t.Error("it was let through")
			}
			<-done
		})
	}
}

func fetch(ctx context.Context, w *world, method, path string) {
	req, err := http.NewRequestWithContext(ctx, method, "http://warder"+path, strings.NewReader(""))
	if err != nil {
		w.t.Error(err)
		return
	}
	req.Header.Set("Warder-Protocol", "1")
	req.Header.Set("Content-Type", "application/json")
	if resp, err := w.web.Do(req); err == nil {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

// TestShutdownLetsCallsFinish begins one call of each kind, shuts down, and lets them through.
func TestShutdownLetsCallsFinish(t *testing.T) {
	g := newGate()
	w := serve(t, g.ops())
	inFrames, overHTTP := make(chan error, 1), make(chan string, 1)
	client, idle, silent := w.dial(), w.dial(), w.raw()
	go func() {
		var out string
		_, err := client.Call(t.Context(), "call", nil, &out)
		if err == nil && out != "let through" {
			err = errors.New(out)
		}
		inFrames <- err
	}()
	go func() { overHTTP <- w.ask("POST", "/v1/call", "").body }()
	soon(t, "the first call", g.begun)
	soon(t, "the second call", g.begun)
	down := make(chan error, 1)
	go func() { down <- w.down() }()
	// What waits is dropped at once, while the calls go on.
	if got, err := io.ReadAll(silent); err != nil || len(got) > 0 {
		t.Errorf("the silent connection: %q, %v", got, err)
	}
	if _, err := idle.Call(t.Context(), "mirror", nil, nil); codeOf(err) != api.Unreachable {
		t.Errorf("a call after the end: %v", err)
	}
	select {
	case err := <-down:
		t.Fatalf("shut down under running calls: %v", err)
	default:
	}
	close(g.open)
	if err := soon(t, "the call in frames", inFrames); err != nil {
		t.Error(err)
	}
	if body := soon(t, "the call over HTTP", overHTTP); body != `"let through"` {
		t.Error(body)
	}
	if err := soon(t, "the end", down); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(w.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// TestShutdownEndsStreams does not wait for what has no end of its own, and says why it ended.
func TestShutdownEndsStreams(t *testing.T) {
	g := newGate()
	w := serve(t, g.ops())
	inFrames, overHTTP := make(chan error, 1), make(chan string, 1)
	client := w.dial()
	go func() {
		inFrames <- client.Stream(t.Context(), "stream", nil, func(json.RawMessage) error { return nil })
	}()
	go func() { overHTTP <- w.ask("GET", "/v1/stream/stream", "").body }()
	soon(t, "the first stream", g.begun)
	soon(t, "the second stream", g.begun)
	if err := w.down(); err != nil {
		t.Error(err)
	}
	err := soon(t, "the stream in frames", inFrames)
	if codeOf(err) != api.Unreachable || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("got %v", err)
	}
	if body := soon(t, "the stream over HTTP", overHTTP); !strings.Contains(body, "first") || !strings.Contains(body, "shutting down") {
		t.Errorf("got %s", body)
	}
}

// TestShutdownWithoutTimeCancels ends its own context before the calls are done.
func TestShutdownWithoutTimeCancels(t *testing.T) {
	g := newGate()
	w := serve(t, g.ops())
	client := w.dial()
	asked := make(chan error, 1)
	go func() {
		_, err := client.Call(t.Context(), "call", nil, nil)
		asked <- err
	}()
	soon(t, "the call", g.begun)
	noTime := errors.New("no time")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(noTime)
	if err := w.server.Shutdown(ctx); !errors.Is(err, noTime) {
		t.Errorf("got %v", err)
	}
	if err := soon(t, "the end of the context", g.ended); err == nil || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("the handler's cause: %v", err)
	}
	if err := soon(t, "the answer", asked); codeOf(err) != api.Unreachable || !strings.Contains(err.Error(), "shutting down") {
		t.Errorf("the client's answer: %v", err)
	}
}

func TestServeAfterShutdown(t *testing.T) {
	server, err := api.NewServer(api.Config{Hello: hello(), Admit: anybody})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := api.Listen(socketPath(t), locked)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Serve(l); err == nil {
		t.Error("served")
	}
	if _, err := os.Lstat(l.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// TestServeEndsWithItsListener closes the listener under the server.
func TestServeEndsWithItsListener(t *testing.T) {
	server, err := api.NewServer(api.Config{Hello: hello(), Admit: anybody})
	if err != nil {
		t.Fatal(err)
	}
	l, err := api.Listen(socketPath(t), locked)
	if err != nil {
		t.Fatal(err)
	}
	l.UnixListener.Close()
	if err := server.Serve(l); !errors.Is(err, net.ErrClosed) {
		t.Errorf("got %v", err)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	requireNoGoroutines(t)
}

// TestAFloodOfConnections opens many more than there is room for. They displace each other; calls go on.
func TestAFloodOfConnections(t *testing.T) {
	const room, flood = 16, 400
	g := newGate()
	var alive, most atomic.Int32
	w := serve(t, g.ops(), func(cfg *api.Config) {
		cfg.Limits = api.Limits{Conns: room, PerProcess: room}
		cfg.Admit = func(*net.UnixConn) (any, func(), error) {
			n := alive.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			return nil, func() { alive.Add(-1) }, nil
		}
	})
	running := w.dial()
	answered := make(chan error, 1)
	go func() {
		_, err := running.Call(t.Context(), "call", nil, nil)
		answered <- err
	}()
	soon(t, "the call", g.begun)
	var first *net.UnixConn
	for i := range flood {
		nc := w.raw()
		if i == 0 {
			first = nc
		}
		nc.Write([]byte("\x00WF")) // half of a preface is not worth more than silence
		if i%50 == 0 {
			if _, err := w.dial().Call(t.Context(), "mirror", nil, nil); err != nil {
				t.Errorf("after %d connections: %v", i, err)
			}
		}
	}
	if got, _ := io.ReadAll(first); len(got) > 0 {
		t.Errorf("the first one got %q", got)
	}
	close(g.open)
	if err := soon(t, "the call's answer", answered); err != nil {
		t.Errorf("the running call was displaced: %v", err)
	}
	// A displaced connection is counted out before its goroutine is, so there may be some more for a moment.
	if most.Load() > 8*room {
		t.Errorf("%d connections at once, room for %d", most.Load(), room)
	}
}

// TestOneProcessCannotTakeAll fills a process's share with running calls: the next connection of it is refused.
func TestOneProcessCannotTakeAll(t *testing.T) {
	const share = 4
	g := newGate()
	w := serve(t, g.ops(), func(cfg *api.Config) { cfg.Limits = api.Limits{PerProcess: share} })
	answered := make(chan error, share)
	for range share {
		client := w.dial()
		go func() {
			_, err := client.Call(t.Context(), "call", nil, nil)
			answered <- err
		}()
		soon(t, "a call", g.begun)
	}
	if _, err := api.Dial(t.Context(), frame.Dialer{Path: w.path, Self: hello()}); codeOf(err) != api.Unreachable {
		t.Errorf("got %v", err)
	}
	close(g.open)
	for range share {
		if err := soon(t, "an answer", answered); err != nil {
			t.Error(err)
		}
	}
	if _, err := w.dial().Call(t.Context(), "mirror", nil, nil); err != nil {
		t.Errorf("when there is room again: %v", err)
	}
}

// TestManyAtOnce lets clients of both kinds ask at the same time.
func TestManyAtOnce(t *testing.T) {
	w := serve(t, map[string]api.Op{"mirror": {Call: mirror}, "keep": {Takes: 1, Returns: true, Call: mirror}})
	const clients, calls = 6, 30
	done := make(chan error, 2*clients)
	for i := range clients {
		client := w.dial()
		go func() {
			v := value(t, strings.Repeat("v", i+1))
			for range calls {
				var got point
				if _, err := client.Call(t.Context(), "keep", point{X: i, Y: -i}, &got, v); err != nil || got.X != -i || got.Y != i {
					done <- errors.Join(err, errors.New("frames: "+got.Note))
					return
				}
			}
			done <- nil
		}()
		go func() {
			for range calls / 3 {
				if a := w.ask("POST", "/v1/mirror", `{"X":1,"Y":2}`); a.status != http.StatusOK {
					done <- errors.New("HTTP: " + a.body)
					return
				}
			}
			done <- nil
		}()
	}
	for range 2 * clients {
		if err := soon(t, "a client", done); err != nil {
			t.Error(err)
		}
	}
}
