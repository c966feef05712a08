package daemon

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"sync"

	"warder/internal/platform"
)

const (
	logFile  = "daemon.log"
	logLimit = 1 << 20
)

// boundedLog is the daemon's own log. It begins anew when it is full: it is for operators and may be lost.
type boundedLog struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// Write implements io.Writer.
func (l *boundedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > logLimit {
		if err := l.file.Truncate(0); err != nil {
			return 0, err
		}
		l.size = 0
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// redirect makes the file take what the runtime prints of a crash.
func (l *boundedLog) redirect() error { return platform.RedirectStreams(l.file) }

// logToFile gives a daemon without a terminal its own log, and the standard streams a place where nothing waits for them.
func (d birth) logToFile() error {
	if err := d.state.WriteNew(logFile, nil); err != nil && !errors.Is(err, fs.ErrExist) {
		return placeError("the daemon's log", err)
	}
	f, err := d.state.OpenAppend(logFile)
	if err != nil {
		return placeError("the daemon's log", err)
	}
	fi, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l := &boundedLog{file: f, size: fi.Size()}
	if err := l.redirect(); err != nil {
		return errors.Join(err, f.Close())
	}
	d.flush()
	logTo(d.Daemon, slog.NewJSONHandler(l, nil))
	return nil
}
