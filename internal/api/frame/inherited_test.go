package frame_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"warder/internal/api/frame"
)

// TestInheritedMeetsTheDaemon says hello over a connection without a place.
func TestInheritedMeetsTheDaemon(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	done := make(chan error, 1)
	go func() {
		_, err := accept(there, nil)
		done <- err
	}()
	conn, err := frame.Inherited(t.Context(), here, self())
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if conn.Server() != self() {
		t.Errorf("the server is %+v", conn.Server())
	}
}

// TestInheritedSaysWhatIsWrong meets an end that hangs up, one of another protocol, and one that is too slow.
func TestInheritedSaysWhatIsWrong(t *testing.T) {
	t.Run("gone", func(t *testing.T) {
		here, there := net.Pipe()
		there.Close()
		if _, err := frame.Inherited(t.Context(), here, self()); codeOf(err) != frame.Unreachable {
			t.Errorf("got %v", err)
		}
	})
	t.Run("another protocol", func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		go func() {
			other := self()
			other.Protocol = 2
			if _, err := there.Read(make([]byte, 1)); err == nil {
				_, _ = frame.Accept(there, other, nil)
			}
		}()
		if _, err := frame.Inherited(t.Context(), here, self()); codeOf(err) != frame.Version {
			t.Errorf("got %v", err)
		}
	})
	t.Run("too slow", func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := frame.Inherited(ctx, here, self()); !errors.Is(err, context.Canceled) || codeOf(err) != "" {
			t.Errorf("got %v", err)
		}
	})
}
