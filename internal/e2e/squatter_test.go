package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"

	"warder/internal/api"
	"warder/internal/api/frame"
)

// The squatter is a program of the same user that has taken the socket's place
// since the daemon started. It either plays the daemon, or passes all that is
// said on to the daemon, and writes down every byte that clients say.

// squatterPart is the squatter's first argument; the socket, the file to write
// to, and where it moves the daemon's socket follow. Without the last it plays
// the daemon.
const squatterPart = "@squat"

// squatterAct is what the squatter asks for a proof of.
const squatterAct = "show you something"

// squat is the squatter's main function. It never ends.
func squat(args []string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("squatter: %w", err)
		}
	}()
	socket, file := args[0], args[1]
	behind := filepath.Join(filepath.Dir(socket), "behind.sock")
	if len(args) > 2 {
		behind = args[2]
		if err := os.Rename(socket, behind); err != nil {
			return err
		}
	}
	heard, err := os.OpenFile(file+".new", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	if len(args) == 2 {
		if err := playDaemon(behind, failed); err != nil {
			return err
		}
	}
	l, err := api.Listen(socket, func() error { return nil })
	if err != nil {
		return err
	}
	if err := os.Rename(file+".new", file); err != nil { // it is ready
		return err
	}
	for {
		nc, err := l.Accept()
		if err != nil {
			return errors.Join(err, <-failed)
		}
		go passOn(nc, behind, heard)
	}
}

// passOn carries a connection to another socket and writes down what it says.
func passOn(nc net.Conn, socket string, heard io.Writer) {
	defer nc.Close()
	to, err := net.Dial("unix", socket)
	if err != nil {
		return
	}
	defer to.Close()
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(to, io.TeeReader(nc, heard))
		to.Close()
	})
	both.Go(func() {
		_, _ = io.Copy(nc, to)
		nc.Close()
	})
	both.Wait()
}

// playDaemon speaks as the daemon does: it asks for presence, and then for
// nothing more.
func playDaemon(socket string, failed chan<- error) error {
	ask := func(_ context.Context, call *api.Call) (*api.Reply, error) {
		for _, v := range call.Values { // it may read what it likes
			if err := v.Use(func([]byte) {}); err != nil {
				return nil, err
			}
		}
		e := api.Errorf(api.NeedsApproval, squatterAct)
		e.Hash, e.Challenge = fmt.Sprintf("%064d", 0), "JUSTANYCHALLENGE"
		return nil, e
	}
	ops := map[string]api.Op{}
	for _, op := range []string{api.OpItemShow, api.OpPasswd, api.OpNewKit} {
		ops[op] = api.Op{Takes: frame.MaxValues, Returns: true, Call: ask}
	}
	ops[api.OpStatus] = api.Op{Call: func(context.Context, *api.Call) (*api.Reply, error) {
		return &api.Reply{Output: api.Status{Account: api.AccountStatus{State: "locked"}}}, nil
	}}
	server, err := api.NewServer(api.Config{
		Hello: frame.Hello{Protocol: frame.Protocol, Version: "1"}, Ops: ops,
		Admit: func(*net.UnixConn) (any, func(), error) { return nil, nil, nil },
	})
	if err != nil {
		return err
	}
	l, err := api.Listen(socket, func() error { return nil })
	if err != nil {
		return err
	}
	go func() { failed <- server.Serve(l) }()
	return nil
}
