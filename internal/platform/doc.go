// Package platform is the only place where warder knows which operating
// system it runs on. Every function has the same signature everywhere; where a
// system lacks the feature, the function returns [ErrUnsupported] and its
// caller decides to refuse or to warn. Nothing here is a silent no-op.
//
// # What it answers for
//
//   - memory outside the Go heap that is kept from swap and core dumps;
//   - advisory file locks between processes;
//   - the two file operations that durable writing needs and package os lacks:
//     renaming without replacing, and syncing a directory;
//   - what a file's owner and link count are, and which error means a full or
//     a read-only disk.
//
// # What it refuses to do
//
// It holds no policy. Whether a foreign owner, a second hard link or a missing
// lock is acceptable is decided by package state and others; platform only
// reports. It imports golang.org/x/sys and the standard library, nothing else.
//
// # Files
//
//	platform.go   ErrUnsupported
//	file_*.go     NoFollow, NonBlock, Owner, SyncDir; IsDiskFull, IsReadOnly, IsNoLocks
//	foreign.go    ForeignDir
//	hangup.go     IsHangUp
//	lend*.go      LentPath, CheckLending, IsInMemory
//	lock_*.go     LockFile, TryLockFile, UnlockFile
//	rename*.go    RenameNoReplace
//	memory*.go    AllocLocked, FreeLocked
//	peer*.go      who is on the other end of a unix socket
//	proc*.go      what /proc and pidfds tell of a process
//	harden*.go    DropDumps
//	tracer*.go    Tracer
//	terminal*.go  the controlling terminal and a line typed without echo
//	pty*.go       OpenPTY, SetTerminalSize
//	detach*.go    StartDetached, and the connection that such a process inherits
//	modes*.go     the modes and the size of a terminal
//	child*.go     StartChild, WaitChild, process groups, and becoming another program
//	signal_*.go   signals by number
//	clean*.go     shedding what a process inherits: CleanEnviron, Reexec, Isolate
//	program*.go   which file a process runs; SinceBoot; EndSignals
package platform
