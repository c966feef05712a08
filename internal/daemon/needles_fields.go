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
	// maxFields is how many values of one principal are remembered.
	maxFields = 4096
	// maxPrincipals is how many principals are remembered.
	maxPrincipals = 256
)

// storedField names a value. It holds nothing of it.
type storedField struct {
	vault, item   seal.ID
	section, name string // the first folded
}

// fieldsBy remembers values by principal: those that each was lent, or has seen hidden. It lasts as long as the account is open.
type fieldsBy struct {
	mu   sync.Mutex
	by   map[string]map[storedField]bool
	last []string // principals, the one that had something last at the end
}

// note notes values. Of too many principals the one is forgotten that had none for longest, and of too many values those that come last.
func (l *fieldsBy) note(key string, values []storedField) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil {
		l.by = map[string]map[storedField]bool{}
	}
	known := l.by[key]
	if known == nil {
		known = map[storedField]bool{}
		l.by[key] = known
	}
	for _, v := range values {
		if len(known) < maxFields {
			known[v] = true
		}
	}
	l.last = append(slices.DeleteFunc(l.last, func(k string) bool { return k == key }), key)
	if len(l.last) > maxPrincipals {
		delete(l.by, l.last[0])
		l.last = l.last[1:]
	}
}

// of are the values of a principal.
func (l *fieldsBy) of(key string) map[storedField]bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.by[key])
}

// count is how many values a principal has.
func (l *fieldsBy) count(key string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.by[key])
}

func (l *fieldsBy) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.by, l.last = nil, nil
}

// fieldIn names a field.
func fieldIn(v *vault.Vault, item seal.ID, section, name string) storedField {
	return storedField{v.ID(), item, vault.FoldName(section), name}
}

// lentBy are the values of a set that are hidden in what comes back.
func lentBy(set *credential.Set) []storedField {
	var list []storedField
	for _, v := range set.Values() {
		if v.Secret {
			list = append(list, fieldIn(v.From.Vault, v.From.ID, v.From.Section, v.From.Name))
		}
	}
	return list
}
