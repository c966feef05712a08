package platform

import "io/fs"

// LockHolder returns the process that took the lock on the file that fi
// describes, 0 where the system does not tell or that process has ended: a
// child may hold the lock on. It is for messages: whoever is named may have let
// go since.
func LockHolder(fi fs.FileInfo) int { return lockHolder(fi) }
