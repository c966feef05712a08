package frame_test

import (
	"encoding/json"
	"io"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// The bytes of one call as docs/formats.md F5 has them. They change with the number of the protocol alone.
const (
	greetingBytes = "\x00WF\x01" + "\x06\x00\x00\x00\x21" + `{"protocol":1,"version":"v1.2.3"}`
	requestBytes  = "\x01\x00\x00\x00\x2e" + `{"op":"item.add","input":{"n":"x"},"values":2}` +
		"\x02\x00\x00\x00\x02" + "v1" + "\x02\x00\x00\x00\x00"
	replyBytes = "\x03\x00\x00\x00\x1a" + `{"output":"ok","values":1}` + "\x02\x00\x00\x00\x03" + "\x00\xff\n"
	itemBytes  = "\x05\x00\x00\x00\x03" + `[1]`
	errorBytes = "\x04\x00\x00\x00\x37" + `{"code":"denied","message":"no","hint":"ask","id":"a1"}`
)

func TestF5_WhatAClientSendsAndReads(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	heard := make(chan string, 1)
	go func() {
		heard <- readText(there, len(greetingBytes))
		io.WriteString(there, greetingBytes)
		heard <- readText(there, len(requestBytes))
		io.WriteString(there, replyBytes)
	}()
	client, err := frame.Handshake(t.Context(), here, self())
	must(t, err)
	if diff := cmp.Diff(greetingBytes, <-heard); diff != "" {
		t.Error(diff)
	}
	output, values, err := client.Call(t.Context(), "item.add", json.RawMessage(`{"n":"x"}`), []secret.Value{value(t, "v1"), value(t, "")})
	must(t, err)
	if diff := cmp.Diff(requestBytes, <-heard); diff != "" {
		t.Error(diff)
	}
	if got := texts(t, values); string(output) != `"ok"` || !cmp.Equal(got, []string{"\x00\xff\n"}) {
		t.Errorf("got %s and %q", output, got)
	}
}

func TestF5_WhatADaemonSendsAndReads(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	heard := make(chan string, 1)
	go func() {
		io.WriteString(here, greetingBytes)
		heard <- readText(here, len(greetingBytes))
		io.WriteString(here, requestBytes)
		heard <- readText(here, len(itemBytes+errorBytes+replyBytes))
	}()
	server, err := accept(there, nil)
	must(t, err)
	if diff := cmp.Diff(greetingBytes, <-heard); diff != "" || server.Client() != self() {
		t.Errorf("%s, client %v", diff, server.Client())
	}
	req, values, err := readRequest(server)
	must(t, err)
	if got := texts(t, values); req.Op != "item.add" || string(req.Input) != `{"n":"x"}` || !cmp.Equal(got, []string{"v1", ""}) {
		t.Errorf("got %+v and %q", req, got)
	}
	denied := frame.Errorf("denied", "no").WithHint("ask")
	denied.ID = "a1"
	must(t, server.WriteItem(json.RawMessage(`[1]`)))
	must(t, server.WriteError(denied))
	must(t, server.WriteReply(json.RawMessage(`"ok"`), []secret.Value{value(t, "\x00\xff\n")}))
	if diff := cmp.Diff(itemBytes+errorBytes+replyBytes, <-heard); diff != "" {
		t.Error(diff)
	}
}

// readText reads n bytes, or what there is of them.
func readText(r io.Reader, n int) string {
	b := make([]byte, n)
	got, _ := io.ReadFull(r, b)
	return string(b[:got])
}
