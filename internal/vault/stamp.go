package vault

import "warder/internal/seal"

// Stamp stands for the revisions that an account shows: it is another one once any item of it is. It says whether what was made of the items'
// values is still true, without opening one, and is asked for each time that output comes: it looks at no item.
func Stamp(a *Account) (seal.Hash, error) {
	a.c.mu.RLock()
	defer a.c.mu.RUnlock()
	var stamp seal.Hash
	if a.c.locked {
		return stamp, ErrLocked
	}
	for _, s := range a.c.vaults {
		for i, b := range s.stamp {
			stamp[i] ^= b
		}
	}
	return stamp, nil
}
