package vault_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/vault"
)

// TestKilledAtEachStep kills a process with SIGKILL before, in and after every step of every write. Whenever that is, the next start
// finds the old content or the new one entire and nothing to complain about, the next write works, and after it there is no file that
// nothing lists.
func TestKilledAtEachStep(t *testing.T) {
	oneThread(t)
	for _, a := range acts() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			killAtEachStep(t, a)
		})
	}
}

// crash is an act under test.
type crash struct {
	act
	base          scene
	before, after string // contents
	turned        bool   // whether a kill has left the new content: from then on every later one must
}

func killAtEachStep(t *testing.T, a act) {
	if testing.Short() && a.long {
		t.Skip("with -short only the short acts are killed: this one is killed in the plain run")
	}
	a.long = a.long || testing.Short()
	c := crash{act: a, base: newScene(t)}
	a.prepare(t, c.base)
	c.before = c.content(t, c.base.copy(t))
	whole := c.base.copy(t)
	if _, killed := runChild(t, job{Name: a.name, Dir: whole.dir}); killed {
		t.Fatal("a child was killed that nobody meant to kill")
	}
	c.after = c.judge(t, whole)
	if c.before == c.after {
		t.Fatalf("the act changes nothing that can be seen:\n%s", c.after)
	}
	step, kills := 1, 0
	for ; ; step++ {
		n := c.killAt(t, step)
		if kills += n; n == 0 {
			break
		}
	}
	if !c.turned {
		t.Error("no kill left the new content")
	}
	t.Logf("%d kills at %d steps", kills, step-1)
}

// killAt kills the act at one step in each way. It returns how often: not at all if there is no such step.
func (c *crash) killAt(t *testing.T, step int) (kills int) {
	for how := c.ways("", step); len(how) > 0; how = how[1:] {
		s := c.base.copy(t)
		reports, killed := runChild(t, job{Name: c.name, Dir: s.dir, Die: death{step, how[0]}})
		if !killed {
			return 0
		}
		kills++
		where := reports["died"]
		if kills == 1 {
			operation, _, _ := strings.Cut(where, " ")
			how = c.ways(operation, step)
		}
		switch got := c.judge(t, s); {
		case got == c.after:
			c.turned = true
		case got != c.before:
			t.Errorf("neither the old nor the new content (-old +found):\n%s", cmp.Diff(c.before, got))
		case c.turned:
			t.Error("an earlier step left the new content, this one the old")
		}
		if t.Failed() {
			t.Fatalf("killed at step %d, %s, leaving %s", step, where, how[0])
		}
	}
	return kills
}

// ways are the remains to try at a step: all, or for a long act one after another with the steps.
func (c *crash) ways(operation string, step int) []remains {
	all := remainsOf(operation)
	if !c.long {
		return all
	}
	all = remainsOf("WriteNew")
	return all[step%len(all):][:1]
}

// content opens the account and tells what is in it.
func (c *crash) content(t *testing.T, s scene) string {
	t.Helper()
	found := c.look(t, s)
	if found.open != nil {
		found.open.Lock()
	}
	return found.content
}

// judge looks at what a crash left, wants nothing to complain about, does the next write and wants everything in order after it.
func (c *crash) judge(t *testing.T, s scene) string {
	t.Helper()
	found := c.look(t, s)
	if len(found.findings) > 0 {
		t.Errorf("false alarm: %q", found.findings)
	}
	if c.next != nil {
		c.next(t, s, found)
	} else {
		healed(t, found.cfg, found.open)
	}
	return found.content
}

// healed writes an item to an account that met a crash, reads everything again, and wants the item there, no finding, and no file that
// does not belong.
func healed(t *testing.T, cfg vault.Config, a *vault.Account) {
	t.Helper()
	defer a.Lock()
	if err := firstVault(t, a).Save(newItem(t, "next", "value of next")); err != nil {
		t.Errorf("the next write: %v", err)
		return
	}
	found, err := a.Check()
	if err != nil || len(found) > 0 {
		t.Errorf("after the next write: %v, %q", err, texts(found))
	}
	if text, _ := firstValue(t, firstVault(t, a), find(t, firstVault(t, a), "next")); text != "value of next" {
		t.Errorf("the next write left %q", text)
	}
	nothingLeftOver(t, cfg, a)
}

// nothingLeftOver wants exactly those files that what is in force names.
func nothingLeftOver(t *testing.T, cfg vault.Config, a *vault.Account) {
	t.Helper()
	want := vault.Listed(a)
	slices.Sort(want)
	if diff := cmp.Diff(want, files(t, cfg.AccountDir)); diff != "" {
		t.Errorf("files of the account (-listed +there):\n%s", diff)
	}
	local := []string{"device/keys", "device/secret", "device/seen", "write.lock"}
	if diff := cmp.Diff(local, files(t, cfg.StateDir)); diff != "" {
		t.Errorf("files of the device (-wanted +there):\n%s", diff)
	}
}
