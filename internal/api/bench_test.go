package api_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// benchServer serves an operation that answers its input, one that takes a value, and one that reads its input.
func benchServer(b *testing.B) string {
	b.Helper()
	echo := func(_ context.Context, call *api.Call) (*api.Reply, error) {
		return &api.Reply{Output: call.Input}, nil
	}
	judge := func(_ context.Context, call *api.Call) (*api.Reply, error) {
		var in map[string]string
		return &api.Reply{Output: "allow"}, call.Decode(&in)
	}
	server, err := api.NewServer(api.Config{Hello: hello(), Admit: anybody, Ops: map[string]api.Op{
		"echo": {Call: echo}, "take": {Takes: 1, Call: echo}, "judge": {Call: judge},
	}})
	must(b, err)
	path := socketPath(b)
	l, err := api.Listen(path, locked)
	must(b, err)
	go server.Serve(l)
	b.Cleanup(func() { server.Shutdown(context.Background()) })
	return path
}

// input is as large as what a hook is told.
func input() map[string]string { return map[string]string{"command": strings.Repeat("x", 4000)} }

func BenchmarkFrames(b *testing.B) {
	client, err := api.Dial(b.Context(), frame.Dialer{Path: benchServer(b), Self: hello()})
	must(b, err)
	defer client.Close()
	in := input()
	for b.Loop() {
		var out map[string]string
		if _, err := client.Call(b.Context(), "echo", in, &out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFramesWithAValue(b *testing.B) {
	client, err := api.Dial(b.Context(), frame.Dialer{Path: benchServer(b), Self: hello()})
	must(b, err)
	defer client.Close()
	v := value(b, strings.Repeat("v", 40))
	for b.Loop() {
		if _, err := client.Call(b.Context(), "take", nil, nil, v); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHook is what a hook does: connect with all checks, ask once, close.
func BenchmarkHook(b *testing.B) {
	dialer := frame.Dialer{Path: benchServer(b), Self: hello()}
	in := []byte(`{"command":"` + strings.Repeat("x", 4000) + `"}`)
	for b.Loop() {
		conn, err := dialer.Dial(b.Context())
		must(b, err)
		if _, _, err := conn.Call(b.Context(), "judge", in, nil); err != nil {
			b.Fatal(err)
		}
		conn.Close()
	}
}

func BenchmarkHTTP(b *testing.B) {
	path := benchServer(b)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	in := `{"command":"` + strings.Repeat("x", 4000) + `"}`
	for b.Loop() {
		req, err := http.NewRequestWithContext(b.Context(), "POST", "http://warder/v1/echo", strings.NewReader(in))
		must(b, err)
		req.Header.Set("Warder-Protocol", "1")
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		must(b, err)
		buf := make([]byte, 8192)
		for n := 1; n > 0; n, _ = resp.Body.Read(buf) {
		}
		resp.Body.Close()
	}
}
