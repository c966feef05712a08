package frame_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// chopped delivers what is written to the other end in pieces of given sizes, round and round.
type chopped struct {
	net.Conn
	sizes []int
	next  int
}

func (c *chopped) Read(b []byte) (int, error) {
	size := c.sizes[c.next%len(c.sizes)]
	c.next++
	return c.Conn.Read(b[:min(size, len(b))])
}

// exchanged is what one end told the other.
type exchanged struct {
	Op     string
	JSON   string
	Values []string
}

// TestAnySplitOfFramesIsTheSame sends calls over a connection that hands out what arrives in any pieces.
func TestAnySplitOfFramesIsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sizes := rapid.SliceOfN(rapid.IntRange(1, 9000), 1, 8)
		here, there := net.Pipe()
		defer here.Close()
		defer there.Close()
		client, server := handshakeOver(t,
			&chopped{Conn: here, sizes: sizes.Draw(rt, "to client")}, &chopped{Conn: there, sizes: sizes.Draw(rt, "to server")})
		for range rapid.IntRange(1, 3).Draw(rt, "calls") {
			asked, answered := message().Draw(rt, "asked"), message().Draw(rt, "answered")
			got := make(chan exchanged, 1)
			go func() { got <- serveOne(t, server, answered) }()
			output, values, err := client.Call(t.Context(), asked.Op, json.RawMessage(asked.JSON), newValues(t, asked.Values))
			if err != nil {
				rt.Fatal(err)
			}
			if diff := cmp.Diff(asked, <-got); diff != "" {
				rt.Fatal("the server heard something else: ", diff)
			}
			back := exchanged{answered.Op, string(output), texts(t, values)}
			if diff := cmp.Diff(answered, back); diff != "" {
				rt.Fatal("the client heard something else: ", diff)
			}
		}
	})
}

// message is any message, its JSON in the one form that encoding keeps.
func message() *rapid.Generator[exchanged] {
	return rapid.Custom(func(t *rapid.T) exchanged {
		text, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "input"))
		if err != nil {
			t.Fatal(err)
		}
		values := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 9000), func(b []byte) string { return string(b) }), 0, 4)
		drawn := values.Draw(t, "values")
		if len(drawn) == 0 {
			drawn = nil
		}
		return exchanged{rapid.StringMatching(`[a-z][a-z0-9._-]{0,63}`).Draw(t, "op"), string(text), drawn}
	})
}

func newValues(t testing.TB, texts []string) []secret.Value {
	var values []secret.Value
	for _, text := range texts {
		values = append(values, value(t, text))
	}
	return values
}

// serveOne reads one request and answers it.
func serveOne(t testing.TB, server *frame.ServerConn, with exchanged) exchanged {
	req, err := server.ReadRequest()
	if err != nil {
		t.Error(err)
		return exchanged{}
	}
	values, err := server.ReadValues(req.Values)
	if err != nil {
		t.Error(err)
		return exchanged{}
	}
	if err := server.WriteReply(json.RawMessage(with.JSON), newValues(t, with.Values)); err != nil {
		t.Error(err)
	}
	return exchanged{req.Op, string(req.Input), texts(t, values)}
}

func TestAnErrorLeavesTheConnectionUsable(t *testing.T) {
	client, server := pair(t)
	want := frame.Errorf("denied", "rule %d forbids it", 7).WithHint("ask").WithCause(errors.New("never sent"))
	go func() {
		server.ReadRequest()
		server.WriteError(want)
		serveOne(t, server, exchanged{JSON: `"second"`})
	}()
	_, _, err := client.Call(t.Context(), "first", nil, nil)
	var got *frame.Error
	if !errors.As(err, &got) || got.Code != want.Code || got.Message != want.Message || got.Hint != want.Hint || errors.Unwrap(got) != nil {
		t.Fatalf("got %#v", err)
	}
	if output, _, err := client.Call(t.Context(), "second", nil, nil); err != nil || string(output) != `"second"` {
		t.Fatalf("got %s, %v", output, err)
	}
}

func TestErrorsAreCutToWhatAClientReads(t *testing.T) {
	client, server := pair(t)
	go func() {
		server.ReadRequest()
		server.WriteError(frame.Errorf("denied", "%s", strings.Repeat("\x01é", 1<<20)).WithHint(strings.Repeat("<", 1<<20)))
	}()
	_, _, err := client.Call(t.Context(), "op", nil, nil)
	if codeOf(err) != "denied" {
		t.Fatalf("got %v", err)
	}
}

func TestStream(t *testing.T) {
	client, server := pair(t)
	go func() {
		for _, end := range []*frame.Error{nil, frame.Errorf("locked", "locked meanwhile")} {
			server.ReadRequest()
			for _, item := range []string{`1`, `{"a":2}`} {
				server.WriteItem(json.RawMessage(item))
			}
			if end != nil {
				server.WriteError(end)
			} else {
				server.WriteReply(nil, nil)
			}
		}
	}()
	for _, want := range []frame.Code{"", "locked"} {
		var got []string
		err := client.Stream(t.Context(), "follow", nil, func(item json.RawMessage) error {
			got = append(got, string(item))
			return nil
		})
		if diff := cmp.Diff([]string{`1`, `{"a":2}`}, got); diff != "" || codeOf(err) != want {
			t.Errorf("got %v and %v", got, err)
		}
	}
}

// TestStreamEndsWhenItsReaderHasEnough closes the connection, so that the server learns of it.
func TestStreamEndsWhenItsReaderHasEnough(t *testing.T) {
	client, server := pair(t)
	gone := make(chan error, 1)
	go func() {
		server.ReadRequest()
		server.WriteItem(json.RawMessage(`1`))
		_, err := server.ReadRequest()
		gone <- err
	}()
	enough := frame.Errorf("denied", "the reader's own, of a type that answers have")
	err := client.Stream(t.Context(), "follow", nil, func(json.RawMessage) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	if err := <-gone; !errors.Is(err, io.EOF) {
		t.Errorf("the server read on: %v", err)
	}
	if _, _, err := client.Call(t.Context(), "op", nil, nil); codeOf(err) != frame.Unreachable {
		t.Errorf("a call over the closed connection: %v", err)
	}
}

func TestACancelledCallIsBrokenOff(t *testing.T) {
	client, server := pair(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		server.ReadRequest()
		cancel()
		_, err := server.ReadRequest()
		gone <- err
	}()
	if _, _, err := client.Call(ctx, "op", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := <-gone; !errors.Is(err, io.EOF) {
		t.Errorf("the server was not told: %v", err)
	}
	if _, _, err := client.Call(t.Context(), "op", nil, nil); codeOf(err) != frame.Unreachable {
		t.Errorf("a call over a connection out of step: %v", err)
	}
}

// TestCallsTakeTurns lets two goroutines use one connection.
func TestCallsTakeTurns(t *testing.T) {
	client, server := pair(t)
	const calls = 20
	go func() {
		for range 2 * calls {
			req, err := server.ReadRequest()
			if err != nil {
				t.Error(err)
				return
			}
			server.WriteReply(req.Input, nil)
		}
	}()
	done := make(chan error, 2)
	for _, mine := range []string{`"a"`, `"b"`} {
		go func() {
			for range calls {
				output, _, err := client.Call(t.Context(), "echo", json.RawMessage(mine), nil)
				if err == nil && string(output) != mine {
					err = errors.New("somebody else's answer: " + string(output))
				}
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		t.Error(err)
	}
}

// TestWaitingForATurnEnds holds the connection with one call while another gives up.
func TestWaitingForATurnEnds(t *testing.T) {
	client, server := pair(t)
	begun, end := make(chan struct{}), make(chan struct{})
	go func() {
		req, _ := server.ReadRequest()
		close(begun)
		<-end
		server.WriteReply(req.Input, nil)
	}()
	first := make(chan error, 1)
	go func() {
		_, _, err := client.Call(t.Context(), "slow", nil, nil)
		first <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := client.Call(ctx, "second", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(end)
	if err := <-first; err != nil {
		t.Errorf("the first call was disturbed: %v", err)
	}
}

// TestRefusedValuesAreExplained closes the connection before the values were read, on a real socket whose buffers are
// smaller than they are.
func TestRefusedValuesAreExplained(t *testing.T) {
	l, path := listen(t)
	go func() {
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		if server, err := accept(nc, nil); err == nil {
			server.ReadRequest()
			server.WriteError(frame.Errorf("usage", "takes no values"))
		}
	}()
	client, err := frame.Dialer{Path: path, Self: self()}.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	large := value(t, strings.Repeat("x", frame.MaxValue))
	values := make([]secret.Value, frame.MaxValues)
	for i := range values {
		values[i] = large
	}
	if _, _, err := client.Call(t.Context(), "op", nil, values); codeOf(err) != "usage" {
		t.Errorf("got %v", err)
	}
}

func TestClientRefusesWhatIsOverTheLimits(t *testing.T) {
	client, server := pair(t)
	large, err := secret.Make(frame.MaxValue+1, func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer large.Destroy()
	dead := value(t, "x")
	dead.Destroy()
	long, err := json.Marshal(strings.Repeat("x", frame.MaxJSON))
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]struct {
		input  json.RawMessage
		values []secret.Value
		want   frame.Code
	}{
		"a large value":   {nil, []secret.Value{large}, frame.TooLarge},
		"many values":     {nil, make([]secret.Value, frame.MaxValues+1), frame.TooLarge},
		"a large input":   {long, nil, frame.TooLarge},
		"an input's form": {json.RawMessage(`{`), nil, frame.Usage},
		"a destroyed one": {nil, []secret.Value{dead}, ""},
	} {
		if _, _, err := client.Call(t.Context(), "op", call.input, call.values); err == nil || codeOf(err) != call.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	go serveOne(t, server, exchanged{JSON: `"fine"`})
	if output, _, err := client.Call(t.Context(), "op", nil, nil); err != nil || string(output) != `"fine"` {
		t.Errorf("nothing was sent, so the connection should be usable: %s, %v", output, err)
	}
}

func TestServerRefusesWhatIsOverTheLimits(t *testing.T) {
	_, server := pair(t)
	large, err := secret.Make(frame.MaxValue+1, func([]byte) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer large.Destroy()
	long := json.RawMessage(`"` + strings.Repeat("x", frame.MaxReply) + `"`)
	for name, err := range map[string]error{
		"a large value": server.WriteReply(nil, []secret.Value{large}),
		"many values":   server.WriteReply(nil, make([]secret.Value, frame.MaxValues+1)),
		"a large reply": server.WriteReply(long, nil),
		"a large item":  server.WriteItem(long),
		"not JSON":      server.WriteReply(json.RawMessage(`{`), nil),
	} {
		if err == nil {
			t.Errorf("%s was sent", name)
		}
	}
}

// TestLargestMessages sends as much as the limits allow to the server, and much back.
func TestLargestMessages(t *testing.T) {
	client, server := pair(t)
	input := json.RawMessage(`"` + strings.Repeat("i", frame.MaxJSON-100) + `"`)
	output := json.RawMessage(`"` + strings.Repeat("o", 4<<20) + `"`) // a list of 10,000 items; the limit costs seconds under -race
	text := strings.Repeat("v", frame.MaxValue)
	values := make([]secret.Value, frame.MaxValues)
	for i := range values {
		values[i] = value(t, text)
	}
	go func() {
		req, err := server.ReadRequest()
		if err != nil || !bytes.Equal(req.Input, input) {
			t.Errorf("input of %d bytes, %v", len(req.Input), err)
		}
		got, err := server.ReadValues(req.Values)
		if err != nil {
			t.Error(err)
		}
		server.WriteReply(output, got)
		frame.DestroyAll(got)
	}()
	back, got, err := client.Call(t.Context(), "op", input, values)
	if err != nil || !bytes.Equal(back, output) || len(got) != len(values) {
		t.Fatalf("output of %d bytes, %d values, %v", len(back), len(got), err)
	}
	for i, text := range texts(t, got) {
		if len(text) != frame.MaxValue {
			t.Fatalf("value %d has %d bytes", i, len(text))
		}
	}
}
