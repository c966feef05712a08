package daemon

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"warder/internal/api"
	"warder/internal/audit"
	"warder/internal/seal"
)

// subject is what an act is about.
type subject struct {
	name string // vault/item or vault/project/stage; for what was not found, as the caller wrote it
	open bool   // to all agents, so that the log, which they may read, can name it
	made bool   // by the act: what is not made after all has no name but the caller's text, which may be anything
}

// and is the subject of an act that is also about another object. It is open if all are.
func (s subject) and(l *levels, f found) subject {
	more := subject{name: f.vault.Name() + "/" + f.Name, open: l.toAll(f.ID)}
	switch {
	case s.name == "":
		return more
	case slices.Contains(strings.Split(s.name, ", "), more.name):
		return s
	}
	return subject{s.name + ", " + more.name, s.open && more.open, s.made}
}

// maxSubject is how much of a name that was not found is kept; the longest real one is shorter.
const maxSubject = 450

// sealed is the subject as the log holds it: sealed unless it is open to all agents. It is empty where there is none, and while
// the account is locked.
func (r *request) sealed() string {
	if r.subject.open {
		return r.subject.name
	}
	name := r.subject.name
	if len(name) > maxSubject {
		name = strings.ToValidUTF8(name[:maxSubject], "")
	}
	if name == "" || r.account == nil || !utf8.ValidString(name) {
		return ""
	}
	id := r.account.ID()
	item := ""
	err := r.account.WithRoot(func(root seal.RootKey) (err error) {
		item, err = audit.SealName(root, id, name)
		return err
	})
	if err != nil {
		return "" // it was locked since
	}
	return item
}

// wordOf is the word for an error in the log: its code. Its message may hold names.
func wordOf(err error) string {
	var e *api.Error
	if errors.As(gateError(err), &e) {
		return string(e.Code)
	}
	return string(api.Internal)
}

// named puts the intent's id into an error, so that whoever reads it finds the records.
func (r *request) named(err error) error {
	var e *api.Error
	if !errors.As(err, &e) {
		return err
	}
	c := *e
	c.ID = r.ID
	return &c
}
