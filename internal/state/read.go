package state

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Read returns the content of the file called name: a regular file, no link,
// owned by this user, with no right for group or others and no second name;
// otherwise it returns an [*UnsafeError]. A missing file is fs.ErrNotExist, one
// of more than limit bytes is [ErrTooLarge]. A file that a writer replaces
// meanwhile is read old or new, never mixed.
func (d *Dir) Read(name string, limit int64) ([]byte, error) {
	if err := checkName(d, name); err != nil {
		return nil, err
	}
	f, fi, err := openFile(d, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	path := filepath.Join(d.path, name)
	if fi.Size() > limit {
		return nil, tooLarge(path, limit)
	}
	if err := d.hooks.reached(stepRead); err != nil {
		return nil, err
	}
	// One byte more than the size: a read that could have taken it and took
	// just the size has met the end, and needs no second read to see it.
	data := make([]byte, 0, fi.Size()+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit: // grew since its size was taken
			return nil, tooLarge(path, limit)
		case errors.Is(err, io.EOF), err == nil && int64(len(data)) == fi.Size():
			return data, nil
		case err != nil:
			return nil, withPath(err, path)
		case len(data) == cap(data):
			data = append(data, 0)[:len(data)]
		}
	}
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("reading %s: %w of %d bytes", path, ErrTooLarge, limit)
}
