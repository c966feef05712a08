package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"warder/internal/api"
	"warder/internal/platform"
	"warder/internal/secret"
)

// console is the controlling terminal. Passwords are read there and what must
// reach a person's eyes is written there, wherever the streams lead.
type console struct{ tty *os.File }

// console opens the controlling terminal.
func (env *Env) console() (*console, error) {
	open := env.Terminal
	if open == nil {
		open = platform.OpenTerminal
	}
	tty, err := open()
	if err != nil {
		return nil, fmt.Errorf("opening the controlling terminal: %w", err)
	}
	return &console{tty}, nil
}

// close gives the terminal up.
func (c *console) close() { _ = c.tty.Close() }

// say writes one printable line.
func (c *console) say(format string, args ...any) error {
	_, err := fmt.Fprintln(c.tty, printable(fmt.Sprintf(format, args...)))
	return err
}

// hidden asks for a line that is not shown. The caller destroys it.
func (c *console) hidden(prompt string) (secret.Value, error) {
	n := 0
	line, err := secret.Make(platform.MaxHidden, func(buf []byte) (err error) {
		n, err = platform.ReadHidden(c.tty, printable(prompt), buf)
		return err
	})
	_, _ = io.WriteString(c.tty, "\n")
	switch {
	case errors.Is(err, platform.ErrInterrupted):
		return secret.Value{}, outcome(exitInterrupted)
	case errors.Is(err, io.EOF):
		return secret.Value{}, usageError("nothing was typed").WithHint("type it and press Enter")
	case errors.Is(err, platform.ErrLineTooLong):
		return secret.Value{}, api.Errorf(api.TooLarge, "the line is longer than a terminal's line can be").
			WithHint("give it on standard input instead")
	case err != nil:
		return secret.Value{}, fmt.Errorf("reading from the terminal: %w", err)
	}
	defer line.Destroy()
	return part(line, 0, n)
}

// confirm asks a question that is answered by y or n. An empty line means yes
// or no, as given, and the end of the input means no.
func (c *console) confirm(question string, yes bool) (bool, error) {
	choice := "[y/N]"
	if yes {
		choice = "[Y/n]"
	}
	if _, err := fmt.Fprintf(c.tty, "%s %s ", printable(question), choice); err != nil {
		return false, fmt.Errorf("asking on the terminal: %w", err)
	}
	answer, err := c.line()
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "":
		return yes, nil
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// line reads a line byte by byte, so that nothing behind it is swallowed.
func (c *console) line() (string, error) {
	const most = 256 // an answer; what is longer is none
	var text []byte
	var b [1]byte
	for len(text) < most {
		n, err := c.tty.Read(b[:])
		if n == 1 && b[0] == '\n' {
			return string(text), nil
		}
		text = append(text, b[:n]...)
		if errors.Is(err, io.EOF) {
			return "n", nil
		}
		if err != nil {
			return "", fmt.Errorf("reading from the terminal: %w", err)
		}
	}
	return "n", nil
}

// Least demands on a master password, as the vault has them. Asking again here
// is quicker than a refusal; the vault's word counts.
const (
	minPasswordLength = 12
	minPasswordScore  = 3
	passwordTries     = 3
)

// newPassword asks for a new master password until it is strong and typed the
// same twice. The caller destroys it.
func (c *console) newPassword() (secret.Value, error) {
	for range passwordTries {
		first, err := c.hidden("New master password: ")
		if err != nil {
			return secret.Value{}, err
		}
		if fault := weakness(first); fault != "" {
			first.Destroy()
			if err := c.say("%s", fault); err != nil {
				return secret.Value{}, err
			}
			continue
		}
		second, err := c.hidden("The same again: ")
		if err != nil {
			first.Destroy()
			return secret.Value{}, err
		}
		same := first.Equal(second)
		second.Destroy()
		if same {
			return first, nil
		}
		first.Destroy()
		if err := c.say("The two are not the same. Nothing was done yet, begin again."); err != nil {
			return secret.Value{}, err
		}
	}
	return secret.Value{}, usageError("no master password was set after %d tries", passwordTries).
		WithHint("four or more unrelated words make a good one")
}

// weakness says what is wrong with a master password, "" for a good one.
func weakness(password secret.Value) string {
	characters, score := 0, 0
	err := password.Use(func(b []byte) {
		for _, c := range b {
			if c&0xc0 != 0x80 {
				characters++
			}
		}
		score = secret.Strength(b)
	})
	switch {
	case err != nil:
		return "It can't be read."
	case characters < minPasswordLength:
		return fmt.Sprintf("It has %s; %d is the least. With a stolen device the password is all that is left.",
			plural(characters, "character"), minPasswordLength)
	case score < minPasswordScore:
		return "It is too easy to guess: words, names, dates and rows of keys are tried first. " +
			"Four or more unrelated words make a good one."
	}
	return ""
}
