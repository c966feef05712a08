package daemon

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"

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

// openLeases opens the book; where that fails, as on a full disk, leases end with this daemon.
func openLeases(d *Daemon) leasebook {
	dir, err := d.state.Create(leasesDir)
	if err != nil {
		d.warn("how a run ends that outlives this daemon will not be known: %v", err)
		return leasebook{account: d.keep.get}
	}
	d.onEnd(dir.Close)
	_ = dir.CleanTemp(d.clock.now()) // what a daemon that was killed was about to write
	return leasebook{dir, d.keep.get}
}

// keep writes a lease down.
func (b leasebook) keep(h gate.Handed) error {
	if b.dir == nil {
		return fs.ErrNotExist
	}
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
func (b leasebook) drop(id string) {
	if b.dir != nil {
		_ = b.dir.Remove(id)
	}
}

// takeOver goes on with the leases of the daemon before. Without the account's key nothing in the book can be believed, and
// it stays for a daemon that has it.
func (b leasebook) takeOver(g *gate.Gate, warn func(format string, args ...any)) {
	if b.dir == nil {
		return
	}
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
