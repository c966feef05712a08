package daemon

import (
	"maps"
	"slices"
	"sync"

	"warder/internal/credential"
	"warder/internal/seal"
	"warder/internal/vault"
)

const (
	// maxLent is how many values of one principal are remembered as lent.
	maxLent = 4096
	// maxBorrowers is how many principals are remembered.
	maxBorrowers = 256
)

// lentValue names a value that was lent. It holds nothing of it.
type lentValue struct {
	vault, item   seal.ID
	section, name string // the first folded
}

// lentValues remembers which values each principal was lent: they are hidden from it whatever they are. It lasts as long as the daemon.
type lentValues struct {
	mu   sync.Mutex
	by   map[string]map[lentValue]bool
	last []string // principals, the one that was lent something last at the end
}

// note notes that values were lent. Of too many principals the one is forgotten that was lent nothing for longest, and of too many values
// those that come last.
func (l *lentValues) note(key string, values []lentValue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]map[lentValue]bool{}
	}
	known := l.by[key]
	if known == nil {
		known = map[lentValue]bool{}
		l.by[key] = known
	}
	for _, v := range values {
		if len(known) < maxLent {
			known[v] = true
		}
	}
	l.last = append(slices.DeleteFunc(l.last, func(k string) bool { return k == key }), key)
	if len(l.last) > maxBorrowers {
		delete(l.by, l.last[0])
		l.last = l.last[1:]
	}
}

// of are the values that a principal was lent.
func (l *lentValues) of(key string) map[lentValue]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.by[key])
}

func (l *lentValues) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by, l.last = nil, nil
}

// lentField names a field as a value that is lent.
func lentField(v *vault.Vault, item seal.ID, section, name string) lentValue {
	return lentValue{v.ID(), item, vault.FoldName(section), name}
}

// lentBy are the values of a set that are hidden in what comes back.
func lentBy(set *credential.Set) []lentValue {
	var list []lentValue
	for _, v := range set.Values() {
		if v.Secret {
			list = append(list, lentField(v.From.Vault, v.From.ID, v.From.Section, v.From.Name))
		}
	}
	return list
}
