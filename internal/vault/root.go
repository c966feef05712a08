package vault

import "warder/internal/seal"

// WithRoot lends the account's root key to f, for what is sealed under it outside of the vault: the audit log's checkpoints and
// names. The account is not locked while f runs; f must not destroy the key, and calls nothing of the account. The audit log may
// keep the handle, which is of no use any more once the account is locked. A locked account is ErrLocked.
func (a *Account) WithRoot(f func(root seal.RootKey) error) error {
	a.c.mu.RLock()
	defer a.c.mu.RUnlock()
	if a.c.locked {
		return ErrLocked
	}
	return f(a.c.root)
}

// AuditMark is the state of a device's audit log that it signed into a vault's manifest.
type AuditMark struct {
	Seq  uint64
	Head seal.Hash
}

// AuditMarks returns the states of this device's own audit log that its manifests hold: whoever cuts the log back has to bring back
// older manifests too, which is found out.
func AuditMarks(a *Account) []AuditMark {
	a.c.mu.RLock()
	defer a.c.mu.RUnlock()
	var marks []AuditMark
	for _, s := range a.c.vaults {
		r, found := s.roots[a.c.dev.id]
		if found && r.root.audit != (mark{}) {
			marks = append(marks, AuditMark{Seq: r.root.audit.seq, Head: r.root.audit.hash})
		}
	}
	return marks
}
