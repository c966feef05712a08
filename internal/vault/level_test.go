package vault_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/vault"
)

func allLevels() []vault.Level {
	return []vault.Level{vault.LevelUnset, vault.LevelNone, vault.LevelAsk, vault.LevelUse, vault.LevelRead}
}

// TestS2_48_Levels are four words for what agents may do, and none for what nobody decided, in the order of power.
func TestS2_48_Levels(t *testing.T) {
	words := []string{"unset", "none", "ask", "use", "read"}
	for i, l := range allLevels() {
		if l.String() != words[i] {
			t.Errorf("level %d is called %q", i, l)
		}
		if got, err := vault.ParseLevel(words[i]); err != nil || got != l {
			t.Errorf("%q is %v (%v)", words[i], got, err)
		}
		if i > 0 && l <= allLevels()[i-1] {
			t.Errorf("%s does not come after %s", l, allLevels()[i-1])
		}
	}
	for _, bad := range []string{"", "Use", "READ", " ask", "ask ", "level(5)", "write", "usé", "0", "none,read"} {
		if l, err := vault.ParseLevel(bad); err == nil || l != vault.LevelUnset {
			t.Errorf("%q is %v", bad, l)
		}
	}
	if got := vault.Level(7).String(); got != "level(7)" {
		t.Error(got)
	}
	var zero vault.Item
	if zero.Level != vault.LevelUnset || vault.Effective(zero.Level) != vault.LevelUnset {
		t.Error("a new item is open to somebody")
	}
}

// TestS2_49_C24_Effective: the widest source wins, so that what a project opens its linked items are too; an explicit none beats all.
func TestS2_49_C24_Effective(t *testing.T) {
	const unset, none, ask, use, read = vault.LevelUnset, vault.LevelNone, vault.LevelAsk, vault.LevelUse, vault.LevelRead
	for _, row := range []struct {
		name                         string
		item, project, stage, client vault.Level
		want                         vault.Level
	}{
		{"nothing is set", unset, unset, unset, unset, unset},
		{"only the item", use, unset, unset, unset, use},
		{"only the project", unset, use, unset, unset, use},
		{"only the stage", unset, unset, ask, unset, ask},
		{"only the client", unset, unset, unset, read, read},
		{"the project is wider", ask, use, unset, unset, use},
		{"the item is wider", read, use, unset, unset, read},
		{"the client is wider", ask, use, ask, read, read},
		{"all alike", ask, ask, ask, ask, ask},
		{"none on the item", none, read, read, read, none},
		{"none on the project", read, none, read, read, none},
		{"none on the stage", read, read, none, read, none},
		{"none for the client", read, read, read, none, none},
		{"none and nothing else", none, unset, unset, unset, none},
		{"none beats unset", unset, unset, unset, none, none},
	} {
		if got := vault.Effective(row.item, row.project, row.stage, row.client); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	if got := vault.Effective(); got != unset {
		t.Errorf("of nothing: %s", got)
	}
}

// TestEffectiveIsAJoin: the order in which sources are asked, and asking one twice, changes nothing; and nothing is opened that no
// source opens.
func TestEffectiveIsAJoin(t *testing.T) {
	level := rapid.SampledFrom(allLevels())
	rapid.Check(t, func(t *rapid.T) {
		grants := rapid.SliceOfN(level, 0, 6).Draw(t, "grants")
		want := vault.Effective(grants...)
		if got := vault.Effective(rapid.Permutation(grants).Draw(t, "order")...); got != want {
			t.Fatalf("%s in another order", got)
		}
		if got := vault.Effective(append(slices.Clone(grants), grants...)...); got != want {
			t.Fatalf("%s twice", got)
		}
		at := rapid.IntRange(0, len(grants)).Draw(t, "at")
		if got := vault.Effective(vault.Effective(grants[:at]...), vault.Effective(grants[at:]...)); got != want {
			t.Fatalf("%s in two steps", got)
		}
		if want != vault.LevelUnset && !slices.Contains(grants, want) {
			t.Fatalf("%s comes from nowhere", want)
		}
		if slices.Contains(grants, vault.LevelNone) != (want == vault.LevelNone) {
			t.Fatalf("%v gives %s", grants, want)
		}
	})
}
