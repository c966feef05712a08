package mask

import "sync/atomic"

// Registry has the set of an unlocked vault, for all who hide the values of the whole vault. The vault publishes into
// it, and readers take what is in force when their output begins. The zero Registry has none.
//
// Output that is hidden by values which were not lent to its maker must be handed on as a whole, after Close: when held
// bytes come would tell him whether what he printed begins a value (L53). Its set has a limit, too (L54).
type Registry struct {
	set atomic.Pointer[Set]
}

// Publish puts a set in the place of the one before, which the caller destroys: writers that still use it then fail,
// and nothing passes them unmasked. nil says that the vault is locked.
func (r *Registry) Publish(s *Set) { r.set.Store(s) }

// Set is the set in force. It is nil while there is none; a writer over nil refuses all output.
func (r *Registry) Set() *Set { return r.set.Load() }
