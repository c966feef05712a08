// Package frame is the daemon's socket without net/http: the way to it, and the frames that cross it (F5). Hooks start a
// process per call, so what they link is kept small; everything that knows what an operation means is in package api.
//
// # What it answers for
//
//   - A client sends its first byte only after the socket's folder, the socket and the user id of the process behind it
//     were found to be this user's ([Dialer.Dial]).
//   - Both ends say which protocol and build they are before anything else. A client never sends a request, let alone a
//     value, to a daemon of another version without meaning to.
//   - Values are read from the connection into secret memory and written from it. No buffered reader, JSON text or Go
//     string ever holds one.
//   - What a hostile or slow end can make this one allocate or wait for is bounded: a length is believed only as far as
//     bytes for it have arrived, and a begun request has to end.
//
// # What it refuses to do
//
// It does not judge who the other end is beyond its user id, and it knows no operation. It does not hide values from the
// kernel, whose socket buffers hold them on their way, nor from a process of the same user that listens in the daemon's
// place: that one is told apart by the answers only somebody with the account's keys can give.
//
// # Files
//
//	wire.go       frames: kinds, limits, reading and writing
//	piece.go      pieces of a text, and the dialogue that they are sent in
//	message.go    the JSON of a request and a reply; names of operations
//	error.go      Error, as it crosses the socket
//	hello.go      Hello, which of two builds is newer, VersionError
//	budget.go     what all begun requests together may take
//	place.go      which socket and folder may be believed
//	dial.go       Dialer
//	inherited.go  the connection to a daemon that was just started
//	client.go     ClientConn: calls and streams
//	server.go     ServerConn: requests, answers, noticing that the client has gone
package frame
