package proc

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"warder/internal/platform"
)

const (
	pumpSize = 64 << 10
	// muchOutput is after how many bytes a pipe gets room for largePipe: with little room the program and this process wake
	// each other for each few lines. A user's pipes have a limit together, so only those get it that use it.
	muchOutput = 256 << 10
	largePipe  = 1 << 20
	// drainTime is how long a stream may be silent, once the program ended, that something which it left behind holds open.
	drainTime = 200 * time.Millisecond
)

// together says whether standard output and standard error go to one place, as with 2>&1. The program then has one pipe for both: from
// two nobody could tell what it printed first, and a value that is cut between them would not be found.
func (s *Spec) together() bool {
	first, err := s.Streams[1].Stat()
	if err != nil {
		return false
	}
	second, err := s.Streams[2].Stat()
	return err == nil && os.SameFile(first, second)
}

// An OutputError says that the program ran, and that some of what it printed was withheld.
type OutputError struct{ Err error }

func (e *OutputError) Error() string {
	return fmt.Sprintf("not all that the program printed is here: %v", e.Err)
}

func (e *OutputError) Unwrap() error { return e.Err }

// pump copies a stream of the program through the masker.
type pump struct {
	from *os.File
	to   io.WriteCloser
	end  *atomic.Bool
}

// run copies until the stream ends. Where nobody reads what is written any more the stream is closed, so that the
// program learns of it as it would without this process.
func (p *pump) run() error {
	buf := make([]byte, pumpSize)
	for passed := 0; ; {
		if p.end.Load() {
			if err := p.from.SetReadDeadline(time.Now().Add(drainTime)); err != nil {
				return err
			}
		}
		n, err := p.from.Read(buf)
		if passed < muchOutput && passed+n >= muchOutput {
			_ = platform.GrowPipe(p.from, largePipe) // else it is slower
		}
		passed += n
		if n > 0 {
			if _, err := p.to.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end: of a pipe, of a pseudo terminal (EIO), or of the time to drain it
		}
	}
}

// pumps are those of one program.
type pumps struct {
	list []*pump
	wait sync.WaitGroup
	mu   sync.Mutex
	err  error
	end  atomic.Bool
}

func (ps *pumps) add(from *os.File, to io.WriteCloser) {
	ps.list = append(ps.list, &pump{from: from, to: to, end: &ps.end})
}

func (ps *pumps) start() {
	for _, p := range ps.list {
		ps.wait.Go(func() {
			err := p.run()
			_ = p.from.Close()
			err = cmp.Or(err, p.to.Close())
			if err == nil || platform.IsReaderGone(err) {
				return // the program was told by its own stream
			}
			ps.mu.Lock()
			defer ps.mu.Unlock()
			if ps.err == nil {
				ps.err = &OutputError{err}
			}
		})
	}
}

// drain waits for what is left after the program ended.
func (ps *pumps) drain() error {
	ps.end.Store(true)
	for _, p := range ps.list {
		// One that waits for a byte learns of it here; it may have been closed already.
		_ = p.from.SetReadDeadline(time.Now().Add(drainTime))
	}
	ps.wait.Wait()
	return ps.err
}
