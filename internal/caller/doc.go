// Package caller answers one question: who is on the other end of a socket, an
// agent, a person, or nobody can say. It follows the processes above the caller
// and judges them by their program files, scripts and arguments.
//
// # What it answers for
//
//   - A [Peer] is one process, held by a pidfd from the accepted connection on.
//     A reused pid or a process that has exited can't stand in for it.
//   - [Tables.Judge] gives a verdict with its evidence: agent, person or
//     unknown. Agent means an agent among up to 16 ancestors or marks of one in
//     their environments. Person, which stays unproven, needs a controlling
//     terminal, the leader of its session and a known shell above it, and above
//     that a terminal, a login or the end of the pid namespace, and nothing of an
//     agent or unreadable. Unknown is the rest and is treated as an agent.
//   - [Instance] is the process that grants bind to.
//
// # What it refuses to do
//
// It decides nothing and proves no presence. What a caller says of itself can
// make it an agent and never a person: its environment, its first argument, and
// the name that a process gives itself (comm), which alone is nothing at all.
//
// # Invariants
//
//   - Nothing in any environment raises a verdict. Marks are evidence for agent,
//     and the traces of a login from this machine itself count against a person.
//   - What is read of a process by its pid counts only if that process is alive
//     afterwards, still with the same parent: the pidfds of the whole chain are
//     held until then. A chain that changed is read again once, then refused.
//   - judge is pure: it sees what gather has collected and asks nothing else.
//   - A user's table adds agents and can do nothing else. One that can't be read
//     makes everybody unknown, since what it adds may be what is missing.
//
// # Limits
//
// Of the threat model's limits L12 to L15 are this package's.
//
// A renamed copy of an agent that sets no marks is none of the table's agents,
// and a copy of anything called kitty is a terminal; so is a script of that
// name, as interpreters are judged by their arguments. A double fork leaves the
// chain: what runs below pid 1 then lacks a terminal or a session leader above
// it, and is unknown, unless it makes itself a new session under a program that
// passes as a terminal. A multiplexer started by an agent has no agent above it;
// being there, it keeps output masked. All of that is malware under the user's
// own account, against which presence and a daemon under a uid of its own help,
// and this package doesn't.
//
// Credentials of a socket are those of the time of connect, and a socket can be
// passed on: the peer is who opened it. An ancestry can only narrow.
//
// # Files
//
//	identity.go  Verdict, Role, Process, Instance, Identity
//	peer.go      Peer: the other end, held by a pidfd
//	gather.go    the chain above a process, free of races
//	observe.go   what is read of each process in it
//	classify.go  one process: its role by program, script, applet or argument
//	script.go    which script an interpreter runs
//	judge.go     the chain: verdict, depth, instance, masking
//	tables.go    Tables: lookups, a user's additions
//	data.go      the embedded tables
//	marks.go     marks in an environment
package caller
