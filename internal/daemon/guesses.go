package daemon

import (
	"slices"
	"sync"
	"time"
)

// What of stored values may be hidden from whom they were not lent to. Whoever prints guesses and sees which of them are hidden finds values
// out (L54).
const (
	mostGuesses = 20          // different values in one output
	guessHits   = 3           // outputs that hold any which were not hidden from it before, within guessTime
	guessTime   = time.Minute // also how long nothing is masked after that
)

// guesses counts, by principal, the outputs that held stored values which it was not lent. The zero value is ready.
type guesses struct {
	mu   sync.Mutex
	hits map[string][]time.Time // the last ones
	stop map[string]time.Time   // until when nothing is masked
}

// hit notes one. It says whether these are too many: then nothing is masked for that principal until a while later.
func (g *guesses) hit(key string, now time.Time) (until time.Time, tooMany bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.hits == nil {
		g.hits, g.stop = map[string][]time.Time{}, map[string]time.Time{}
	}
	g.forget(now)
	g.hits[key] = append(g.hits[key], now)
	if len(g.hits[key]) < guessHits {
		return time.Time{}, false
	}
	delete(g.hits, key)
	g.stop[key] = now.Add(guessTime)
	return g.stop[key], true
}

// stopped says whether nothing is masked for a principal, and until when.
func (g *guesses) stopped(key string, now time.Time) (until time.Time, stopped bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	until = g.stop[key]
	return until, now.Before(until)
}

// forget forgets what is over. mu is held.
func (g *guesses) forget(now time.Time) {
	for key, hits := range g.hits {
		if hits = slices.DeleteFunc(hits, func(at time.Time) bool { return now.Sub(at) >= guessTime }); len(hits) == 0 {
			delete(g.hits, key)
		} else {
			g.hits[key] = hits
		}
	}
	for key, until := range g.stop {
		if !now.Before(until) {
			delete(g.stop, key)
		}
	}
}
