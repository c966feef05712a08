package daemon

import (
	"fmt"
	"slices"
	"sync"

	"warder/internal/api"
	"warder/internal/caller"
	"warder/internal/credential"
	"warder/internal/mask"
	"warder/internal/seal"
	"warder/internal/vault"
)

// keptSets is how many sets are kept for their next use, beside those in use. One of 10,000 values takes tens of megabytes, and who masks
// does it again and again.
const keptSets = 3

// needles has the sets of values that output is masked by. One set is a principal's own, since it is named and chosen by what that may know:
// a person's has all concealed values; an agent's those that say nothing by being hidden, and whatever it was lent.
//
// A set is made when it is needed first, and kept until the account changes or is locked: making one opens every item.
type needles struct {
	lent fieldsBy // hidden from whom they were lent to, whatever they are
	seen fieldsBy // hidden before, so that it is no news that they are stored

	making sync.Mutex // held while a set is made, so that no two are made at once; taken before mu
	mu     sync.Mutex // guards everything below, and the users of each set
	shut   bool
	kept   []*needleSet // the one used last at the end
	inUse  map[*needleSet]bool
}

// needleSet is a set, and what its values are.
type needleSet struct {
	*mask.Set
	key   string // the principal's
	stamp seal.Hash
	lent  int     // how many values that principal had been lent
	items []found // that it is of; nil: all

	mu       sync.Mutex // guards what grows
	now      seal.Hash  // the account's stamp
	nowLent  int        // what lent is
	is       []needleOf // by number
	revision map[storedItem]seal.Hash

	users int
}

// needleOf says what a value of a set is.
type needleOf struct {
	storedField
	lent bool // to whom the set is for
}

// principalKey names whom a set is for. Where nothing tells the agent but the calling process itself, which comes and goes, all of that
// client share one; so do all unknown callers.
func principalKey(id caller.Identity) string {
	i := id.Instance
	switch {
	case id.Verdict == caller.Person:
		return "person"
	case id.Verdict != caller.Agent:
		return "unknown"
	case i == (caller.Instance{}) || len(id.Evidence) > 0 && id.Evidence[0].PID == i.PID:
		return "agent " + id.Client
	}
	return fmt.Sprintf("agent %s %s/%d/%d/%d", id.Client, i.BootID, i.PID, i.Start, i.Inode)
}

// take is the set of a request's principal, made of all that the account holds. The caller gives it back.
//
// Errors: the vault's, of code Locked where the account has been locked.
func (n *needles) take(l *lookup) (*needleSet, error) {
	n.making.Lock()
	defer n.making.Unlock()
	stamp, err := vault.Stamp(l.account)
	if err != nil {
		return nil, err
	}
	key := principalKey(l.who)
	lent := n.lent.of(key)
	if s := n.find(key, stamp, len(lent)); s != nil {
		return s, nil
	}
	s := &needleSet{Set: mask.NewSet(), key: key, stamp: stamp, lent: len(lent)}
	if err := s.fill(l, stamp, lent); err != nil {
		return nil, err
	}
	return s, n.keep(s)
}

// of is a set of some items alone, for one use.
func (n *needles) of(l *lookup, items []found) (*needleSet, error) {
	stamp, err := vault.Stamp(l.account)
	if err != nil {
		return nil, err
	}
	key := principalKey(l.who)
	s := &needleSet{Set: mask.NewSet(), key: key, items: items}
	if err := s.fill(l, stamp, n.lent.of(key)); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return s, n.use(s)
}

// find finds a set that is kept and still true, for one more user.
func (n *needles) find(key string, stamp seal.Hash, lent int) *needleSet {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, s := range n.kept {
		if s.key == key {
			n.kept = slices.Delete(n.kept, i, i+1)
			if s.stamp == stamp && s.lent == lent && n.use(s) == nil {
				n.kept = append(n.kept, s)
				return s
			}
			n.drop(s)
			break
		}
	}
	return nil
}

// keep keeps a set that was made, for one user.
func (n *needles) keep(s *needleSet) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.use(s); err != nil {
		return err
	}
	n.kept = append(n.kept, s)
	if len(n.kept) > keptSets {
		oldest := n.kept[0]
		n.kept = slices.Delete(n.kept, 0, 1)
		n.drop(oldest)
	}
	return nil
}

// use begins a use, under mu.
func (n *needles) use(s *needleSet) error {
	if n.shut {
		s.Destroy()
		return errLocked()
	}
	if n.inUse == nil {
		n.inUse = map[*needleSet]bool{}
	}
	s.users++
	n.inUse[s] = true
	return nil
}

func errLocked() error { return api.Errorf(api.Locked, "the account is locked") }

// give gives a set back.
func (n *needles) give(s *needleSet) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(n.inUse, s)
		if !slices.Contains(n.kept, s) {
			s.Destroy()
		}
	}
}

// drop wipes a set that is kept no more, once nobody uses it. mu is held.
func (n *needles) drop(s *needleSet) {
	if s.users == 0 {
		s.Destroy()
	}
}

// close wipes all sets: the account is about to be locked, for good. Whatever is masked by one ends with an error.
func (n *needles) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.shut = true
	for _, s := range n.kept {
		s.Destroy()
	}
	for s := range n.inUse {
		s.Destroy()
	}
	n.kept, n.inUse = nil, nil
	n.lent.forget()
	n.seen.forget()
}

// isShut says whether the account was locked: there are no sets any more.
func (n *needles) isShut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.shut
}

// isStrong says whether a value may be hidden from whom it was not lent to. That others are looked for would tell which they are: there are
// few of them, and whoever prints them all sees which one is hidden.
func isStrong(f *vault.Field) bool { return f.Value.Len() >= shortValue && f.Score >= weakScore }

// needleName is the name by which who knows an item knows one of its values: the item's for what it is kept for, the variable's in a stage.
func needleName(it *vault.Item, f *vault.Field) string {
	switch {
	case it.Kind == vault.KindStage:
		return f.Name
	case credential.MainField(it) == f:
		return it.Name
	case f.Section != "":
		return it.Name + "/" + f.Section + "/" + f.Name
	}
	return it.Name + "/" + f.Name
}
