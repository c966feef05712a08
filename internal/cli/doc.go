// Package cli is warder's command line: one file per command, each parsing its
// arguments, asking another package and printing the answer.
//
// It answers for what a user reads and what a script relies on: names of
// commands and flags, text on stdout, the form of errors, exit statuses. It
// refuses to decide anything, and holds no state: a command reaches the world
// outside only through [Env].
//
// Invariants:
//
//   - every error ends as "warder: error[CODE]: message" and a "warder: hint:"
//     line on stderr, with --json also as one object on stdout, and with the
//     exit status that belongs to the code; statuses are never renumbered;
//   - stdout holds only what was asked for, and output that could not be
//     written is an error;
//   - a command that reads offers --json.
//
// Start-up time is a feature: of the tree only the command that is called is
// built. docs/cli.md is made from the whole of it.
//
// Files: cli.go builds and runs the tree; command.go has what commands share,
// errors.go the printing of errors, output.go that of results; reach.go is the
// way to the daemon, start.go how one is started, presence.go how a person's
// presence is proved to it; terminal.go asks the person,
// value.go reads what must not stand in a command line; judge.go says whom this
// process would be taken for; install.go and kit.go serve setup. The others are
// named for the command in them.
package cli
