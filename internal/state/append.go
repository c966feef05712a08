package state

import "os"

// OpenAppend opens the existing file called name to write at its end, after the
// checks of [Dir.Read]; [Dir.WriteNew] makes the file first. What is written is
// durable after the file's Sync and may be there in part after a crash: the
// caller's format must show where that happened. The checks judge the file as it
// is opened; a name that is removed or exchanged later leaves the caller with
// the old file.
func (d *Dir) OpenAppend(name string) (*os.File, error) {
	return openChecked(d, name, os.O_WRONLY|os.O_APPEND)
}

// OpenRead opens the file called name for reading in pieces, after the checks of
// [Dir.Read]: for files that are too large to hold, or that grow.
func (d *Dir) OpenRead(name string) (*os.File, error) {
	return openChecked(d, name, os.O_RDONLY)
}

func openChecked(d *Dir, name string, flag int) (*os.File, error) {
	if err := checkName(d, name); err != nil {
		return nil, err
	}
	f, _, err := openFile(d, name, flag)
	return f, err
}
