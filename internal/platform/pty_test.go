package platform_test

import (
	"bufio"
	"errors"
	"io/fs"
	"testing"

	"warder/internal/platform"
)

func TestOpenPTY(t *testing.T) {
	keyboard, tty, err := platform.OpenPTY()
	if errors.Is(err, platform.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer keyboard.Close()
	defer tty.Close()
	if _, err := keyboard.WriteString("typed\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(tty).ReadString('\n'); line != "typed\n" || err != nil {
		t.Errorf("the terminal got %q, %v", line, err)
	}
	if line, err := bufio.NewReader(keyboard).ReadString('\n'); line != "typed\r\n" || err != nil {
		t.Errorf("the terminal shows %q, %v", line, err)
	}
	if err := platform.SetTerminalSize(keyboard, 30, 100); err != nil {
		t.Error(err)
	}
	if err := keyboard.Close(); err != nil {
		t.Fatal(err)
	}
	if err := platform.SetTerminalSize(keyboard, 30, 100); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the size of a closed terminal: %v", err)
	}
}
