package platform

import (
	"fmt"
	"os"
	"slices"
)

// CleanEnviron is an environment that takes nothing from this process's own:
// HOME, LOGNAME, SHELL and USER from the user's entry in the system's table, or
// what does no harm where there is none, and PATH and LANG as they always are.
func CleanEnviron() []string {
	u := lookUpUser(os.Getuid())
	env := []string{
		"HOME=" + u.home,
		"LANG=C.UTF-8",
		"LOGNAME=" + u.name,
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"SHELL=" + u.shell,
		"USER=" + u.name,
	}
	return append(env, systemEnviron()...)
}

// HomeDir is the user's home directory by the system's table, whatever HOME says.
func HomeDir() string { return lookUpUser(os.Getuid()).home }

// HasCleanEnviron reports whether this process's environment is CleanEnviron and
// nothing else.
func HasCleanEnviron() bool {
	have := os.Environ() //nolint:forbidigo // what this process inherited is the question, not what it says
	want := CleanEnviron()
	slices.Sort(have)
	slices.Sort(want)
	return slices.Equal(have, want)
}

// Reexec begins this process anew, with its own program, the given arguments
// and the environment of [CleanEnviron]: the pid stays, and so do descriptors
// that are not closed on exec. It returns only if it fails.
func Reexec(args []string) error {
	if err := reexec(args, CleanEnviron()); err != nil {
		return fmt.Errorf("starting again with a clean environment: %w", err)
	}
	return nil
}

// Isolate takes away what whoever started this process chose for it: the
// working directory becomes /, the umask 077, and descriptors above the standard
// streams that were inherited are closed, but for keep.
func Isolate(keep ...int) error {
	if err := isolate(keep); err != nil {
		return fmt.Errorf("isolating this process: %w", err)
	}
	return nil
}

// LeadSession makes this process the leader of a session of its own, without a
// terminal, if it is none yet. It fails for the leader of a process group, as a
// job of an interactive shell is.
func LeadSession() error {
	if err := leadSession(); err != nil {
		return fmt.Errorf("beginning a session: %w", err)
	}
	return nil
}

// RedirectStreams makes standard input the null device, and log both standard
// output and standard error: what the runtime prints of a crash goes there, too.
func RedirectStreams(log *os.File) error {
	if err := redirectStreams(log); err != nil {
		return fmt.Errorf("redirecting the standard streams: %w", err)
	}
	return nil
}

// user is an entry of the system's table.
type user struct{ name, home, shell string }
