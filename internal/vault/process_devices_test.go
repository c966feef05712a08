package vault_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"warder/internal/seal"
	"warder/internal/vault"
)

// TestReaderThatSlept: an account that was open while others wrote a lot opens the present revision of an item. That the files which it
// knew are gone is no damage.
func TestReaderThatSlept(t *testing.T) {
	s := newScene(t)
	a, _ := create(t, s.account())
	v := firstVault(t, a)
	save(t, v, newItem(t, "busy", "value 0"), newItem(t, "ended", "value"))
	busy, ended := find(t, v, "busy"), find(t, v, "ended")
	b := open(t, s.account())
	for i := range 15 {
		editTo(t, firstVault(t, b), "busy", fmt.Sprint("value ", i+1))
	}
	must(t, firstVault(t, b).Purge(ended))
	if text, state := firstValue(t, v, busy); text != "value 15" || state != vault.StateOK {
		t.Errorf("found %q, %s", text, state)
	}
	if _, err := v.Open(ended); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("opening an item that another process ended: %v", err)
	}
	if found := a.Findings(); len(found) > 0 {
		t.Errorf("findings: %q", texts(found))
	}
}

// twoDevices are two devices with the same account directory, both enrolled.
func twoDevices(t *testing.T) (s scene, first, second *vault.Account) {
	t.Helper()
	s = newScene(t)
	first, kit := create(t, s.account())
	must(t, vault.SetDeviceSecret(s.second(), kit.DeviceSecret))
	return s, first, open(t, s.second())
}

// TestTwoDevicesInTurn: each sees what the other wrote before it writes itself, so that there is nothing to merge.
func TestTwoDevicesInTurn(t *testing.T) {
	t.Parallel()
	s, first, second := twoDevices(t)
	devices := []*vault.Vault{firstVault(t, first), firstVault(t, second)}
	save(t, devices[0], newItem(t, "shared", "0"))
	for i := range 24 {
		v := devices[i%2]
		save(t, v, newItem(t, fmt.Sprint("item ", i), fmt.Sprint("value ", i)))
		editTo(t, v, "shared", fmt.Sprint(i+1))
	}
	must(t, devices[0].Trash(find(t, devices[0], "item 3"), vault.Origin{By: vault.ByPerson}))
	must(t, devices[1].Purge(find(t, devices[1], "item 4")))
	for _, a := range []*vault.Account{first, second} {
		if text, _ := firstValue(t, firstVault(t, a), find(t, firstVault(t, a), "shared")); text != "24" {
			t.Errorf("shared is %q", text)
		}
	}
	sameForBoth(t, s, first, second, 24)
}

// TestTwoDevicesAtOnce: two devices that write to one directory at the same time share no lock. Each sees all in the end.
func TestTwoDevicesAtOnce(t *testing.T) {
	t.Parallel()
	s, first, second := twoDevices(t)
	const each = 40
	var wg sync.WaitGroup
	for i, a := range []*vault.Account{first, second} {
		wg.Go(func() {
			v := firstVault(t, a)
			for k := range each {
				if err := v.Save(newItem(t, fmt.Sprintf("D%d_%d", i, k), "value")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	sameForBoth(t, s, first, second, 2*each)
}

// TestTwoDevicesAtOnceInProcesses is TestTwoDevicesAtOnce with two processes on each device.
func TestTwoDevicesAtOnceInProcesses(t *testing.T) {
	t.Parallel()
	s, first, second := twoDevices(t)
	const each = 15
	var jobs []job
	for i := range 4 {
		jobs = append(jobs, job{Name: "adding items", Dir: s.dir, Count: each, Text: fmt.Sprint("P", i), Second: i%2 == 1})
	}
	together(t, jobs...)
	sameForBoth(t, s, first, second, 4*each)
}

// TestGoroutinesShareAnAccount writes, reads, lists and checks from many goroutines: the race detector's to judge.
func TestGoroutinesShareAnAccount(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a, _ := create(t, s.account())
	v := firstVault(t, a)
	save(t, v, newItem(t, "shared", "0"))
	shared := find(t, v, "shared")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 6 {
				if err := v.Save(newItem(t, fmt.Sprintf("G%d_%d", i, k), "value")); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range 6 {
				readAll(t, a, v, shared)
			}
		})
	}
	wg.Wait()
	quiet(t, a, 25)
}

// readAll uses everything of an account that only reads.
func readAll(t *testing.T, a *vault.Account, v *vault.Vault, id seal.ID) {
	it, err := v.Open(id)
	if err != nil {
		t.Error(err)
		return
	}
	it.Destroy()
	if _, err := v.History(id); err != nil {
		t.Error(err)
	}
	if found, err := a.Check(); err != nil || len(found) > 0 {
		t.Errorf("check: %v, %q", err, texts(found))
	}
	_, _ = a.Vault(vault.DefaultVault)
	_, _, _, _ = v.List(), a.StateCode(), a.Device(), v.Name()
}

// sameForBoth wants two devices to see the same items, with no finding, and no file that is not in force.
func sameForBoth(t *testing.T, s scene, first, second *vault.Account, items int) {
	t.Helper()
	quiet(t, first, items)
	quiet(t, second, items)
	if a, b := contentOf(t, first), contentOf(t, second); a != b {
		t.Errorf("the devices see different things:\n%s\n%s", a, b)
	}
	if first.StateCode() != second.StateCode() {
		t.Errorf("state codes %s and %s", first.StateCode(), second.StateCode())
	}
	nothingLeftOver(t, s.account(), first)
	nothingLeftOver(t, s.second(), second)
}

// TestEnrolmentsThatMeet: two devices that were enrolled apart make two keysets of one epoch, of which one rules. The device that it does
// not know comes back under its own id, and what it wrote is not lost.
func TestEnrolmentsThatMeet(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a, kit := create(t, s.account())
	save(t, firstVault(t, a), newItem(t, "old", "value of old"))
	a.Lock()
	apart := []scene{s.copy(t), s.copy(t)}
	drive := &cloud{dirs: []string{apart[0].account().AccountDir, apart[1].account().AccountDir}}
	drive.meet(t)
	var ids []seal.ID
	for i, s := range apart {
		must(t, vault.SetDeviceSecret(s.second(), kit.DeviceSecret))
		d := open(t, s.second())
		save(t, firstVault(t, d), newItem(t, fmt.Sprint("from ", i), "value"))
		ids = append(ids, d.Device())
		d.Lock()
	}
	drive.meet(t)
	for range 2 { // the second time, each has met the other
		for i, s := range apart {
			d := open(t, s.second())
			if d.Device() != ids[i] {
				t.Errorf("device %d has another id now", i)
			}
			save(t, firstVault(t, d), newItem(t, fmt.Sprint(seal.NewID()), "value"))
			d.Lock()
			drive.meet(t)
		}
	}
	for _, s := range apart {
		d := open(t, s.second())
		if n := len(vault.Roster(d)); n != 3 {
			t.Errorf("%d devices, want 3", n)
		}
		for _, name := range []string{"old", "from 0", "from 1"} {
			find(t, firstVault(t, d), name)
		}
		quiet(t, d, 7)
	}
}

// cloud keeps directories in step as a cloud drive does: what is new in one comes to the others, what was removed in one is removed, and
// of two files with one name the newer stays.
type cloud struct {
	dirs  []string
	known map[string]bool // what all had when they last met
}

func (c *cloud) meet(t *testing.T) {
	t.Helper()
	found := map[string]int{}
	for _, dir := range c.dirs {
		for _, name := range files(t, dir) {
			found[name]++
		}
	}
	for name, n := range found {
		removed := c.known[name] && n < len(c.dirs)
		var newest time.Time
		var data []byte
		for _, dir := range c.dirs {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if removed {
				must(t, os.RemoveAll(path))
			} else if fi, err := os.Stat(path); err == nil && fi.ModTime().After(newest) {
				newest, data = fi.ModTime(), readFile(t, path)
			}
		}
		if removed {
			delete(found, name)
			continue
		}
		for _, dir := range c.dirs {
			path := filepath.Join(dir, filepath.FromSlash(name))
			writeFile(t, path, data)
			must(t, os.Chtimes(path, newest, newest))
		}
	}
	c.known = map[string]bool{}
	for name := range found {
		c.known[name] = true
	}
}

// TestTwoDevicesChangeKeysAndWrite: one device changes the password again and again while the other writes. Keysets come and go under the
// eyes of the other, which is nothing to complain about.
func TestTwoDevicesChangeKeysAndWrite(t *testing.T) {
	t.Parallel()
	s, first, second := twoDevices(t)
	const changes = 5
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range changes {
			if err := first.ChangePassword(value(t, passwordNumber(n)), value(t, passwordNumber(n+1))); err != nil {
				t.Error(err)
			}
		}
	}()
	written := 0
	for writing := true; writing; written++ {
		select {
		case <-done:
			writing = false
		default:
		}
		if err := firstVault(t, second).Save(newItem(t, fmt.Sprint("item ", written), "value")); err != nil {
			t.Fatal(err)
		}
	}
	sameForBoth(t, s, first, second, written)
	for _, cfg := range []vault.Config{s.account(), s.second()} {
		a, err := vault.Open(cfg, value(t, passwordNumber(changes)))
		must(t, err)
		quiet(t, a, written)
		a.Lock()
	}
}

// TestTwoDevicesMakeVaults: one device makes vaults while the other writes and sees them when they are half there.
func TestTwoDevicesMakeVaults(t *testing.T) {
	t.Parallel()
	s, first, second := twoDevices(t)
	const vaults = 12
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range vaults {
			if _, err := first.CreateVault(fmt.Sprint("vault ", n)); err != nil {
				t.Error(err)
			}
		}
	}()
	written := 0
	for writing := true; writing; written++ {
		select {
		case <-done:
			writing = false
		default:
		}
		if err := firstVault(t, second).Save(newItem(t, fmt.Sprint("item ", written), "value")); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(second.Vaults()); n != vaults+1 {
		t.Errorf("the other device sees %d vaults", n)
	}
	sameForBoth(t, s, first, second, written)
}
