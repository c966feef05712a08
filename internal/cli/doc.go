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
// Files: cli.go runs the tree; errors.go has codes, exit statuses and their
// printing; output.go the checked output; the others are named for the command
// in them.
package cli
