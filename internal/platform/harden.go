package platform

// DropDumps makes this process unreadable for others of its user and leaves no
// core dump: on Linux it is not dumpable any more (no ptrace, no /proc/PID/exe,
// environ or mem for anybody but root) and its core limit is 0; macOS refuses
// debuggers and dumps likewise. Elsewhere it returns [ErrUnsupported]. After an
// exec the new program can be read again; the core limit stays, for children too.
//
// Whoever has to be recognised by its program file calls this afterwards.
func DropDumps() error { return dropDumps() }
