package main

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/vault"
)

const (
	vaultItems = 10_000
	valueSize  = 1 << 10
	rounds     = 5

	// openChild is the argument by which bench starts itself to unlock in a fresh process.
	openChild = "child-open"

	benchPassword = "correct horse battery staple 77" // of a store that is removed at once
)

// opened is what a fresh process measured while it unlocked.
type opened struct {
	Argon, Unlock, List, Write time.Duration
	RSS                        int64 // KiB, after the unlock
}

func vaultPart(r *report, dir string) error {
	r.step("vault: making %d items", vaultItems)
	if err := fillVault(dir); err != nil {
		return err
	}
	var runs []opened
	for n := range rounds {
		r.step("vault: opening them in a fresh process, %d of %d", n+1, rounds)
		o, err := openFresh(dir)
		if err != nil {
			return err
		}
		runs = append(runs, o)
	}
	sync, err := syncTime(dir)
	if err != nil {
		return err
	}
	median := func(f func(opened) time.Duration) time.Duration {
		all := make([]time.Duration, len(runs))
		for i, o := range runs {
			all[i] = f(o)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	argon := median(func(r opened) time.Duration { return r.Argon })
	open := median(func(r opened) time.Duration { return r.Unlock - r.Argon })
	rss := runs[len(runs)/2].RSS
	write := median(func(r opened) time.Duration { return r.Write })
	const syncs = 10 // item, shard and root: file and folder each; seen state twice: file and folder
	r.show([]row{
		timed("open 10,000 items of 1 KiB (unlock less Argon2id)", 500*time.Millisecond, open),
		timed("list 10,000 items from memory", 50*time.Millisecond, median(func(r opened) time.Duration { return r.List })),
		timed(fmt.Sprintf("one durable write less %d fsyncs of %s", syncs, sync), 3*time.Millisecond, max(0, write-syncs*sync)),
		{"resident after unlock", "60 MiB", fmt.Sprintf("%.1f MiB", float64(rss)/1024), float64(rss) / (60 * 1024)},
	})
	r.step("vault: unlocking an account with one item")
	small, err := smallUnlock(filepath.Join(dir, "small"))
	if err != nil {
		return err
	}
	r.show([]row{timed(fmt.Sprintf("unlock of one item less Argon2id (%s)", argon.Round(time.Millisecond)), 100*time.Millisecond, small)})
	fmt.Fprintf(r.out, "  durable write as a whole: %s\n", write.Round(10*time.Microsecond))
	return nil
}

func benchConfig(dir string) vault.Config {
	return vault.Config{AccountDir: filepath.Join(dir, "data", "account"), StateDir: filepath.Join(dir, "state")}
}

func password() (secret.Value, error) { return secret.New([]byte(benchPassword)) }

// fillVault makes an account with many items, in few writes.
func fillVault(dir string) error {
	pw, err := password()
	if err != nil {
		return err
	}
	defer pw.Destroy()
	a, kit, err := vault.Create(benchConfig(dir), pw)
	if err != nil {
		return err
	}
	defer a.Lock()
	kit.Destroy()
	return fillItems(a.Vaults()[0])
}

// fillItems adds the items, some hundreds a write.
func fillItems(v *vault.Vault) error {
	const batch = 500
	for at := 0; at < vaultItems; at += batch {
		items := make([]*vault.Item, batch)
		for i := range items {
			item, err := benchItem(at + i)
			if err != nil {
				return err
			}
			items[i] = item
		}
		if err := v.Save(items...); err != nil {
			return err
		}
		for _, it := range items {
			it.Destroy()
		}
	}
	return nil
}

func benchItem(n int) (*vault.Item, error) {
	value := make([]byte, valueSize)
	rand.Read(value)
	v, err := secret.New(value)
	return &vault.Item{
		Meta: vault.Meta{
			Kind: vault.KindItem, Type: vault.TypeAPIToken, Name: fmt.Sprintf("service %05d", n), Level: vault.LevelUse,
			Hosts: []vault.Host{{Host: fmt.Sprintf("api%d.example.test", n)}}, Tags: []string{"bench"},
		},
		Fields: []vault.Field{{Name: "token", Concealed: true, Value: v}},
	}, err
}

// openFresh unlocks in a new process, so that the making of the store does not count.
func openFresh(dir string) (o opened, err error) {
	exe, err := os.Executable()
	if err != nil {
		return o, err
	}
	out, err := exec.Command(exe, openChild, dir).Output() //nolint:noctx // ends by itself
	if err != nil {
		return o, fmt.Errorf("child: %w", err)
	}
	return o, json.Unmarshal(out, &o)
}

func vaultChild(args []string) error {
	pw, err := password()
	if err != nil {
		return err
	}
	o := opened{}
	if o.Argon, err = argonTime(); err != nil {
		return err
	}
	start := time.Now()
	a, err := vault.Open(benchConfig(args[0]), pw)
	o.Unlock = time.Since(start)
	if err != nil {
		return err
	}
	defer a.Lock()
	if f := a.Findings(); len(f) > 0 {
		return fmt.Errorf("findings: %s", f[0].Text)
	}
	if o.RSS, err = resident("self"); err != nil {
		return err
	}
	v := a.Vaults()[0]
	start = time.Now()
	list := v.List()
	o.List = time.Since(start)
	it, err := v.Open(list[len(list)/2].ID)
	if err != nil {
		return err
	}
	defer it.Destroy()
	const writes = 20
	start = time.Now()
	for range writes {
		if err := v.Save(it); err != nil {
			return err
		}
	}
	o.Write = time.Since(start) / writes
	return json.NewEncoder(os.Stdout).Encode(o)
}

// resident is the resident memory of a process, a pid or "self", in KiB; 0 where the system does not tell.
func resident(process string) (int64, error) {
	status, err := os.ReadFile(filepath.Join("/proc", process, "status"))
	if os.IsNotExist(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmRSS:"); ok {
			return strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		}
	}
	return 0, lines.Err()
}

// argonTime is the cost of the standard password stretching alone, in memory that is new from the system, as an unlock has it. It is
// taken right before each unlock that it is subtracted from, since it varies more than what is measured.
func argonTime() (time.Duration, error) {
	root, err := seal.NewRootKey()
	if err != nil {
		return 0, err
	}
	defer root.Destroy()
	pw, err := password()
	if err != nil {
		return 0, err
	}
	defer pw.Destroy()
	ds, err := secret.Random(32)
	if err != nil {
		return 0, err
	}
	defer ds.Destroy()
	slot := seal.PasswordSlot{Account: seal.NewID(), Epoch: 1, KDF: seal.StandardKDF(), DeviceSecret: true}
	debug.FreeOSMemory()
	start := time.Now()
	_, err = seal.WrapRootForPassword(root, pw, ds, slot)
	took := time.Since(start)
	debug.FreeOSMemory()
	return took, err
}

// syncTime is the median cost of one fsync of a small new file in dir.
func syncTime(dir string) (time.Duration, error) {
	var all []time.Duration
	for i := range 50 {
		f, err := os.Create(filepath.Join(dir, "sync-"+strconv.Itoa(i)))
		if err != nil {
			return 0, err
		}
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := f.Sync(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(start))
		if err := f.Close(); err != nil {
			return 0, err
		}
	}
	slices.Sort(all)
	return all[len(all)/2].Round(time.Microsecond), nil
}

// smallUnlock is the median unlock of an account with one item less its password stretching.
func smallUnlock(dir string) (time.Duration, error) {
	pw, err := password()
	if err != nil {
		return 0, err
	}
	a, kit, err := vault.Create(benchConfig(dir), pw)
	if err != nil {
		return 0, err
	}
	kit.Destroy()
	it, err := benchItem(0)
	if err != nil {
		return 0, err
	}
	if err := a.Vaults()[0].Save(it); err != nil {
		return 0, err
	}
	a.Lock()
	var all []time.Duration
	for range rounds {
		argon, err := argonTime()
		if err != nil {
			return 0, err
		}
		start := time.Now()
		a, err := vault.Open(benchConfig(dir), pw)
		if err != nil {
			return 0, err
		}
		all = append(all, time.Since(start)-argon)
		a.Lock()
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
