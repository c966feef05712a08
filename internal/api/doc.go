// Package api is the daemon's door for programs on this machine: one unix socket that speaks HTTP with JSON, and frames
// (F5). It carries operations; what they do is the daemon's.
//
// # What it answers for
//
//   - The socket is where the clients look, mode 0600 in a folder of mode 0700, and takes nobody's place: a left-over
//     socket is replaced only under the daemon's lock, and anything else that stands there is named and refused.
//   - Each connection is judged once, before a byte of it is read, by a function of the daemon's; a refused one gets
//     nothing. What that function found stays with the connection and comes with every call.
//   - An operation exists once, for both kinds of speech. One that takes or returns values is open to frames alone.
//   - A call ends when its client goes: its context is cancelled, its values are destroyed.
//   - Whoever connects costs a bounded amount of memory, descriptors and time ([Limits]). Waiting connections make room
//     for new ones, calls that run do not.
//   - Errors cross as code, message, hint and audit id ([Error]); their causes stay in the daemon's log. One table
//     ([Rows]) says what each code means to a shell, to a model and to a reader.
//
// # What it refuses to do
//
// It makes no decision: it asks no policy and writes no audit record. It trusts nothing that a client says about itself.
// A process of the same user can fill the connections or end the daemon; only a daemon under its own user id prevents that
// (limits L2 and L16 of the threat model).
//
// # Invariants
//
//   - A value is in secret memory or in the kernel, never elsewhere (package frame).
//   - When [Server.Shutdown] has returned nil, no handler runs and no connection is open.
//   - Lock order: there is one lock, the register's; nothing is called under it.
//
// # Files
//
//	errors.go    the table of codes
//	op.go        Op, Call, Reply
//	listen.go    Listener: the socket in the file system
//	server.go    Server: Serve, Shutdown
//	register.go  the connections there are, their limits, who has to make room
//	conn.go      one connection, until it is known what it speaks
//	frames.go    a connection that speaks frames
//	http.go      connections that speak HTTP, handed to net/http
//	httpcall.go  one HTTP request
//	invoke.go    running an operation; which errors cross
//	client.go    Client: typed calls over frames
package api
