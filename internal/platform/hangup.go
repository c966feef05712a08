package platform

import "syscall"

// IsHangUp reports whether err, or an error that it wraps, says that the other end of a connection has closed it.
func IsHangUp(err error) bool { return isOneOf(err, syscall.ECONNRESET, syscall.EPIPE) }
