package vault

import (
	"cmp"
	"slices"
	"time"
)

// FindingKind says what is wrong with the store.
type FindingKind string

// The findings of F1.9.
const (
	FindRollback       FindingKind = "rollback"
	FindFork           FindingKind = "fork"
	FindTampered       FindingKind = "tampered"
	FindMissing        FindingKind = "missing"
	FindBehind         FindingKind = "behind"
	FindOrphan         FindingKind = "orphan"
	FindCloned         FindingKind = "cloned"
	FindKeysetRollback FindingKind = "keyset_rollback"
)

// grace is how long something may be absent before it counts as an attack: a cloud drive that was closed over night is none.
const grace = 24 * time.Hour

// weight is how serious a finding is at first sight.
type weight int

const (
	said    weight = iota // shown, nothing more
	pending               // may be sync lag: an alarm after the grace time
	alarm                 // stops writes
)

// Finding is one thing that is wrong with the store. Findings stop writes, never use.
type Finding struct {
	Kind   FindingKind
	Object string // what it is about: "item 3f…", "manifest of device 9a…", "keyset", …
	Text   string // one sentence for a person
	Alarm  bool   // writes are refused while it stands
	Since  time.Time
	weight weight
}

func (f Finding) key() string { return string(f.Kind) + " " + f.Object }

// problems are the findings about files, by object; they stand until the object is read again and is right.
type problems map[string]Finding

func (p problems) set(w weight, kind FindingKind, object, text string) {
	p[object] = Finding{Kind: kind, Object: object, Text: text, weight: w}
}

func (p problems) clear(object string) { delete(p, object) }

// judge gives findings their age and their final weight, and brings the memory of pending ones up to date. It reports whether
// that memory changed.
func judge(found []Finding, since map[string]time.Time, now time.Time) (judged []Finding, changed bool) {
	standing := make(map[string]bool, len(found))
	for i := range found {
		f := &found[i]
		f.Alarm, f.Since = f.weight == alarm, now
		if f.weight != pending {
			continue
		}
		key := f.key()
		standing[key] = true
		if first, ok := since[key]; ok {
			f.Since = first
		} else {
			since[key], changed = now, true
		}
		// A clock that jumped back only delays the alarm; one that jumped ahead raises it early, and nothing is lost by that.
		f.Alarm = now.Sub(f.Since) >= grace
	}
	for key := range since {
		if !standing[key] {
			delete(since, key)
			changed = true
		}
	}
	slices.SortFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Object, b.Object))
	})
	return found, changed
}

func alarms(found []Finding) []Finding {
	var out []Finding
	for _, f := range found {
		if f.Alarm {
			out = append(out, f)
		}
	}
	return out
}
