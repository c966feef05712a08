package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

// patience is how long a test waits for what should happen at once.
const patience = 30 * time.Second

// world is a running server and the way to it.
type world struct {
	t      *testing.T
	server *api.Server
	path   string
	served chan error
	log    *lockedBuffer
	down   func() error // once
	web    *http.Client // of the socket
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func hello() frame.Hello {
	return frame.Hello{Protocol: frame.Protocol, Version: "v1.2.3", SHA256: strings.Repeat("5a", 32)}
}

// locked is the proof of a lock that a test need not have.
func locked() error { return nil }

// serve starts a server with ops. It is shut down with the test, which fails if a goroutine is left then.
func serve(t *testing.T, ops map[string]api.Op, changes ...func(*api.Config)) *world {
	t.Helper()
	w := &world{t: t, path: socketPath(t), served: make(chan error, 1), log: &lockedBuffer{}}
	cfg := api.Config{Hello: hello(), Ops: ops, Admit: anybody, Log: slog.New(slog.NewTextHandler(w.log, nil))}
	for _, change := range changes {
		change(&cfg)
	}
	w.web = w.browser()
	var err error
	if w.server, err = api.NewServer(cfg); err != nil {
		t.Fatal(err)
	}
	l, err := api.Listen(w.path, locked)
	if err != nil {
		t.Fatal(err)
	}
	go func() { w.served <- w.server.Serve(l) }()
	w.down = sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		return errors.Join(w.server.Shutdown(ctx), <-w.served)
	})
	t.Cleanup(func() {
		if err := w.down(); err != nil {
			t.Errorf("shutting down: %v", err)
		}
		requireNoGoroutines(t)
	})
	return w
}

func anybody(*net.UnixConn) (any, func(), error) { return nil, nil, nil }

func socketPath(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "run", "warder.sock")
}

// requireNoGoroutines fails the test while the server's code, or net/http's server, runs on any goroutine. What is just
// about to end gets the time for that.
func requireNoGoroutines(t *testing.T) {
	t.Helper()
	var left string
	for range 2000 {
		if left = serverGoroutines(); left == "" {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("left behind:\n%s", left)
}

// serverGoroutines are the stacks of goroutines that serve.
func serverGoroutines() string {
	dump := make([]byte, 1<<20)
	dump = dump[:runtime.Stack(dump, true)]
	var left []string
	for stack := range strings.SplitSeq(string(dump), "\n\n") {
		for _, mark := range []string{"warder/internal/api.(", "warder/internal/api/frame.(", "net/http.(*conn).serve", "net/http.(*Server).Serve("} {
			if strings.Contains(stack, "\n"+mark) {
				left = append(left, stack)
				break
			}
		}
	}
	return strings.Join(left, "\n\n")
}

func TestTheSearchForGoroutinesFindsThem(t *testing.T) {
	w := serve(t, nil)
	w.dial().Close()
	if serverGoroutines() == "" {
		t.Error("a running server is not found")
	}
}

// dial connects a client.
func (w *world) dial() *api.Client {
	w.t.Helper()
	client, err := api.Dial(w.t.Context(), frame.Dialer{Path: w.path, Self: hello()})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { client.Close() })
	return client
}

// raw connects without a word.
func (w *world) raw() *net.UnixConn {
	w.t.Helper()
	nc, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: w.path, Net: "unix"})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { nc.Close() })
	return nc
}

// browser makes an HTTP client of the socket.
func (w *world) browser() *http.Client {
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", w.path)
	}}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// answer is what came back over HTTP.
type answer struct {
	status int
	header http.Header
	body   string
}

// failure is the error in the answer.
func (a answer) failure(t *testing.T) api.Error {
	t.Helper()
	var body struct{ Error api.Error }
	if err := json.Unmarshal([]byte(a.body), &body); err != nil || body.Error.Code == "" {
		t.Fatalf("status %d, body %q", a.status, a.body)
	}
	return body.Error
}

// ask sends one HTTP request with the headers of a good one, unless change takes them away.
func (w *world) ask(method, path, body string, changes ...func(*http.Request)) answer {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, "http://warder"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Warder-Protocol", "1")
	req.Header.Set("Content-Type", "application/json")
	for _, change := range changes {
		change(req)
	}
	resp, err := w.web.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, strings.TrimSuffix(string(text), "\n")}
}

// soon waits for c.
func soon[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-c:
		return v
	case <-timer.C:
		t.Fatalf("waited too long: %s", what)
		panic("unreachable")
	}
}

// value makes a value of text.
func value(t testing.TB, text string) secret.Value {
	t.Helper()
	v, err := secret.New([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Destroy)
	return v
}

// text is what a value holds.
func text(t testing.TB, v secret.Value) string {
	t.Helper()
	var s string
	if err := v.Use(func(b []byte) { s = string(b) }); err != nil {
		t.Fatal(err)
	}
	return s
}

// codeOf is the code of the Error in err, "" where there is none.
func codeOf(err error) api.Code {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
