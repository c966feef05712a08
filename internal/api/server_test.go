package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/secret"
)

type point struct {
	X, Y int
	Note string `json:",omitempty"`
}

// mirror turns a point round.
func mirror(_ context.Context, call *api.Call) (*api.Reply, error) {
	var p point
	if err := call.Decode(&p); err != nil {
		return nil, err
	}
	return &api.Reply{Output: point{X: p.Y, Y: p.X, Note: fmt.Sprint(call.Op, " ", call.Client.Version, " ", call.Peer)}}, nil
}

// TestOneOperationTwoWays asks the same in frames and over HTTP.
func TestOneOperationTwoWays(t *testing.T) {
	w := serve(t, map[string]api.Op{"mirror": {Call: mirror}}, func(cfg *api.Config) {
		cfg.Admit = func(*net.UnixConn) (any, func(), error) { return "peer", nil, nil }
	})
	var got point
	if _, err := w.dial().Call(t.Context(), "mirror", point{X: 1, Y: 2}, &got); err != nil || got != (point{2, 1, "mirror v1.2.3 peer"}) {
		t.Errorf("frames: %+v, %v", got, err)
	}
	a := w.ask("POST", "/v1/mirror", `{"X":3,"Y":4}`, func(r *http.Request) { r.Header.Set("Warder-Version", "curl") })
	if a.status != http.StatusOK || a.body != `{"X":4,"Y":3,"Note":"mirror curl peer"}` {
		t.Errorf("HTTP: %+v", a)
	}
}

func TestEmptyInputAndOutput(t *testing.T) {
	nothing := func(_ context.Context, call *api.Call) (*api.Reply, error) {
		p := point{X: 9}
		if err := call.Decode(&p); err != nil || p.X != 9 || call.Input != nil {
			return nil, errors.New("an input came from nowhere")
		}
		return nil, nil
	}
	w := serve(t, map[string]api.Op{"nothing": {Call: nothing}})
	got := point{X: 7}
	if _, err := w.dial().Call(t.Context(), "nothing", nil, &got); err != nil || got.X != 7 {
		t.Errorf("frames: %+v, %v", got, err)
	}
	if a := w.ask("POST", "/v1/nothing", ""); a.status != http.StatusOK || a.body != "null" {
		t.Errorf("HTTP: %+v", a)
	}
}

// TestValues sends values both ways, and looks at them after the call.
func TestValues(t *testing.T) {
	var kept []secret.Value
	swap := func(_ context.Context, call *api.Call) (*api.Reply, error) {
		kept = call.Values
		a, err := call.Values[0].Clone()
		if err != nil {
			return nil, err
		}
		b, err := call.Values[1].Clone()
		if err != nil {
			return nil, err
		}
		kept = append(kept, a, b)
		return &api.Reply{Output: "swapped", Values: []secret.Value{b, a}}, nil
	}
	w := serve(t, map[string]api.Op{"swap": {Takes: 2, Returns: true, Call: swap}})
	var out string
	client := w.dial()
	got, err := client.Call(t.Context(), "swap", nil, &out, value(t, "first"), value(t, ""))
	if err != nil || len(got) != 2 || out != "swapped" {
		t.Fatal(got, out, err)
	}
	if a, b := text(t, got[0]), text(t, got[1]); a != "" || b != "first" {
		t.Errorf("got %q and %q", a, b)
	}
	frame.DestroyAll(got)
	if err := w.down(); err != nil { // the handler's side is done when the server is
		t.Fatal(err)
	}
	for i, v := range kept {
		if err := v.Use(func([]byte) {}); !errors.Is(err, secret.ErrDestroyed) {
			t.Errorf("value %d outlived the call", i)
		}
	}
}

// TestValuesCrossInFramesAlone asks over HTTP for operations that carry values. They must not run.
func TestValuesCrossInFramesAlone(t *testing.T) {
	ran := func(context.Context, *api.Call) (*api.Reply, error) {
		t.Error("it ran")
		return nil, nil
	}
	w := serve(t, map[string]api.Op{"takes": {Takes: 1, Call: ran}, "returns": {Returns: true, Call: ran}})
	for _, op := range []string{"takes", "returns"} {
		if a := w.ask("POST", "/v1/"+op, ""); a.status != http.StatusBadRequest || a.failure(t).Code != api.Usage {
			t.Errorf("%s: %+v", op, a)
		}
	}
}

// TestUndeclaredValues are refused in both directions, and destroyed.
func TestUndeclaredValues(t *testing.T) {
	var made secret.Value
	leak := func(context.Context, *api.Call) (*api.Reply, error) {
		var err error
		made, err = secret.Random(16)
		return &api.Reply{Values: []secret.Value{made}}, err
	}
	large := func(context.Context, *api.Call) (*api.Reply, error) {
		v, err := secret.Random(frame.MaxValue + 1)
		return &api.Reply{Values: []secret.Value{v}}, err
	}
	w := serve(t, map[string]api.Op{"leak": {Call: leak}, "large": {Returns: true, Call: large}, "one": {Takes: 1, Call: mirror}})
	client := w.dial()
	if got, err := client.Call(t.Context(), "leak", nil, nil); codeOf(err) != api.Internal || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if !strings.Contains(w.log.String(), "does not declare") {
		t.Errorf("the log has no cause: %s", w.log)
	}
	if _, err := client.Call(t.Context(), "large", nil, nil); codeOf(err) != api.Internal {
		t.Errorf("got %v", err)
	}
	if _, err := client.Call(t.Context(), "one", nil, nil, value(t, "a"), value(t, "b")); codeOf(err) != api.Usage {
		t.Errorf("got %v", err)
	}
	if err := w.down(); err != nil {
		t.Fatal(err)
	}
	if err := made.Use(func([]byte) {}); !errors.Is(err, secret.ErrDestroyed) {
		t.Error("the value is still there")
	}
}

// TestErrorsCross returns errors of every kind from a handler and reads them at the other end.
func TestErrorsCross(t *testing.T) {
	known := api.Errorf(api.Denied, "rule 3 in policy.toml:7 forbids it")
	known.ID = "a1"
	cases := map[string]struct {
		err    error
		want   api.Error
		status int
		logged string
	}{
		"own":      {known.WithHint("ask first"), api.Error{Code: "denied", Message: known.Message, Hint: "ask first", ID: "a1"}, 403, ""},
		"no-hint":  {frame.Errorf(api.Locked, "locked"), api.Error{Code: "locked", Message: "locked", Hint: api.RowOf(api.Locked).Hint}, 423, ""},
		"wrapped":  {fmt.Errorf("doing: %w", known), api.Error{Code: "denied", Message: known.Message, Hint: api.RowOf(api.Denied).Hint, ID: "a1"}, 403, ""},
		"cause":    {known.WithCause(errors.New("disk 7")), api.Error{Code: "denied", Message: known.Message, Hint: known.Hint, ID: "a1"}, 403, "disk 7"},
		"other":    {errors.New("disk 8"), api.Error{Code: "internal", Message: "something went wrong inside the daemon", Hint: api.RowOf(api.Internal).Hint}, 500, "disk 8"},
		"timeout":  {context.DeadlineExceeded, api.Error{Code: "internal", Message: "something went wrong inside the daemon", Hint: api.RowOf(api.Internal).Hint}, 500, "deadline"},
		"missing":  {api.Errorf(api.NotFound, "none"), api.Error{Code: "not_found", Message: "none", Hint: api.RowOf(api.NotFound).Hint}, 404, ""},
		"exists":   {api.Errorf(api.Exists, "is there"), api.Error{Code: "exists", Message: "is there", Hint: api.RowOf(api.Exists).Hint}, 409, ""},
		"damaged":  {api.Errorf(api.Integrity, "changed"), api.Error{Code: "integrity", Message: "changed", Hint: api.RowOf(api.Integrity).Hint}, 500, ""},
		"new-code": {frame.Errorf("brand_new", "m"), api.Error{Code: "brand_new", Message: "m", Hint: api.RowOf(api.Internal).Hint}, 500, ""},
	}
	ops := map[string]api.Op{}
	for name, c := range cases {
		ops[name] = api.Op{Call: func(context.Context, *api.Call) (*api.Reply, error) { return nil, c.err }}
		ops["s-"+name] = api.Op{Stream: func(context.Context, *api.Call, func(any) error) error { return c.err }}
	}
	w := serve(t, ops)
	client := w.dial()
	for name, c := range cases {
		_, inFrames := client.Call(t.Context(), name, nil, nil)
		inStream := client.Stream(t.Context(), "s-"+name, nil, func(json.RawMessage) error { return nil })
		overHTTP := w.ask("POST", "/v1/"+name, "")
		streamed := w.ask("GET", "/v1/stream/s-"+name, "")
		got := []api.Error{plain(t, inFrames), plain(t, inStream), overHTTP.failure(t), streamed.failure(t)}
		for i, e := range got {
			if diff := cmp.Diff(c.want, e, cmp.Comparer(sameError)); diff != "" {
				t.Errorf("%s, way %d: %s", name, i, diff)
			}
		}
		if overHTTP.status != c.status || streamed.status != c.status {
			t.Errorf("%s: status %d and %d", name, overHTTP.status, streamed.status)
		}
		if c.logged != "" && !strings.Contains(w.log.String(), c.logged) {
			t.Errorf("%s: the log does not have %q", name, c.logged)
		}
		for _, e := range got {
			if c.logged != "" && strings.Contains(e.Message+e.Hint, c.logged) {
				t.Errorf("%s: the cause crossed: %+v", name, e)
			}
		}
	}
}

func plain(t *testing.T, err error) api.Error {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	return *e
}

func sameError(a, b api.Error) bool {
	return a.Code == b.Code && a.Message == b.Message && a.Hint == b.Hint && a.ID == b.ID
}

// TestAPanicIsOneCallsOwn answers it, says so in the log without what the panic carried, and goes on.
func TestAPanicIsOneCallsOwn(t *testing.T) {
	const carried = "what-a-handler-was-told"
	w := serve(t, map[string]api.Op{
		"text":   {Call: func(context.Context, *api.Call) (*api.Reply, error) { panic(carried) }},
		"fault":  {Call: func(_ context.Context, call *api.Call) (*api.Reply, error) { return nil, errors.New(call.Op[99:]) }},
		"stream": {Stream: func(context.Context, *api.Call, func(any) error) error { panic(errors.New(carried)) }},
		"mirror": {Call: mirror},
	})
	client := w.dial()
	for _, op := range []string{"text", "fault"} {
		if _, err := client.Call(t.Context(), op, nil, nil); codeOf(err) != api.Internal {
			t.Errorf("%s: %v", op, err)
		}
		if a := w.ask("POST", "/v1/"+op, ""); a.failure(t).Code != api.Internal {
			t.Errorf("%s: %+v", op, a)
		}
	}
	if err := client.Stream(t.Context(), "stream", nil, func(json.RawMessage) error { return nil }); codeOf(err) != api.Internal {
		t.Errorf("got %v", err)
	}
	if _, err := client.Call(t.Context(), "mirror", nil, nil); err != nil {
		t.Errorf("the connection: %v", err)
	}
	log := w.log.String()
	if strings.Contains(log, carried) || !strings.Contains(log, "out of range") || !strings.Contains(log, "server_test.go") {
		t.Errorf("the log: %s", log)
	}
}

func TestMalformedCalls(t *testing.T) {
	w := serve(t, map[string]api.Op{
		"mirror": {Call: mirror},
		"follow": {Stream: func(context.Context, *api.Call, func(any) error) error { return nil }},
	})
	for name, input := range map[string]string{"a member too many": `{"Z":1}`, "another type": `[1]`} {
		if _, err := w.dial().Call(t.Context(), "mirror", json.RawMessage(input), nil); codeOf(err) != api.Usage {
			t.Errorf("frames, %s: %v", name, err)
		}
		if a := w.ask("POST", "/v1/mirror", input); a.failure(t).Code != api.Usage {
			t.Errorf("HTTP, %s: %+v", name, a)
		}
	}
	client := w.dial()
	for range 2 {
		if _, err := client.Call(t.Context(), "unknown", nil, nil); codeOf(err) != api.Usage {
			t.Errorf("got %v", err)
		}
	}
	if _, err := w.dial().Call(t.Context(), "follow", nil, nil); err != nil {
		t.Errorf("a stream without items is a reply: %v", err)
	}
	large := strings.Repeat(" ", frame.MaxJSON)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, c := range map[string]struct {
		method, path, body string
		change             func(*http.Request)
		status             int
		want               api.Code
	}{
		"unknown":         {"POST", "/v1/unknown", "", nil, 400, api.Usage},
		"no version":      {"POST", "/mirror", "", nil, 400, api.Usage},
		"GET":             {"GET", "/v1/mirror", "", nil, 400, api.Usage},
		"POST a stream":   {"POST", "/v1/follow", "", nil, 400, api.Usage},
		"stream a call":   {"GET", "/v1/stream/mirror", "", nil, 400, api.Usage},
		"two JSONs":       {"POST", "/v1/mirror", "{}{}", nil, 400, api.Usage},
		"no JSON":         {"POST", "/v1/mirror", "x", nil, 400, api.Usage},
		"a bad query":     {"GET", "/v1/stream/follow?input=x", "", nil, 400, api.Usage},
		"too long":        {"POST", "/v1/mirror", "{}" + large, nil, 413, api.TooLarge},
		"no length":       {"POST", "/v1/mirror", "{}" + large, func(r *http.Request) { r.ContentLength = -1 }, 413, api.TooLarge},
		"a form":          {"POST", "/v1/mirror", "{}", header("Content-Type", "application/x-www-form-urlencoded"), 400, api.Usage},
		"no handshake":    {"POST", "/v1/mirror", "{}", func(r *http.Request) { r.Header.Del("Warder-Protocol") }, 400, api.Usage},
		"odd handshake":   {"POST", "/v1/mirror", "{}", header("Warder-Sha256", "12"), 400, api.Usage},
		"a newer client":  {"POST", "/v1/mirror", "{}", header("Warder-Protocol", "2"), 503, api.Version},
		"any path of all": {"POST", "/v1/../v1/mirror/x", "{}", nil, 400, api.Usage},
	} {
		if c.change == nil {
			c.change = func(*http.Request) {}
		}
		if a := w.ask(c.method, c.path, c.body, c.change); a.status != c.status || a.failure(t).Code != c.want {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// TestHTTPHandshake looks at what the daemon says about itself, also beside an error.
func TestHTTPHandshake(t *testing.T) {
	w := serve(t, map[string]api.Op{"mirror": {Call: mirror}})
	for _, path := range []string{"/v1/mirror", "/v1/unknown"} {
		a := w.ask("POST", path, "{}")
		for name, want := range map[string]string{
			"Warder-Protocol": "1", "Warder-Version": hello().Version, "Warder-Sha256": hello().SHA256,
			"Cache-Control": "no-store", "Content-Type": "application/json",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %s is %q", path, name, got)
			}
		}
	}
}

func TestAnswersOverTheLimit(t *testing.T) {
	long := strings.Repeat("x", frame.MaxReply)
	w := serve(t, map[string]api.Op{
		"call":   {Call: func(context.Context, *api.Call) (*api.Reply, error) { return &api.Reply{Output: long}, nil }},
		"odd":    {Call: func(context.Context, *api.Call) (*api.Reply, error) { return &api.Reply{Output: func() {}}, nil }},
		"stream": {Stream: func(_ context.Context, _ *api.Call, send func(any) error) error { return send(long[:frame.MaxJSON]) }},
		"mirror": {Call: mirror},
	})
	client := w.dial()
	if _, err := client.Call(t.Context(), "call", nil, nil); codeOf(err) != api.TooLarge {
		t.Errorf("got %v", err)
	}
	if _, err := client.Call(t.Context(), "odd", nil, nil); codeOf(err) != api.Internal {
		t.Errorf("got %v", err)
	}
	if err := client.Stream(t.Context(), "stream", nil, func(json.RawMessage) error { return nil }); codeOf(err) != api.TooLarge {
		t.Errorf("got %v", err)
	}
	var wrong int
	if _, err := client.Call(t.Context(), "mirror", nil, &wrong); codeOf(err) != api.Internal {
		t.Errorf("an answer of another form: %v", err)
	}
}

// TestStreams follows in frames and over HTTP, to a good and to a bad end.
func TestStreams(t *testing.T) {
	count := func(_ context.Context, call *api.Call, send func(any) error) error {
		var n int
		if err := call.Decode(&n); err != nil {
			return err
		}
		for i := range n {
			if err := send(point{X: i}); err != nil {
				return err
			}
		}
		if n == 2 {
			return api.Errorf(api.Locked, "locked meanwhile").WithHint("h")
		}
		return nil
	}
	w := serve(t, map[string]api.Op{"count": {Stream: count}})
	client := w.dial()
	for n, want := range map[int]struct {
		code api.Code
		body string
	}{
		0: {"", ``},
		3: {"", "{\"item\":{\"X\":0,\"Y\":0}}\n{\"item\":{\"X\":1,\"Y\":0}}\n{\"item\":{\"X\":2,\"Y\":0}}"},
		2: {api.Locked, "{\"item\":{\"X\":0,\"Y\":0}}\n{\"item\":{\"X\":1,\"Y\":0}}\n{\"error\":{\"code\":\"locked\",\"message\":\"locked meanwhile\",\"hint\":\"h\",\"id\":\"\"}}"},
	} {
		items := 0
		err := client.Stream(t.Context(), "count", n, func(item json.RawMessage) error {
			var p point
			if err := json.Unmarshal(item, &p); err != nil || p.X != items {
				t.Errorf("item %d: %s", items, item)
			}
			items++
			return nil
		})
		if items != n || codeOf(err) != want.code {
			t.Errorf("frames: %d items, %v", items, err)
		}
		a := w.ask("GET", fmt.Sprintf("/v1/stream/count?input=%d", n), "")
		if a.status != http.StatusOK || a.body != want.body || a.header.Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("HTTP: %+v", a)
		}
	}
}

// TestRefusedPeersGetNothing connects as somebody whom the daemon refuses.
func TestRefusedPeersGetNothing(t *testing.T) {
	w := serve(t, map[string]api.Op{"mirror": {Call: mirror}}, func(cfg *api.Config) {
		cfg.Admit = func(*net.UnixConn) (any, func(), error) { return nil, nil, errors.New("pid 0") }
	})
	for _, says := range []string{"", "\x00WF\x01", "GET / HTTP/1.1\r\nHost: warder\r\n\r\n"} {
		nc := w.raw()
		io.WriteString(nc, says) // it may be too late for that
		if got, _ := io.ReadAll(nc); len(got) > 0 {
			t.Errorf("after %q: %q", says, got)
		}
	}
	_, err := api.Dial(t.Context(), frame.Dialer{Path: w.path, Self: hello()})
	if codeOf(err) != api.Unreachable || errors.Is(err, frame.ErrNotRunning) {
		t.Errorf("got %v", err)
	}
}

// TestPeersLiveAsLongAsTheirConnection counts what Admit gave out and what came back.
func TestPeersLiveAsLongAsTheirConnection(t *testing.T) {
	var admitted, released atomic.Int32
	w := serve(t, map[string]api.Op{"mirror": {Call: mirror}}, func(cfg *api.Config) {
		cfg.Admit = func(*net.UnixConn) (any, func(), error) {
			return admitted.Add(1), func() { released.Add(1) }, nil
		}
	})
	client := w.dial()
	for range 3 {
		var got point
		if _, err := client.Call(t.Context(), "mirror", nil, &got); err != nil || !strings.HasSuffix(got.Note, " 1") {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if a := w.ask("POST", "/v1/mirror", "{}"); !strings.Contains(a.body, " 2") {
		t.Errorf("got %+v", a)
	}
	w.raw() // never says a word
	if err := w.down(); err != nil {
		t.Fatal(err)
	}
	if admitted.Load() != released.Load() || admitted.Load() < 2 {
		t.Errorf("%d admitted, %d released", admitted.Load(), released.Load())
	}
}

// TestU_159_DaemonOfAnotherVersion meets a real server that is older or newer.
func TestU_159_DaemonOfAnotherVersion(t *testing.T) {
	for version, newer := range map[string]bool{"v1.2.2": true, "v1.3.0": false} {
		t.Run(version, func(t *testing.T) {
			w := serve(t, map[string]api.Op{"mirror": {Call: mirror}}, func(cfg *api.Config) { cfg.Hello.Version = version })
			_, err := api.Dial(t.Context(), frame.Dialer{Path: w.path, Self: hello()})
			var other *frame.VersionError
			if codeOf(err) != api.Version || !errors.As(err, &other) || other.ClientIsNewer() != newer {
				t.Errorf("got %v", err)
			}
			client, err := api.Dial(t.Context(), frame.Dialer{Path: w.path, Self: hello(), AnyBuild: true})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			if _, err := client.Call(t.Context(), "mirror", nil, nil); err != nil || client.Server().Version != version {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestNewServerRefuses(t *testing.T) {
	good := func() api.Config { return api.Config{Hello: hello(), Admit: anybody} }
	stream := func(context.Context, *api.Call, func(any) error) error { return nil }
	for name, change := range map[string]func(*api.Config){
		"nobody to judge":       func(c *api.Config) { c.Admit = nil },
		"no version":            func(c *api.Config) { c.Hello.Version = "" },
		"a bad name":            func(c *api.Config) { c.Ops = map[string]api.Op{"Item Add": {Call: mirror}} },
		"nothing to call":       func(c *api.Config) { c.Ops = map[string]api.Op{"a": {}} },
		"two things":            func(c *api.Config) { c.Ops = map[string]api.Op{"a": {Call: mirror, Stream: stream}} },
		"many values":           func(c *api.Config) { c.Ops = map[string]api.Op{"a": {Call: mirror, Takes: frame.MaxValues + 1}} },
		"a stream with a value": func(c *api.Config) { c.Ops = map[string]api.Op{"a": {Stream: stream, Returns: true}} },
	} {
		cfg := good()
		change(&cfg)
		if _, err := api.NewServer(cfg); err == nil {
			t.Errorf("%s: made", name)
		}
	}
	if _, err := api.NewServer(good()); err != nil {
		t.Error(err)
	}
}
