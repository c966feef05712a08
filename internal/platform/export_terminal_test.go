package platform

// Keys of a terminal as it comes: Ctrl-C, Ctrl-\, Ctrl-D, Del, Ctrl-U.
var usualKeys = lineKeys{interrupt: 3, quit: 0x1c, end: 4, erase: del, kill: 0x15}

// FedLine is what a hidden line came to.
type FedLine struct {
	Line, Buf []byte // the line, and the whole buffer
	Taken     int    // keys
	Err       error
}

// FeedHiddenLine gives keys to a hidden line of at most limit bytes.
func FeedHiddenLine(keys []byte, limit int) FedLine {
	l := hiddenLine{buf: make([]byte, limit), keys: usualKeys}
	for i, b := range keys {
		if done, err := l.key(b); done {
			return FedLine{l.buf[:l.n], l.buf, i + 1, err}
		}
	}
	return FedLine{l.buf[:l.n], l.buf, len(keys), nil}
}

// Parsers of what /proc shows.
var (
	ParseStat     = parseStat
	StatusNumbers = statusNumbers
	ScanEntries   = scanEntries
)
