package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/mask"
	"warder/internal/vault"
)

// maxLogLines is how many lines may wait to be written. They wait while values are taken together by which they are masked.
const maxLogLines = 1024

// logMask stands before the daemon's log: what stands in a line besides our own words may come from outside, from a path to the text of an
// error, so stored values are hidden in it (U-06, U-30). The words of a line are ours, its attributes are masked.
//
// Lines are written by a goroutine of their own. Who logs may hold any lock of the daemon's, and opening the values to mask by takes some.
type logMask struct {
	slog.Handler
	q *logQueue
}

// logQueue has the lines that wait.
type logQueue struct {
	account func() (*vault.Account, error)
	needles *needles

	mu      sync.Mutex
	lines   []logLine
	lost    int
	writing bool
	idle    sync.Cond // of mu: nothing is written
}

type logLine struct {
	to   slog.Handler
	line slog.Record
	open bool // there were values when it was written
}

// newLogMask puts a mask before a log.
func newLogMask(to slog.Handler, account func() (*vault.Account, error), n *needles) logMask {
	q := &logQueue{account: account, needles: n}
	q.idle.L = &q.mu
	return logMask{to, q}
}

// Handle implements slog.Handler.
func (l logMask) Handle(_ context.Context, r slog.Record) error {
	line := logLine{l.Handler, r.Clone(), !l.q.needles.isShut()}
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	if len(l.q.lines) >= maxLogLines {
		l.q.lost++
		return nil
	}
	l.q.lines = append(l.q.lines, line)
	if !l.q.writing {
		l.q.writing = true
		go l.q.write() // #nosec G118 -- it writes the lines of all, whoever's request began it
	}
	return nil
}

// WithAttrs implements slog.Handler.
func (l logMask) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logMask{l.Handler.WithAttrs(attrs), l.q}
}

// WithGroup implements slog.Handler.
func (l logMask) WithGroup(name string) slog.Handler { return logMask{l.Handler.WithGroup(name), l.q} }

// write writes what waits, until nothing does.
func (q *logQueue) write() {
	for {
		q.mu.Lock()
		lines, lost := q.lines, q.lost
		q.lines, q.lost = nil, 0
		if len(lines) == 0 {
			q.writing = false
			q.idle.Broadcast()
			q.mu.Unlock()
			return
		}
		q.mu.Unlock()
		q.writeLines(lines)
		if lost > 0 {
			last := lines[len(lines)-1]
			r := slog.NewRecord(time.Now(), slog.LevelWarn, "lines of this log were lost", 0)
			r.AddAttrs(slog.Int("count", lost))
			_ = last.to.Handle(context.Background(), r) // as in writeLines
		}
	}
}

// flush waits until everything is written.
func (q *logQueue) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.writing {
		q.idle.Wait()
	}
}

// writeLines writes lines. A log that can't be written is no reason for anything.
func (q *logQueue) writeLines(lines []logLine) {
	var hide func(string) string
	set, err := q.set()
	switch {
	case err == nil && set != nil:
		defer q.needles.give(set)
		hide = func(text string) string { return hidden(set, text) }
	case err != nil:
		hide = func(string) string { return withheld }
	}
	for _, l := range lines {
		masked := l.line
		if hide != nil && l.open {
			masked = slog.NewRecord(l.line.Time, l.line.Level, l.line.Message, l.line.PC)
			l.line.Attrs(func(a slog.Attr) bool {
				masked.AddAttrs(maskedAttr(a, hide))
				return true
			})
		}
		_ = l.to.Handle(context.Background(), masked)
	}
}

// withheld stands where a text could not be masked.
const withheld = "(withheld: it could not be searched for values)"

// set is what lines are masked by, a person's set; nil where no account was ever open, so that there is nothing to hide.
func (q *logQueue) set() (*needleSet, error) {
	a, err := q.account()
	var known *api.Error
	switch {
	case errors.As(err, &known) && !q.needles.isShut():
		return nil, nil
	case err != nil:
		return nil, err
	}
	return q.needles.take(&lookup{who: caller.Identity{Verdict: caller.Person}, account: a, known: map[string]*levels{}})
}

// hidden is a text with marks in the place of values.
func hidden(set *needleSet, text string) string {
	var out bytes.Buffer
	w := mask.NewWriter(&out, set.Set)
	_, err := io.WriteString(w, text)
	if err = errors.Join(err, w.Close()); err != nil {
		return withheld
	}
	return out.String()
}

// maskedAttr is an attribute with its texts masked.
func maskedAttr(a slog.Attr, hide func(string) string) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, hide(v.String()))
	case slog.KindGroup:
		group := slices.Clone(v.Group())
		for i := range group {
			group[i] = maskedAttr(group[i], hide)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(group...)}
	case slog.KindAny:
		if fields, ok := v.Any().(map[string]any); ok {
			masked := make(map[string]any, len(fields))
			for name, field := range fields {
				if text, is := field.(string); is {
					field = hide(text)
				}
				masked[name] = field
			}
			return slog.Any(a.Key, masked)
		}
	default: // numbers and times
	}
	return a
}
