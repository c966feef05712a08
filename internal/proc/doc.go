// Package proc starts a program that gets values, and passes on all that concerns it until it ends.
//
// # What it answers for
//
//   - The values go to the program and to nobody else: through a pair of sockets, which nobody can open by way of /proc,
//     into the locked memory of a stage, which becomes the program. They are in no argument and in no environment but the
//     program's own.
//   - A value that is given as a file is in memory alone, or on a tmpfs below a directory that is closed to others, and gone
//     when the program is.
//   - The program runs as if this process were not between it and its caller: arguments, streams, terminal, size,
//     signals, job control, limits and exit status are those that it would have had.
//   - Where its output is masked it goes through pipes, one for both streams if these go to one place, or, on the sides that are a terminal, through a pseudo
//     terminal.
//   - A signal arrives once. When this process is killed, so is the program.
//
// # What it refuses to do
//
// It decides nothing: what may run, with which values, and whether its output is masked is known by its caller. It
// holds no value: [Injection.Write] writes it. There is no shell between.
//
// # The processes
//
//	Run ── stage, which becomes the program
//	Run ── monitor (leads the session of the pseudo terminal) ── stage, which becomes the program
//
// A stage is this executable once more. Between fork and execve Go can't run code of its own, so the environment with
// the values has to be made in a process of its own; and under a pseudo terminal somebody in its session has to wait
// for the program, or no key could stop it. A stage takes a while to start, so it may be started ahead, before it is decided
// whether its program runs: it has nothing until it gets the values, and ends where none come. Its own environment is empty:
// the program's comes with the values, so that nothing in it steers the stage.
//
// # Limits
//
// What something else that the program left behind writes after it ended is passed on until it is silent for
// drainTime, and then not any more; it lives on, and where it had a pseudo terminal it has none from then on. A signal
// to this process alone, while its group is the terminal's foreground, is taken for a key that the program got too
// (signals.go). Without a terminal the program is in a group of its own, so that a signal arrives once: who
// signals this process's group as a whole reaches the program, and not what that has started. execve copies the environment once more into ordinary memory of the stage, for the moment until it
// becomes the program.
//
// # Files
//
//	spec.go      Spec, Injection: what to run
//	child.go     Run: from the start of the stage to the end of the program
//	launch.go    starting a stage
//	ahead.go     StartAhead: a stage before it is known what becomes of it
//	scratch.go   files with values where none can be in memory alone
//	signals.go   which signals are passed on
//	streams.go   the program's output through the masker
//	front.go     this process at a terminal, before a program at an inner one
//	stage.go     the stage
//	monitor.go   the monitor
//	payload.go   the values on their way to the stage
//	status.go    exit statuses
package proc
