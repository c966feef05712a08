package daemon

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"warder/internal/caller"
	"warder/internal/gate"
	"warder/internal/platform"
	"warder/internal/seal"
	"warder/internal/state"
	"warder/internal/vault"
)

const (
	// leasesDir holds a file for each open lease, as F7 says.
	leasesDir = "leases"
	// leaseLimit is more than any such file has.
	leaseLimit = 64 << 10
)

// leasebook keeps the open leases for the daemon after this one. Whoever runs below the holder of a lease is judged as if the holder
// were not there, so the book is under a key of the account: nobody else who can write to the directory adds to it.
type leasebook struct {
	dir     *state.Dir
	account func() (*vault.Account, error)
}

// openLeases opens the book; where that fails leases end with this daemon.
func openLeases(d *Daemon) (leasebook, error) {
	dir, err := d.state.Create(leasesDir)
	if err != nil {
		return leasebook{}, err
	}
	d.onEnd(dir.Close)
	return leasebook{dir, d.keep.get}, nil
}

// keep writes a lease down.
func (b leasebook) keep(h gate.Handed) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	a, err := b.account()
	if err != nil {
		return err
	}
	account, device := a.ID(), a.Device()
	err = a.WithRoot(func(root seal.RootKey) error {
		mac, err := seal.MACLease(root, account, device, text)
		text = append(hex.AppendEncode(text, mac[:]), '\n')
		return err
	})
	if err != nil {
		return err
	}
	return state.ReplaceSoon(b.dir, h.ID, text)
}

// drop forgets a lease. A file that stays names a process that has ended, and goes with the next daemon.
func (b leasebook) drop(id string) { _ = b.dir.Remove(id) }

// takeOver goes on with the leases of the daemon before. Without the account's key nothing in the book can be believed, and
// it stays for a daemon that has it.
func (b leasebook) takeOver(g *gate.Gate, warn func(format string, args ...any)) {
	a, err := b.account()
	if err != nil {
		return
	}
	names, err := b.dir.List()
	if err != nil {
		warn("the runs that were begun before can't be told: %v", err)
		return
	}
	for _, name := range names {
		h, err := b.read(a, name)
		if err != nil {
			b.drop(name)
			warn("a note on a run that was begun before does not count: %v", err)
			continue
		}
		g.TakeOver(h, findHolder(h.Holder))
	}
}

// read reads one lease.
func (b leasebook) read(a *vault.Account, name string) (h gate.Handed, err error) {
	file, err := b.dir.Read(name, leaseLimit)
	if err != nil {
		return h, err
	}
	end := bytes.IndexByte(file, '\n') + 1
	text, line := file[:end], bytes.TrimSuffix(file[end:], []byte("\n"))
	mac, err := hex.DecodeString(string(line))
	if err != nil {
		return h, fmt.Errorf("%s: %w", name, err)
	}
	account, device := a.ID(), a.Device()
	err = a.WithRoot(func(root seal.RootKey) error { return seal.CheckLease(root, account, device, text, mac) })
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	if err == nil && h.ID != name {
		err = seal.ErrOpen // the note of another
	}
	if err != nil {
		return h, fmt.Errorf("%s: %w", name, err)
	}
	return h, nil
}

// findHolder holds the process of an instance; nil if that has died. Who has its number now is it only if it is the very one that began.
func findHolder(want caller.Instance) gate.Process {
	pidfd, err := platform.OpenPidfd(want.PID)
	if err != nil {
		return nil
	}
	if now, err := caller.InstanceOf(want.PID, pidfd); err != nil || now != want {
		_ = pidfd.Close()
		return nil
	}
	return held{pidfd}
}
