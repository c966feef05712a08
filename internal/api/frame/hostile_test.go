package frame_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"warder/internal/api/frame"
)

// hello is a good greeting.
func hello(t testing.TB) []byte {
	t.Helper()
	b, err := frame.Greeting(self())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// header is the head of a frame that claims n bytes.
func header(kind uint8, n uint32) []byte { return binary.BigEndian.AppendUint32([]byte{kind}, n) }

// request is a request frame.
func request(text string) []byte { return frame.AppendFrame(nil, frame.KindRequest, []byte(text)) }

// with appends pieces to a copy of the first.
func with(pieces ...[]byte) []byte {
	var all []byte
	for _, p := range pieces {
		all = append(all, p...)
	}
	return all
}

// say writes text and swallows what comes back, until the connection ends.
func say(nc net.Conn, text []byte) {
	go io.Copy(io.Discard, nc)
	nc.Write(text)
}

// serveTo reads one request with its values, as a server does.
func serveTo(nc net.Conn, budget *frame.Budget) error {
	server, err := accept(nc, budget)
	if err != nil {
		return err
	}
	defer server.Done()
	req, err := server.ReadRequest()
	if err != nil {
		return err
	}
	values, err := server.ReadValues(req.Values)
	frame.DestroyAll(values)
	return err
}

// TestMalformedClients sends what no client sends and closes the connection.
func TestMalformedClients(t *testing.T) {
	good := hello(t)
	asks := request(`{"op":"a","values":1}`)
	for name, c := range map[string]struct {
		sends []byte
		want  error // nil: an Error that can be sent to the client
	}{
		"nothing":              {nil, io.EOF},
		"half a preface":       {good[:2], io.ErrUnexpectedEOF},
		"another preface":      {with([]byte("\x00WG\x01"), good[4:]), frame.ErrMalformed},
		"half a hello":         {good[:20], io.ErrUnexpectedEOF},
		"no hello":             {with(good[:4], asks), frame.ErrMalformed},
		"a long hello":         {with(good[:4], header(frame.KindHello, 4<<10+1)), frame.ErrMalformed},
		"two protocols":        {with([]byte("\x00WF\x02"), good[4:]), frame.ErrMalformed},
		"a hello of nothing":   {with(good[:4], frame.AppendFrame(nil, frame.KindHello, nil)), frame.ErrMalformed},
		"an orderly end":       {good, io.EOF},
		"half a head":          {with(good, asks[:3]), io.ErrUnexpectedEOF},
		"half a request":       {with(good, asks[:9]), io.ErrUnexpectedEOF},
		"a huge request":       {with(good, header(frame.KindRequest, 1<<32-1)), nil},
		"a little over":        {with(good, header(frame.KindRequest, frame.MaxJSON+1)), nil},
		"a value first":        {with(good, header(frame.KindValue, 1)), frame.ErrMalformed},
		"a reply":              {with(good, header(frame.KindReply, 2)), frame.ErrMalformed},
		"kind 0":               {with(good, header(0, 0)), frame.ErrMalformed},
		"kind 255":             {with(good, header(255, 0)), frame.ErrMalformed},
		"an empty request":     {with(good, request(``)), nil},
		"no JSON":              {with(good, request(`op=a`)), nil},
		"two JSONs":            {with(good, request(`{"op":"a"}{}`)), nil},
		"no operation":         {with(good, request(`{}`)), nil},
		"a strange operation":  {with(good, request(`{"op":"../A"}`)), nil},
		"a member too many":    {with(good, request(`{"op":"a","also":1}`)), nil},
		"values below zero":    {with(good, request(`{"op":"a","values":-1}`)), nil},
		"many values":          {with(good, request(`{"op":"a","values":65}`)), nil},
		"a missing value":      {with(good, asks), io.ErrUnexpectedEOF},
		"half a value":         {with(good, asks, header(frame.KindValue, 9), []byte("half")), io.ErrUnexpectedEOF},
		"a huge value":         {with(good, asks, header(frame.KindValue, 1<<32-1)), frame.ErrMalformed},
		"a value a bit over":   {with(good, asks, header(frame.KindValue, frame.MaxValue+1)), frame.ErrMalformed},
		"a request as a value": {with(good, asks, asks), frame.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := sockets(t)
			go func() {
				say(here, c.sends)
				here.CloseWrite()
			}()
			err := serveTo(there, nil)
			if c.want == nil && codeOf(err) == "" || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSilentClients stops in the middle and stays. The clock is the bubble's own.
func TestSilentClients(t *testing.T) {
	good := hello(t)
	asks := request(`{"op":"a","values":2}`)
	val := frame.AppendFrame(nil, frame.KindValue, []byte("v"))
	const helloTime, sendTime = 5 * time.Second, 10 * time.Second
	for name, c := range map[string]struct {
		sends []byte
		want  time.Duration
	}{
		"in the preface":     {good[:1], helloTime},
		"in the hello":       {good[:10], helloTime},
		"in a head":          {with(good, asks[:1]), sendTime},
		"in a request":       {with(good, asks[:12]), sendTime},
		"before a value":     {with(good, asks), sendTime},
		"between two values": {with(good, asks, val), sendTime},
		"in a value":         {with(good, asks, val, val[:5]), sendTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				defer here.Close()
				defer there.Close()
				go say(here, c.sends)
				begun := time.Now()
				err := serveTo(there, nil)
				if took := time.Since(begun); !errors.Is(err, os.ErrDeadlineExceeded) || took != c.want {
					t.Errorf("%v after %v, want %v", err, took, c.want)
				}
			})
		})
	}
}

// TestPatienceIsForOneRequest sends one byte every second: each is progress, the whole takes too long.
func TestPatienceIsForOneRequest(t *testing.T) {
	good := hello(t)
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		done := make(chan struct{})
		defer func() { <-done }()
		defer here.Close()
		go io.Copy(io.Discard, here)
		go func() {
			defer close(done)
			here.Write(good)
			for _, b := range request(`{"op":"a","input":"` + strings.Repeat("x", 100) + `"}`) {
				time.Sleep(time.Second)
				if _, err := here.Write([]byte{b}); err != nil {
					return
				}
			}
		}()
		if err := serveTo(there, nil); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// TestWaitingBetweenRequestsHasNoEnd keeps a connection for a day.
func TestWaitingBetweenRequestsHasNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := pair(t)
		for range 2 {
			time.Sleep(24 * time.Hour)
			go serveOne(t, server, exchanged{JSON: `1`})
			if _, _, err := client.Call(t.Context(), "op", nil, nil); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestDeafClients ask and don't read the answer.
func TestDeafClients(t *testing.T) {
	good := hello(t)
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer here.Close()
		defer there.Close()
		go func() {
			here.Write(good)
			io.ReadFull(here, make([]byte, len(good)))
			here.Write(request(`{"op":"a"}`))
		}()
		server, err := accept(there, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := server.ReadRequest(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		err = server.WriteReply(nil, nil)
		if took := time.Since(begun); !errors.Is(err, os.ErrDeadlineExceeded) || took != 30*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// TestClaimedLengthsAllocateNothing believes a length only as far as bytes arrived.
func TestClaimedLengthsAllocateNothing(t *testing.T) {
	claims := with(hello(t), header(frame.KindRequest, frame.MaxJSON), []byte(`{"op":"a"`))
	if got := allocated(t, claims); got > 256<<10 {
		t.Errorf("a claim of %d bytes allocated %d", frame.MaxJSON, got)
	}
	if got := allocated(t, with(hello(t), request(`{"op":"a","input":"`+strings.Repeat("x", frame.MaxJSON-50)+`"}`))); got < frame.MaxJSON {
		t.Errorf("the measurement is wrong: a request of 1 MiB allocated %d bytes", got)
	}
}

// allocated is how many bytes were allocated in serving what a client sends.
func allocated(t *testing.T, sends []byte) uint64 {
	t.Helper()
	here, there := sockets(t)
	go func() {
		say(here, sends)
		here.CloseWrite()
	}()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	serveTo(there, nil)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileServers answer a call with what no daemon sends.
func TestHostileServers(t *testing.T) {
	good := hello(t)
	reply := func(text string) []byte { return frame.AppendFrame(nil, frame.KindReply, []byte(text)) }
	for name, sends := range map[string][]byte{
		"nothing":              nil,
		"half a hello":         good[:9],
		"another preface":      []byte("HTTP/1.1 200 OK\r\n\r\n"),
		"a long hello":         with(good[:4], header(frame.KindHello, 1<<31)),
		"an end":               good,
		"half a head":          with(good, []byte{3, 0}),
		"half a reply":         with(good, header(frame.KindReply, 20), []byte("{")),
		"a reply at the limit": with(good, header(frame.KindReply, frame.MaxReply), []byte("{}")),
		"a huge reply":         with(good, header(frame.KindReply, frame.MaxReply+1)),
		"a huge item":          with(good, header(frame.KindItem, frame.MaxJSON+1)),
		"a huge error":         with(good, header(frame.KindError, 64<<10+1)),
		"an item":              with(good, frame.AppendFrame(nil, frame.KindItem, []byte(`1`))),
		"a request":            with(good, request(`{"op":"a"}`)),
		"a value":              with(good, header(frame.KindValue, 1)),
		"kind 77":              with(good, header(77, 0)),
		"no JSON":              with(good, reply(`output`)),
		"many values":          with(good, reply(`{"values":65}`)),
		"values below zero":    with(good, reply(`{"values":-3}`)),
		"a missing value":      with(good, reply(`{"values":1}`)),
		"a huge value":         with(good, reply(`{"values":1}`), header(frame.KindValue, frame.MaxValue+1)),
		"half a value":         with(good, reply(`{"values":1}`), header(frame.KindValue, 10), []byte("half")),
		"an error of nothing":  with(good, frame.AppendFrame(nil, frame.KindError, []byte(`{}`))),
		"an error of no JSON":  with(good, frame.AppendFrame(nil, frame.KindError, []byte(`x`))),
		"a second hello":       with(good, good[4:]),
		"a reply and too much": with(good, reply(`{} {}`)),
	} {
		t.Run(name, func(t *testing.T) {
			here, there := sockets(t)
			go func() {
				say(there, sends)
				there.CloseWrite()
			}()
			client, err := frame.Handshake(t.Context(), here, self())
			if err == nil {
				_, _, err = client.Call(t.Context(), "op", nil, nil)
				if codeOf(err) != frame.Unreachable {
					t.Errorf("got %v", err)
				}
			}
			if err == nil {
				t.Error("believed")
			}
		})
	}
}

// TestSilentServersDoNotHang gives up a handshake when its context ends.
func TestSilentServersDoNotHang(t *testing.T) {
	for name, sends := range map[string][]byte{"silent": nil, "half a hello": hello(t)[:8]} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				defer here.Close()
				defer there.Close()
				go say(there, sends)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if _, err := frame.Handshake(ctx, here, self()); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

func TestWatch(t *testing.T) {
	t.Run("the client goes", func(t *testing.T) {
		client, server := pair(t)
		gone := make(chan struct{})
		stop := server.Watch(func() { close(gone) })
		client.Close()
		<-gone
		if stop() {
			t.Error("a closed connection is called fit")
		}
	})
	t.Run("the client speaks out of turn", func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		go say(here, with(hello(t), request(`{"op":"a"}`), request(`{"op":"b"}`)))
		server, err := accept(there, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := server.ReadRequest(); err != nil {
			t.Fatal(err)
		}
		gone := make(chan struct{})
		stop := server.Watch(func() { close(gone) })
		<-gone
		if stop() {
			t.Error("a connection out of step is called fit")
		}
		here.Close()
	})
	t.Run("nothing happens", func(t *testing.T) {
		client, server := pair(t)
		go func() {
			for range 3 {
				server.ReadRequest()
				stop := server.Watch(func() { t.Error("the client is still there") })
				if !stop() {
					t.Error("the connection is called unfit")
				}
				server.WriteReply(nil, nil)
			}
		}()
		for range 3 {
			if _, _, err := client.Call(t.Context(), "op", nil, nil); err != nil {
				t.Error(err)
			}
		}
	})
}
