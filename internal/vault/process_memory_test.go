package vault_test

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"warder/internal/seal"
	"warder/internal/vault"
)

// TestMemoryIsGivenBack unlocks at full cost in a process of its own. Argon2id takes 128 MiB for that; afterwards the system has them again.
func TestMemoryIsGivenBack(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("no /proc that tells what memory a process has")
	}
	if vault.RaceDetector {
		t.Skip("the race detector's own memory is larger than what is measured")
	}
	s := newScene(t)
	cfg := s.account()
	cfg.KDF = seal.KDF{} // the standard one
	a, _ := create(t, cfg)
	a.Lock()
	reports, _ := runChild(t, job{Name: "unlocking at full cost", Dir: s.dir})
	before, peak, after := number(t, reports["before"]), number(t, reports["peak"]), number(t, reports["after"])
	t.Logf("%d KiB before, at most %d KiB, %d KiB after unlocking", before, peak, after)
	if peak-before < 120<<10 {
		t.Errorf("the peak is only %d KiB above the start: was that the full cost?", peak-before)
	}
	if after-before > 32<<10 {
		t.Errorf("%d KiB stay", after-before)
	}
}

func unlockAtFullCost(t *testing.T, j job) {
	cfg := sceneAt(j.Dir).account()
	cfg.KDF = seal.KDF{}
	tell("before", memoryOf(t, "VmRSS"))
	a := open(t, cfg)
	tell("after", memoryOf(t, "VmRSS"))
	tell("peak", memoryOf(t, "VmHWM"))
	a.Lock()
}

// memoryOf reads one number of KiB that the system keeps of this process.
func memoryOf(t *testing.T, name string) int {
	t.Helper()
	for line := range strings.Lines(string(readFile(t, "/proc/self/status"))) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			must(t, err)
			return n
		}
	}
	t.Fatalf("the system does not tell %s", name)
	return 0
}

// TestLockedAccountDoesNothing calls everything that can fail on an account that is locked. A method that is new must be added here.
func TestLockedAccountDoesNothing(t *testing.T) {
	_, a, _ := newAccount(t)
	v := firstVault(t, a)
	save(t, v, newItem(t, "S1", "value of S1"))
	it, err := v.Open(find(t, v, "S1"))
	must(t, err)
	defer it.Destroy()
	a.Lock()
	a.Lock() // twice is fine

	origin := vault.Origin{By: vault.ByPerson}
	stage := vault.StageChange{Project: "p", Stage: "s", Origin: origin}
	calls := map[string]func() error{
		"Account.Check":          func() error { _, err := a.Check(); return err },
		"Account.Touch":          a.Touch,
		"Account.Vault":          func() error { _, err := a.Vault(vault.DefaultVault); return err },
		"Account.CreateVault":    func() error { _, err := a.CreateVault("x"); return err },
		"Account.ChangePassword": func() error { return a.ChangePassword(value(t, password), value(t, freshPassword)) },
		"Account.NewKit":         func() error { _, err := a.NewKit(); return err },
		"Account.SetPassword":    func() error { return a.SetPassword(value(t, freshPassword)) },
		"OpenProof":              func() error { _, err := vault.OpenProof(a, vault.Presence{}, nil); return err },
		"Account.WithRoot":       func() error { return a.WithRoot(func(seal.RootKey) error { return nil }) },
		"Repair.AcceptRestore":   func() error { _, err := a.Repair().AcceptRestore(); return err },
		"Repair.NewDevice":       a.Repair().NewDevice,
		"Repair.Forget":          func() error { return a.Repair().Forget(v, it.ID) },
		"Repair.Orphans":         func() error { _, err := a.Repair().Orphans(); return err },
		"Repair.Adopt":           func() error { return a.Repair().Adopt(vault.Orphan{Vault: v.ID()}) },
		"Vault.Save":             func() error { return v.Save(it) },
		"Vault.Find":             func() error { _, err := v.Find(vault.KindItem, seal.ID{}, "S1"); return err },
		"Vault.Open":             func() error { _, err := v.Open(it.ID); return err },
		"Vault.Trash":            func() error { return v.Trash(it.ID, origin) },
		"Vault.Restore":          func() error { return v.Restore(it.ID, origin) },
		"Vault.Purge":            func() error { return v.Purge(it.ID) },
		"Vault.History":          func() error { _, err := v.History(it.ID); return err },
		"Vault.OpenRevision":     func() error { _, err := v.OpenRevision(it.ID, it.Rev()); return err },
		"Vault.Revert":           func() error { return v.Revert(it.ID, it.Rev(), origin) },
		"Vault.Undo":             func() error { _, err := v.Undo("tag", origin); return err },
		"Vault.PlanStage":        func() error { _, err := v.PlanStage(stage); return err },
		"Vault.ChangeStage":      func() error { _, err := v.ChangeStage(stage); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, vault.ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range failingMethods(a, v, a.Repair()) {
		if calls[name] == nil {
			t.Errorf("%s is not tried", name)
		}
	}
	if n := len(a.Vaults()) + len(a.Findings()) + len(v.List()) + len(a.StateCode()); n != 0 {
		t.Error("something is still told")
	}
	if v.Name() == vault.DefaultVault {
		t.Error("the vault's name is still told")
	}
}

// failingMethods lists the exported methods whose last result is an error.
func failingMethods(values ...any) []string {
	var names []string
	for _, v := range values {
		typ := reflect.TypeOf(v)
		for m := range typ.NumMethod() {
			method := typ.Method(m)
			if n := method.Type.NumOut(); n > 0 && method.Type.Out(n-1) == reflect.TypeFor[error]() {
				base := typ
				if base.Kind() == reflect.Pointer {
					base = base.Elem()
				}
				names = append(names, base.Name()+"."+method.Name)
			}
		}
	}
	return names
}

// TestLockWhileInUse locks an account in the middle of reading and writing: what was begun ends as it would, and what comes later fails.
func TestLockWhileInUse(t *testing.T) {
	cfg, a, _ := newAccount(t)
	v := firstVault(t, a)
	save(t, v, newItem(t, "shared", "value"))
	id := find(t, v, "shared")
	var wg sync.WaitGroup
	written := make([]int, 4)
	for i := range written {
		wg.Go(func() {
			for {
				if err := v.Save(newItem(t, fmt.Sprintf("L%d_%d", i, written[i]), "value")); err != nil {
					wantLocked(t, err)
					return
				}
				written[i]++
			}
		})
		wg.Go(func() {
			for {
				it, err := v.Open(id)
				if err != nil {
					wantLocked(t, err)
					return
				}
				it.Destroy()
				_, _, _ = v.List(), a.StateCode(), a.Findings()
			}
		})
	}
	for len(v.List()) < 20 {
		runtime.Gosched()
	}
	a.Lock()
	wg.Wait()
	total := 1
	for _, n := range written {
		total += n
	}
	quiet(t, open(t, cfg), total)
}

func wantLocked(t *testing.T, err error) {
	if !errors.Is(err, vault.ErrLocked) {
		t.Errorf("got %v, want ErrLocked", err)
	}
}

// TestNothingStaysBehind: an account that was used and locked leaves no goroutine and no open file.
func TestNothingStaysBehind(t *testing.T) {
	cfg, a, kit := newAccount(t)
	a.Lock()
	second := anotherDevice(t, cfg, kit)
	use := func() {
		for _, c := range []vault.Config{cfg, second} {
			b := open(t, c)
			v := firstVault(t, b)
			it := newItem(t, fmt.Sprint(seal.NewID()), "value")
			save(t, v, it)
			must(t, v.Purge(it.ID))
			_, err := b.Check()
			must(t, err)
			if _, err := b.Vault("none"); !errors.Is(err, vault.ErrNotFound) {
				t.Error(err)
			}
			b.Lock()
		}
		if _, err := vault.Open(cfg, value(t, "short")); !errors.Is(err, vault.ErrWrongPassword) {
			t.Error(err)
		}
		must(t, os.Remove(cfg.StateDir+"/device/attempts"))
		if _, _, err := vault.Create(cfg, value(t, password)); !errors.Is(err, vault.ErrExists) {
			t.Error(err)
		}
	}
	use() // whatever is opened once for good
	before := openFiles(t)
	for range 5 {
		use()
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d files are open, %d were before", after, before)
	}
	for range 1000 { // those that are done may still have to leave
		if workingGoroutines() == 0 {
			return
		}
		runtime.Gosched()
	}
	t.Errorf("%d goroutines of the vault are left", workingGoroutines())
}

// openFiles counts this process's open files, where that can be known.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	must(t, err)
	return len(list)
}

// workingGoroutines counts those that are in this package's code, its tests not included.
func workingGoroutines() int {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	n := 0
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		if strings.Contains(stack, "warder/internal/vault.") {
			n++
		}
	}
	return n
}
