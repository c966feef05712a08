package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"warder/internal/seal"
	"warder/internal/state"
)

// ErrClosed says that the log was closed.
var ErrClosed = errors.New("the audit log is closed")

const (
	defaultMaxSize     = 50 << 20
	defaultGenerations = 3

	lockFile = "lock"
)

// Options says how a log is kept.
type Options struct {
	// MaxSize is when a new segment is begun, in bytes; 50 MiB if 0 (S1-18).
	MaxSize int64
	// Generations is how many full segments are kept beside the current one; 3
	// if 0. Segments that a break made short count by their size.
	Generations int
	// Now is the clock; time.Now if nil. Records are in the order of their
	// sequence numbers, whatever the clock does.
	Now func() time.Time
	// Log is told what went wrong beside the records: a segment that could not
	// be begun or removed. It must not write to this audit log (S1-19).
	Log *slog.Logger
	// Mask replaces values in inputs; see [Log.Input].
	Mask func([]byte) []byte

	wrap func(store) store // nil but in this package's own tests
}

// Log is the log that this process writes. It is safe for concurrent use.
type Log struct {
	lock *state.Lock
	dir  *state.Dir // to read from
	opt  Options

	// disk is held by whoever changes files; it guards w. Lock order: disk,
	// then mu.
	disk sync.Mutex
	w    writer

	mu      sync.Mutex // never held during I/O; guards what follows
	queue   []*pending
	leading bool // somebody commits or is about to
	status  Status
	changed chan struct{} // closed and replaced when there are more records, and at the end
	closed  bool
	later   int // records that nobody waits for and that are not in the log yet
	// noneLater is told when there are none of them.
	noneLater *sync.Cond
}

// Status is what is known of the log without reading it.
type Status struct {
	Seq      uint64    // of the last record
	Head     seal.Hash // hash of its line
	Stopped  error     // why nothing can be recorded until Reopen; nil if all is well
	Rotation error     // why the current segment is larger than it should be; nil if it isn't
	Failing  error     // why the last commit came to nothing; nil once one is written
	// Damage is what this writer or one before found wrong with the log and nobody
	// has declared; nil if nothing. Only Verify finds all damage.
	Damage *Bad
	// Signed is the record up to which the account had signed a log that was taken
	// away, if this one began anew and nobody has declared that; else 0.
	Signed  uint64
	First   uint64 // the oldest record that is kept; 1 if none was dropped
	Segment uint64 // the first record of the current segment; another one after a rotation
	Lost    uint64 // events that Note could not record
}

// Open opens the log in dir, making it if there is none, and keeps other writers
// out (state.ErrLocked). It works while the account is locked.
//
// It finds out how the last writer ended. Records that were written and never
// acknowledged are kept if they verify; what is behind them is a torn line and
// becomes the next record, [EventTorn]. Damage to acknowledged records does not
// stop the log: it goes on in a new segment whose first record tells what was
// found, and [Verify] reports the damage until [Log.Seal] declares it. A disk
// without room is no error here; it is one for Append.
//
// The caller closes dir after the log.
func Open(dir *state.Dir, opt Options) (*Log, error) {
	lock, err := dir.TryLock(lockFile)
	if err != nil {
		return nil, fmt.Errorf("opening the audit log: %w", err)
	}
	opt = withDefaults(opt)
	l := &Log{lock: lock, dir: dir, opt: opt, changed: make(chan struct{})}
	l.noneLater = sync.NewCond(&l.mu)
	l.w = writer{dir: dir, store: dirStore{dir}, opt: opt}
	if opt.wrap != nil {
		l.w.store = opt.wrap(l.w.store)
	}
	if err := l.onDisk((*writer).start); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the audit log: %w", err), lock.Release())
	}
	return l, nil
}

func withDefaults(opt Options) Options {
	if opt.MaxSize <= 0 {
		opt.MaxSize = defaultMaxSize
	}
	if opt.Generations <= 0 {
		opt.Generations = defaultGenerations
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	return opt
}

// Reopen begins anew after Status.Stopped: with fresh descriptors and from what
// is on disk. A sync that failed is never just tried again, for the kernel may
// have dropped the data and report success; what was not acknowledged is written
// again.
func (l *Log) Reopen() error {
	return l.onDisk(func(w *writer) error {
		w.close()
		if w.stopped = w.start(); w.stopped != nil {
			return fmt.Errorf("reopening the audit log: %w", w.stopped)
		}
		return nil
	})
}

// Checkpoint seals the log's state under the account's root key: at unlock,
// before lock, and at setup before anything is recorded. From a checkpoint on,
// Verify with the root key proves each record; what is older it pins as it was.
// The log keeps the handle of root and seals one at each rotation too, as long as
// the caller has not destroyed the key.
//
// Marks are states of the log that the account has signed. A log that does not
// hold them is ErrBehind, and one with marks or an earlier checkpoint of this
// process, but without the file, ErrNoCheckpoints: neither is covered up by a new
// checkpoint, Status has the damage, and Seal declares it. An error is no reason
// not to unlock.
func (l *Log) Checkpoint(root seal.RootKey, account seal.ID, marks ...Mark) error {
	return l.onDisk(func(w *writer) error {
		w.root, w.account = root, account
		return resumeCheckpoints(w, marks)
	})
}

// Seal declares that the log is broken and goes on: what there is stays byte for
// byte, its hashes go into the first record of a new segment, EventSealed, and a
// checkpoint under the root key confirms that record, so that nobody else can
// declare a break. Afterwards Verify judges from there on and keeps telling of
// the break. It fails with ErrIntact if Verify finds nothing wrong, with the marks
// as in [VerifyOptions].
func (l *Log) Seal(ctx context.Context, root seal.RootKey, account seal.ID, marks ...Mark) (b Break, err error) {
	err = l.onDisk(func(w *writer) error {
		w.root, w.account = root, account
		b, err = w.seal(ctx, marks)
		return err
	})
	return b, err
}

// Verify is [Verify] for this log. That its directory was taken away under it is a
// cut of all its records.
func (l *Log) Verify(ctx context.Context, opt VerifyOptions) (Report, error) {
	report, err := Verify(ctx, l.dir, opt)
	if errors.Is(err, fs.ErrNotExist) && (Witness{l}).Gone() {
		bad := &Bad{1, Cut, fmt.Sprintf("the log's directory was removed, and all %d records with it", l.Status().Seq)}
		return Report{FirstBad: bad}, nil
	}
	return report, err
}

// Close ends the log. What waits to be recorded fails with ErrClosed, but what came by Later.
func (l *Log) Close() error {
	l.mu.Lock()
	for l.later > 0 {
		l.noneLater.Wait()
	}
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.changed)
	l.mu.Unlock()

	l.disk.Lock()
	defer l.disk.Unlock()
	l.w.close()
	return l.lock.Release()
}

// Head returns the number and the hash of the last record, zeros if there is
// none: for the vault's manifest, which signs them.
func (l *Log) Head() (seq uint64, head seal.Hash) {
	s := l.Status()
	return s.Seq, s.Head
}

// Status returns what is known of the log without reading it.
func (l *Log) Status() Status {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status
}

// Input returns what a record may hold of a tool's input: its JSON, passed
// through Options.Mask and then cut as by Trim, or Unserializable.
func (l *Log) Input(in any) string { return input(in, l.opt.Mask) }

// onDisk lets f change the files, and readers see what came of it.
func (l *Log) onDisk(f func(*writer) error) error {
	l.disk.Lock()
	defer l.disk.Unlock()
	if _, _, closed := l.look(); closed {
		return ErrClosed
	}
	err := f(&l.w)

	l.mu.Lock()
	defer l.mu.Unlock()
	l.status.Seq, l.status.Head = l.w.tip.state.Seq, l.w.tip.state.Head
	l.status.Stopped, l.status.Rotation, l.status.Failing = l.w.stopped, l.w.rotation, l.w.failing
	l.status.Damage, l.status.Signed, l.status.Segment = l.w.damage, l.w.anew, l.w.tip.first
	l.status.First = l.w.tip.oldest
	if !l.closed {
		close(l.changed)
		l.changed = make(chan struct{})
	}
	return err
}

// look returns the last durable record and a channel that closes when there may
// be another.
func (l *Log) look() (seq uint64, changed <-chan struct{}, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.status.Seq, l.changed, l.closed
}
