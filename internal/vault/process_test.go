package vault_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"warder/internal/vault"
)

// processJobs are what several processes do at once.
func processJobs() map[string]func(*testing.T, job) {
	return map[string]func(*testing.T, job){
		"adding items":           addItems,
		"counting":               countTogether,
		"counting for ever":      countForEver,
		"editing":                editOnce,
		"guessing":               guess,
		"unlocking at full cost": unlockAtFullCost,
		"making a vault":         createOneVault,
		"changing passwords":     changePasswords,
	}
}

// together starts processes that do these jobs, lets them all unlock first and then run at the same time, and returns what they reported.
func together(t *testing.T, jobs ...job) []map[string]string {
	t.Helper()
	children := make([]*child, len(jobs))
	gates := make([]io.Closer, len(jobs))
	for i, j := range jobs {
		cmd := command(t, j)
		gate, err := cmd.StdinPipe()
		must(t, err)
		children[i], gates[i] = startChild(t, cmd), gate
	}
	for _, c := range children {
		c.await("ready")
	}
	for _, g := range gates {
		must(t, g.Close())
	}
	reports := make([]map[string]string, len(jobs))
	for i, c := range children {
		var killed bool
		if reports[i], killed = c.wait(); killed {
			t.Errorf("child %d was killed", i)
		}
	}
	return reports
}

// ready says that this process has unlocked and waits for the others.
func ready(t *testing.T) {
	t.Helper()
	tell("ready")
	_, err := io.ReadAll(os.Stdin)
	must(t, err)
}

// TestU_152_ProcessesAddAtOnce lets eight processes add to one account at the same time. Unlocking at the same time must not look like
// guessing either.
func TestU_152_ProcessesAddAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	addAtOnce(t, s, 8, 25)
}

func addAtOnce(t *testing.T, s scene, processes, each int) {
	t.Helper()
	a, _ := create(t, s.account())
	a.Lock()
	jobs := make([]job, processes)
	for i := range jobs {
		jobs[i] = job{Name: "adding items", Dir: s.dir, Count: each, Text: fmt.Sprintf("K%d", i)}
	}
	together(t, jobs...)
	a = open(t, s.account())
	v := firstVault(t, a)
	for i := range processes {
		for k := range each {
			name := fmt.Sprintf("K%d_%d", i, k)
			if text, _ := firstValue(t, v, find(t, v, name)); text != "value of "+name {
				t.Errorf("%s has the value %q", name, text)
			}
		}
	}
	quiet(t, a, processes*each)
	nothingLeftOver(t, s.account(), a)
}

// quiet wants so many items in the first vault, no conflict and no finding.
func quiet(t *testing.T, a *vault.Account, items int) {
	t.Helper()
	found, err := a.Check()
	must(t, err)
	if len(found) > 0 {
		t.Errorf("findings: %q", texts(found))
	}
	list := firstVault(t, a).List()
	if len(list) != items {
		t.Errorf("%d items, want %d", len(list), items)
	}
	for _, m := range list {
		if m.Conflict || m.State != vault.StateOK {
			t.Errorf("%s: conflict %v, state %s", m.Name, m.Conflict, m.State)
		}
	}
}

func addItems(t *testing.T, j job) {
	a := open(t, sceneAt(j.Dir).config(j))
	v := firstVault(t, a)
	ready(t)
	for k := range j.Count {
		name := fmt.Sprintf("%s_%d", j.Text, k)
		save(t, v, newItem(t, name, "value of "+name))
	}
}

// config is the account on the device that the job names.
func (s scene) config(j job) vault.Config {
	if j.Second {
		return s.second()
	}
	return s.account()
}

// TestU_152_ProcessesEditOneItem: of two processes that edit the same revision one is told so, and what the other wrote stays.
func TestU_152_ProcessesEditOneItem(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a, _ := create(t, s.account())
	v := firstVault(t, a)
	save(t, v, newItem(t, "shared", "from the beginning"))
	reports := together(t, job{Name: "editing", Dir: s.dir, Text: "from A"}, job{Name: "editing", Dir: s.dir, Text: "from B"})
	won := -1
	for i, r := range reports {
		switch r["saved"] {
		case "ok":
			won = i
		case vault.ErrChanged.Error():
		default:
			t.Errorf("process %d: %v", i, r)
		}
	}
	if won < 0 || reports[1-won]["saved"] == "ok" {
		t.Fatalf("not exactly one succeeded: %v", reports)
	}
	// The process that saw nothing of this still has the first revision in its hands.
	stale, err := v.Open(find(t, v, "shared"))
	must(t, err)
	defer stale.Destroy()
	stale.Fields[0].Put(value(t, "from the one that slept"))
	if err := v.Save(stale); !errors.Is(err, vault.ErrChanged) {
		t.Errorf("saving a stale item: %v", err)
	}
	if text, _ := firstValue(t, v, find(t, v, "shared")); text != reports[won]["text"] {
		t.Errorf("found %q, but %q was written", text, reports[won]["text"])
	}
	history, err := v.History(find(t, v, "shared"))
	must(t, err)
	if len(history) != 2 {
		t.Errorf("%d revisions, want 2", len(history))
	}
	quiet(t, a, 1)
}

func editOnce(t *testing.T, j job) {
	a := open(t, sceneAt(j.Dir).account())
	v := firstVault(t, a)
	it, err := v.Open(find(t, v, "shared"))
	must(t, err)
	defer it.Destroy()
	it.Fields[0].Put(value(t, j.Text))
	ready(t)
	err = v.Save(it)
	switch {
	case err == nil:
		tell("saved", "ok")
	case errors.Is(err, vault.ErrChanged):
		tell("saved", vault.ErrChanged)
	default:
		tell("saved", err)
	}
	tell("text", j.Text)
}

// TestU_152_ProcessesCount: processes that repeat a refused edit lose none.
func TestU_152_ProcessesCount(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a, _ := create(t, s.account())
	save(t, firstVault(t, a), newItem(t, "counter", "0"))
	a.Lock()
	together(t, job{Name: "counting", Dir: s.dir, Count: 20}, job{Name: "counting", Dir: s.dir, Count: 20}, job{Name: "counting", Dir: s.dir, Count: 20})
	a = open(t, s.account())
	v := firstVault(t, a)
	if text, _ := firstValue(t, v, find(t, v, "counter")); text != "60" {
		t.Errorf("counted to %s, want 60", text)
	}
	quiet(t, a, 1)
	nothingLeftOver(t, s.account(), a)
}

func countTogether(t *testing.T, j job) {
	a := open(t, sceneAt(j.Dir).account())
	v := firstVault(t, a)
	ready(t)
	for done := 0; done < j.Count; {
		err := countOne(t, v)
		if err == nil {
			done++
		} else if !errors.Is(err, vault.ErrChanged) {
			t.Fatal(err)
		}
	}
}

func countOne(t *testing.T, v *vault.Vault) error {
	it, err := v.Open(find(t, v, "counter"))
	if err != nil {
		return err
	}
	defer it.Destroy()
	n := number(t, string(bytesOf(t, it.Fields[0].Value)))
	it.Fields[0].Put(value(t, strconv.Itoa(n+1)))
	return v.Save(it)
}

// TestU_152_PasswordChangesWhileOthersWrite: neither disturbs the other.
func TestU_152_PasswordChangesWhileOthersWrite(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a, kit := create(t, s.account())
	s.keep(t, "code", kit.RecoveryCode)
	a.Lock()
	together(t,
		job{Name: "adding items", Dir: s.dir, Count: 40, Text: "K"},
		job{Name: "changing passwords", Dir: s.dir, Count: 5},
	)
	if _, err := vault.Open(s.later(s.account()), value(t, password)); !errors.Is(err, vault.ErrWrongPassword) {
		t.Errorf("the first password: %v", err)
	}
	a, err := vault.Open(s.later(s.account()), value(t, passwordNumber(5)))
	must(t, err)
	quiet(t, a, 40)
	nothingLeftOver(t, s.account(), a)
	a.Lock()
	a, fresh, err := vault.Recover(s.later(s.account()), s.kept(t, "code"), value(t, freshPassword))
	must(t, err)
	fresh.Destroy()
	a.Lock()
}

func passwordNumber(n int) string {
	if n == 0 {
		return password
	}
	return strings.Repeat("tulip ", n) + freshPassword
}

func changePasswords(t *testing.T, j job) {
	a := open(t, sceneAt(j.Dir).account())
	ready(t)
	for n := range j.Count {
		must(t, a.ChangePassword(value(t, passwordNumber(n)), value(t, passwordNumber(n+1))))
	}
}

// TestVaultOfAnotherProcess: a vault that one process made is there for another that is open, once it looks or writes.
func TestVaultOfAnotherProcess(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(*testing.T, *vault.Account){
		"by looking": func(t *testing.T, a *vault.Account) {
			found, err := a.Check()
			must(t, err)
			if len(found) > 0 {
				t.Errorf("findings: %q", texts(found))
			}
		},
		"by writing": func(t *testing.T, a *vault.Account) { save(t, firstVault(t, a), newItem(t, "mine", "value of mine")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			a, _ := create(t, s.account())
			together(t, job{Name: "making a vault", Dir: s.dir})
			look(t, a)
			v, err := a.Vault("work")
			must(t, err)
			if text, _ := firstValue(t, v, find(t, v, "theirs")); text != "value of theirs" {
				t.Errorf("found %q", text)
			}
			save(t, v, newItem(t, "ours", "value of ours"))
			if found := a.Findings(); len(found) > 0 {
				t.Errorf("findings: %q", texts(found))
			}
		})
	}
}

func createOneVault(t *testing.T, j job) {
	a := open(t, sceneAt(j.Dir).account())
	ready(t)
	v, err := a.CreateVault("work")
	must(t, err)
	save(t, v, newItem(t, "theirs", "value of theirs"))
}
