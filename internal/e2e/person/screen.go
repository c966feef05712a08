package person

import (
	"io"
	"regexp"
	"sync"
)

// screen is what a terminal showed.
type screen struct {
	// more gets a value after each change; one that is there already is enough,
	// since whoever waits looks at everything.
	more chan struct{}

	mu     sync.Mutex // for all below
	text   []byte     // all that was ever shown
	seen   int        // how much of that was waited for
	closed bool       // nothing more will be shown
}

// watch collects what is shown until the end.
func (s *screen) watch(shown io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := shown.Read(buf)
		s.mu.Lock()
		s.text = append(s.text, buf[:n]...)
		s.closed = err != nil
		s.mu.Unlock()
		select {
		case s.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.text)
}

// find looks for a match in what was not seen yet, and takes that as seen. It
// returns what stood before the match, and the match with its groups.
func (s *screen) find(re *regexp.Regexp) (before string, match []string, closed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.text[s.seen:]
	at := re.FindSubmatchIndex(fresh)
	if at == nil {
		return "", nil, s.closed
	}
	for _, group := range re.FindSubmatch(fresh) {
		match = append(match, string(group))
	}
	s.seen += at[1]
	return string(fresh[:at[0]]), match, s.closed
}
