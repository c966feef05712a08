// Package e2e tests the executable from outside, as persons and agents use it:
// whole stories in worlds of package person, with a daemon that was started
// there. It holds tests alone.
//
// # What it answers for
//
//   - What a person at a terminal, an agent and nobody get for the same command.
//   - That a stored value is nowhere that a program of the same user can read.
//   - That the audit log survives what happens to a machine, and tells what was
//     done to it.
//
// # What it refuses to do
//
// It uses no package of warder's to reach a result: what it wants to know it
// asks the executable, or reads from the files that docs/formats.md describes.
package e2e
