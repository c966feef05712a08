package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// MaxVariable is how long one variable may be, as NAME=value with its zero byte: Linux's MAX_ARG_STRLEN, 32 pages
// of 4 KiB. execve refuses a longer one without saying which.
const MaxVariable = 128 << 10

// MaxValue is how large a value may be in any way of delivery.
const MaxValue = 16 << 20

// Delivery is how a value reaches the program.
type Delivery byte

const (
	// ByEnv puts it into the program's environment.
	ByEnv Delivery = iota
	// ByFile makes the variable name a file that holds it: /proc/PID/fd/N of the program itself, which is in memory alone and
	// ends with it; where there can be none, a file in one of Spec.Places, which is removed at the end.
	ByFile
	// ByStdin makes it all that the program reads from its standard input.
	ByStdin
)

// Injection is one value for the program. This package never holds it: Write writes it, all Size bytes of it, once.
type Injection struct {
	Delivery Delivery
	Name     string // of the variable; unused by ByStdin
	Size     int
	Write    func(w io.Writer) error
}

// Spec is a program to run.
type Spec struct {
	Path string   // the program's file
	Argv []string // as it gets them, argv[0] included
	Env  []string // its environment without what is injected
	// Streams are the standard streams of this process, which the program gets unless they are masked.
	Streams [3]*os.File
	// Inject is what it gets beside that. An injected variable replaces one of Env.
	Inject []Injection
	// Mask wraps where the program's output goes. Both streams of a program may be wrapped at the same time. Without
	// it the program has this process's own streams.
	Mask func(dst io.Writer) io.WriteCloser
	// Places are directories for the files of ByFile where none can be in memory alone. The first is taken that is in memory
	// and in which nobody else can change what is this user's.
	Places []string
	// Self is this process's own executable, for where the system does not tell: without /proc.
	Self string
	// Ahead is the stage that [StartAhead] began for this very program, if one was.
	Ahead *Ahead

	noMemory error // tests say that no file can be in memory alone
}

// A TooLargeError says that a value does not fit the way in which it was to be delivered.
type TooLargeError struct {
	Name  string
	Limit int
	// File says that it would fit as a file.
	File bool
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the value of %s is too large: the limit is %d bytes", e.Name, e.Limit)
}

// A TooMuchError says that the arguments and all variables together are more than the system passes to a program. It was
// not started.
type TooMuchError struct {
	Size    int    // of all, as the system counts them
	Largest string // the name of the largest variable, if there is any
}

func (e *TooMuchError) Error() string {
	text := fmt.Sprintf("the arguments and the environment are too large together: they have %d bytes", e.Size)
	if e.Largest != "" {
		text += ", and the largest variable is " + e.Largest
	}
	return text
}

// tooMuch counts what the program was to get.
func (s *Spec) tooMuch() *TooMuchError {
	e, largest := &TooMuchError{}, 0
	add := func(size int) { e.Size += size + 1 + pointerSize }
	variable := func(name string, size int) {
		add(size)
		if size > largest {
			largest, e.Largest = size, name
		}
	}
	for _, arg := range s.Argv {
		add(len(arg))
	}
	for _, entry := range s.Env {
		name, _, _ := strings.Cut(entry, "=")
		variable(name, len(entry))
	}
	for i := range s.Inject {
		if in := &s.Inject[i]; in.Delivery == ByEnv {
			variable(in.Name, len(in.Name)+1+in.Size)
		}
	}
	return e
}

// pointerSize is what the system counts for each argument and variable beside its bytes.
const pointerSize = 8

// check refuses what could not be started, before anything is.
func (s *Spec) check() error {
	if s.Path == "" || len(s.Argv) == 0 {
		return errors.New("there is no program to start")
	}
	seen := map[string]bool{}
	stdin := false
	for i := range s.Inject {
		in := &s.Inject[i]
		switch {
		case in.Delivery == ByStdin && stdin:
			return errors.New("standard input takes one value")
		case in.Delivery == ByStdin:
			stdin = true
			if err := in.fits("standard input", MaxValue); err != nil {
				return err
			}
			continue
		case in.Name == "" || strings.ContainsAny(in.Name, "=\x00"):
			return fmt.Errorf("%q can't be the name of a variable", in.Name)
		case seen[in.Name]:
			return fmt.Errorf("the variable %s is set twice", in.Name)
		}
		seen[in.Name] = true
		limit := MaxValue
		if in.Delivery == ByEnv {
			limit = MaxVariable - len(in.Name) - 2
		}
		if err := in.fits(in.Name, limit); err != nil {
			return err
		}
	}
	for _, entry := range s.Env {
		if name, value, _ := strings.Cut(entry, "="); !seen[name] && len(entry) >= MaxVariable {
			return &TooLargeError{Name: name, Limit: MaxVariable - len(name) - 2, File: len(value) <= MaxValue}
		}
	}
	return nil
}

func (in *Injection) fits(name string, limit int) error {
	if in.Size < 0 || in.Size > limit {
		return &TooLargeError{Name: name, Limit: limit, File: in.Delivery == ByEnv && in.Size <= MaxValue}
	}
	return nil
}
