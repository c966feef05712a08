// Package state answers for where warder's files live, how they are written,
// and what may be believed when they are read back. It also reads the settings
// and remembers where each value came from.
//
// # Invariants
//
//   - Nothing is opened by a path that was checked before. A [Dir] holds an
//     open directory; every name below it is one element, opened relative to
//     that descriptor through [os.Root], and judged by what the open descriptor
//     says. A name that changes between look and use is refused or read again.
//   - What is read is a regular file of this user, with no right for group or
//     others and no second name: a link, FIFO, socket, device, foreign or
//     readable file planted in its place is refused with an [UnsafeError] that
//     says why and which command repairs it. A FIFO can't make an open hang.
//   - What is created has mode 0700 (directories) or 0600 (files) exactly,
//     whatever the umask.
//   - A file changes whole or not at all: the new content is written beside it,
//     synced, renamed and the directory synced. A write that fails or dies at
//     any step leaves the old content entire; what it leaves beside it is
//     unlisted and goes with [Dir.CleanTemp].
//
// # What it refuses to do
//
// It repairs nothing by itself: a loose mode may mean that a value has been
// read already, so the user must see it. It never falls back to working without
// a lock: where a file system has none, [Dir.Lock] fails and [Hint] says how to
// move the files. It knows nothing of what the files mean.
//
// # Limits
//
// The directories above the first one are the user's own affair. They may be
// links, and somebody who may write one of them can take warder's directory
// away or put another directory of this same user in its place; he can't read
// it, and can't make one of his own pass the check. Refusing such parents would
// break mounted volumes of containers (mode 0777, not the user's to change) and
// win nothing for secrecy: what the vault keeps is authenticated by its content.
// [LooseParent] finds them, so that setup and the daemon say so.
//
// Windows has no owners and modes of this kind. There, only the kind of file is
// judged; the access list inherited from the user's profile guards the rest.
// Access lists of macOS, which can widen a mode invisibly, are not looked at.
//
// # Files
//
//	dir.go       Dir: open, create, list
//	check.go     what may be trusted; opening without a gap
//	read.go      Read
//	append.go    OpenAppend, OpenRead: files too large to hold
//	write.go     WriteNew, Replace, Remove, CleanTemp
//	lock.go      Lock, TryLock
//	errors.go    UnsafeError, sentinels, Hint
//	places.go    Places: the four directories and the socket
//	install.go   Install: which program serves this device
//	moved.go     whether that record is of these places; loose directories above
//	origin.go    Origin: where a value came from
//	options.go   the table of options
//	settings.go  Settings: file, environment and flags made one
//	toml.go      the keys of the settings file and their lines
package state
