package vault_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"warder/internal/seal"
	"warder/internal/testkit"
	"warder/internal/vault"
)

// userCase is one line of testdata/cases/users.jsonl, as far as the vault's kinds use the format. Unknown fields fail the test: a check
// nobody runs is no check.
type userCase struct {
	ID     string `json:"id"`
	Source string `json:"source"`
	Kind   string `json:"kind"`
	Issue  string `json:"issue"`
	Setup  struct {
		Umask string                     `json:"umask"`
		Vault map[string]json.RawMessage `json:"vault"`
		FS    struct {
			TmpfsMB int `json:"tmpfs_mb"`
		} `json:"fs"`
		Break  string `json:"break"`
		Inject string `json:"inject"`
	} `json:"setup"`
	Action []caseStep   `json:"action"`
	Expect []caseExpect `json:"expect"`
}

// caseStep is something that a user does. Commands stand for what they do to the account.
type caseStep struct {
	Do      string    `json:"do"`
	N       int       `json:"n"`
	Each    *caseStep `json:"each"`
	Argv    []string  `json:"argv"`
	Stdin   string    `json:"stdin"`
	Command string    `json:"command"`
	Inject  []string  `json:"inject"`
}

// caseExpect is what must come of it. Exit 0 is success, another one an error; its text is what goes to standard error.
type caseExpect struct {
	Step       int               `json:"step"`
	Exit       *int              `json:"exit"`
	ExitNot    *int              `json:"exit_not"`
	StderrHas  []string          `json:"stderr_has_any"`
	LinesLeast int               `json:"stdout_lines_at_least"`
	Modes      map[string]string `json:"state_modes"`
	Any        []caseExpect      `json:"any"`
	Note       string            `json:"note"`
}

// caseRunners map each case onto this package.
func caseRunners() map[string]func(*testing.T, userCase) {
	return map[string]func(*testing.T, userCase){
		"state.modes":           caseModes,
		"install.store-refuses": caseStoreRefuses,
		"state.concurrent":      caseConcurrent,
		"state.disk-full":       caseDiskFull,
		"state.no-locks":        caseNoLocks,
	}
}

func TestUsersCases(t *testing.T) {
	data, err := os.ReadFile("testdata/cases/users.jsonl")
	must(t, err)
	var ids []string
	for line := range bytes.Lines(data) {
		var c userCase
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		must(t, d.Decode(&c))
		ids = append(ids, c.ID)
		t.Run(c.ID, func(t *testing.T) {
			do, ok := caseRunners()[c.Kind]
			if !ok {
				t.Fatalf("nothing runs cases of kind %q", c.Kind)
			}
			do(t, c)
		})
	}
	slices.Sort(ids)
	if want := []string{"U-151-1", "U-152-1", "U-153-1", "U-154-1", "U-20-1"}; !slices.Equal(ids, want) {
		t.Errorf("cases %v, want %v", ids, want)
	}
}

// check judges one step's outcome.
func (e caseExpect) check(t *testing.T, err error) {
	t.Helper()
	if !e.met(err) {
		t.Errorf("%+v is not what came: %v", e, err)
	}
}

func (e caseExpect) met(err error) bool {
	if len(e.Any) > 0 {
		return slices.ContainsFunc(e.Any, func(e caseExpect) bool { return e.met(err) })
	}
	if e.Exit != nil && (*e.Exit == 0) != (err == nil) || e.ExitNot != nil && (*e.ExitNot == 0) == (err == nil) {
		return false
	}
	return len(e.StderrHas) == 0 || err != nil && slices.ContainsFunc(e.StderrHas, func(word string) bool { return strings.Contains(err.Error(), word) })
}

// caseModes makes an account under the case's umask.
func caseModes(t *testing.T, c userCase) {
	needModes(t)
	if testkit.AsUser(t) || belowShell(t, "umask "+c.Setup.Umask+`; exec "$@"`) {
		return
	}
	if want := c.Expect[0].Modes; want["dirs"] != "700" || want["files"] != "600" {
		t.Fatalf("wanted: %v", want)
	}
	modesOfAnAccount(t)
}

// caseStoreRefuses adds to a vault whose folder can't be written.
func caseStoreRefuses(t *testing.T, c userCase) {
	needModes(t)
	if testkit.AsUser(t) {
		return
	}
	if c.Setup.Break != "vault folder read-only" {
		t.Fatal(c.Setup.Break)
	}
	cfg, a, _ := newAccount(t)
	chmodDirs(t, cfg.AccountDir, 0o500)
	step := c.Action[0]
	err := firstVault(t, a).Save(newItem(t, step.Argv[1], strings.TrimSpace(step.Stdin)))
	for _, e := range c.Expect {
		e.check(t, err)
	}
	chmodDirs(t, cfg.AccountDir, 0o700)
	quiet(t, open(t, cfg), 0)
}

// caseConcurrent adds from several processes at once.
func caseConcurrent(t *testing.T, c userCase) {
	step, want := c.Action[0], 0
	for _, e := range c.Expect {
		want += e.LinesLeast
	}
	if step.Do != "parallel" || step.Each.Do != "cli_loop" || step.N*step.Each.N != want {
		t.Fatalf("unexpected: %+v", c)
	}
	addAtOnce(t, newScene(t), step.N, step.Each.N)
}

// caseDiskFull adds while the disk is full, and looks when it is not any more.
func caseDiskFull(t *testing.T, c userCase) {
	if onDisks(t) {
		return
	}
	if c.Setup.FS.TmpfsMB != 2 || len(c.Setup.Vault) != 1 {
		t.Fatalf("unexpected: %+v", c.Setup)
	}
	cfg := onDisk()
	a, _ := create(t, cfg)
	v := firstVault(t, a)
	save(t, v, newItem(t, "S1", "value of S1"))
	frees := []func(){fill(t, "data", 0), fill(t, "state", 0)}
	err := v.Save(newItem(t, c.Action[1].Argv[1], strings.Repeat("q", 20_000)))
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	for _, free := range frees {
		free()
	}
	for _, e := range c.Expect {
		switch e.Step {
		case 2:
			e.check(t, err)
		case 4:
			b, err := vault.Open(cfg, value(t, password))
			if err == nil {
				_, err = firstVault(t, b).Find(vault.KindItem, seal.ID{}, c.Action[3].Argv[1])
				b.Lock()
			}
			e.check(t, err)
		default:
			t.Errorf("unexpected: %+v", e)
		}
	}
}

// caseNoLocks adds where the system refuses to lock files.
func caseNoLocks(t *testing.T, c userCase) {
	if !strings.Contains(c.Setup.Inject, "ENOLCK") {
		t.Fatal(c.Setup.Inject)
	}
	if withoutLocks(t) {
		return
	}
	cfg := lockless(t)
	a, err := vault.Open(cfg, value(t, password))
	if err == nil {
		step := c.Action[0]
		err = firstVault(t, a).Save(newItem(t, step.Argv[1], strings.TrimSpace(step.Stdin)))
		a.Lock()
	}
	for _, e := range c.Expect {
		e.check(t, err)
	}
}
