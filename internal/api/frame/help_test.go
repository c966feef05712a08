package frame_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"warder/internal/api/frame"
	"warder/internal/secret"
)

// self is what both ends say about themselves where a test does not care.
func self() frame.Hello { return frame.Hello{Protocol: frame.Protocol, Version: "v1.2.3"} }

// pair is the two ends of a connection in memory after the handshake.
func pair(t testing.TB) (*frame.ClientConn, *frame.ServerConn) {
	t.Helper()
	here, there := net.Pipe()
	return handshakeOver(t, here, there)
}

// handshakeOver makes the ends of a connection.
func handshakeOver(t testing.TB, here, there net.Conn) (*frame.ClientConn, *frame.ServerConn) {
	t.Helper()
	accepted := make(chan *frame.ServerConn, 1)
	failed := make(chan error, 1)
	go func() {
		sc, err := accept(there, nil)
		failed <- err
		accepted <- sc
	}()
	client, err := frame.Handshake(t.Context(), here, self())
	if err := errors.Join(err, <-failed); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return client, <-accepted
}

// sockets is the two ends of a real connection.
func sockets(t testing.TB) (here, there *net.UnixConn) {
	t.Helper()
	l, path := listen(t)
	here, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		there, err = l.AcceptUnix()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { here.Close(); there.Close() })
	return here, there
}

// accept reads the first byte, as a server does to see what a client speaks, and then greets.
func accept(nc net.Conn, budget *frame.Budget) (*frame.ServerConn, error) {
	if _, err := io.ReadFull(nc, make([]byte, 1)); err != nil {
		return nil, err
	}
	return frame.Accept(nc, self(), budget)
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

// texts are the bytes of values, which are destroyed.
func texts(t testing.TB, values []secret.Value) []string {
	t.Helper()
	var all []string
	for _, v := range values {
		if err := v.Use(func(b []byte) { all = append(all, string(b)) }); err != nil {
			t.Fatal(err)
		}
	}
	frame.DestroyAll(values)
	return all
}

// folder is a folder for sockets, mode 0700, with a path short enough.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// listen makes a socket in a folder of its own, mode 0600.
func listen(t testing.TB) (*net.UnixListener, string) {
	t.Helper()
	path := filepath.Join(folder(t), "warder.sock")
	return listenAt(t, path), path
}

func listenAt(t testing.TB, path string) *net.UnixListener {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// codeOf is the code of the Error in err, or "" if there is none.
func codeOf(err error) frame.Code {
	var e *frame.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
