package audit

import "io"

// Inner parts that tests look at.
var (
	Decode            = decode
	DecodeCheckpoints = decodeCheckpoints
	SegmentName       = segmentName
	ParseSegment      = parseSegment
	InputOf           = input
)

// Limits that tests go up to.
const (
	MaxData      = maxData
	MacTail      = macTail
	BlockSize    = blockSize
	BatchRecords = batchRecords
)

// LinesBackward shows what linesBackward visits.
func LinesBackward(f io.ReaderAt, size int64, visit func(offset int64, line []byte, whole bool)) error {
	return linesBackward(f, size, func(l tailLine) bool {
		visit(l.offset, l.text, l.whole)
		return false
	})
}

// Encode writes a file of checkpoints again.
func (c *checkpoints) Encode() []byte { return c.encode() }

// Fault is what happens in the place of an operation on the files.
type Fault struct {
	Err  error
	Part int // of a Write or Replace: how many bytes reach the file before
}

// Inject calls at before each operation that changes files. A fault that it
// returns happens instead.
func (o *Options) Inject(at func(op, name string, data []byte) *Fault) {
	o.wrap = func(s store) store { return faultyStore{s, at} }
}

type faultyStore struct {
	store
	at func(op, name string, data []byte) *Fault
}

func (s faultyStore) WriteNew(name string, data []byte) error {
	if f := s.at("WriteNew", name, data); f != nil {
		return f.Err
	}
	return s.store.WriteNew(name, data)
}

func (s faultyStore) Replace(name string, data []byte) error {
	f := s.at("Replace", name, data)
	if f == nil {
		return s.store.Replace(name, data)
	}
	if f.Part > 0 { // replaced, but not known to be durable
		if err := s.store.Replace(name, data); err != nil {
			return err
		}
	}
	return f.Err
}

func (s faultyStore) Remove(name string) error {
	if f := s.at("Remove", name, nil); f != nil {
		return f.Err
	}
	return s.store.Remove(name)
}

func (s faultyStore) openAppend(name string) (appender, error) {
	if f := s.at("open", name, nil); f != nil {
		return nil, f.Err
	}
	a, err := s.store.openAppend(name)
	if err != nil {
		return nil, err
	}
	return faultyFile{a, name, s.at}, nil
}

type faultyFile struct {
	appender
	name string
	at   func(op, name string, data []byte) *Fault
}

func (a faultyFile) Write(p []byte) (int, error) {
	f := a.at("Write", a.name, p)
	if f == nil {
		return a.appender.Write(p)
	}
	n, err := a.appender.Write(p[:f.Part])
	if err != nil {
		return n, err
	}
	return n, f.Err
}

func (a faultyFile) Sync() error {
	if f := a.at("Sync", a.name, nil); f != nil {
		return f.Err
	}
	return a.appender.Sync()
}

func (a faultyFile) Truncate(size int64) error {
	if f := a.at("Truncate", a.name, nil); f != nil {
		return f.Err
	}
	return a.appender.Truncate(size)
}
