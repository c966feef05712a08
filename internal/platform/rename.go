package platform

import "os"

// RenameNoReplace renames oldName to newName, both single elements of dir, in
// one step that fails with fs.ErrExist if newName is there already, as a file,
// a link or anything else. It follows no link.
//
// It returns an error wrapping [ErrUnsupported], and has changed nothing, where
// the kernel or the file system can't do that in one step: NFS and many FUSE
// file systems, Windows, the BSDs. The caller then has a hard link to the new
// name and the removal of the old one, which an interruption leaves half done.
func RenameNoReplace(dir *os.File, oldName, newName string) error {
	err := withFD(dir, func(fd uintptr) error { return renameNoReplace(fd, oldName, newName) })
	if err != nil {
		return &os.LinkError{Op: "rename without replacing", Old: oldName, New: newName, Err: err}
	}
	return nil
}
