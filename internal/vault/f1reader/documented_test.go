package f1reader

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// documented are all members that F1 names, as paths: [] stands for each
// element of a list, * for each key of a map. An asterisk in front marks those
// that are written always, even where they are zero.
const documented = `
	keyset: created prev roster roster.* slots slots[] slots[].box slots[].commit slots[].ds slots[].epoch
	keyset: slots[].kdf slots[].kdf.id slots[].kdf.lanes slots[].kdf.memory slots[].kdf.salt slots[].kdf.time
	keyset: slots[].kind slots[].salt
	card: created enrolled_by kem sign state
	item: *kind *name type tags tags[] fields fields[] level clients clients.* hosts hosts[] hosts[].host
	item: hosts[].methods hosts[].methods[] hosts[].paths hosts[].paths[] commands commands[] commands[].name
	item: commands[].path delivery delivery[] never_env max_uses expires origin origin.by origin.client origin.tag
	item: created modified trashed project links links[] *lamport *vector vector.* *writer parents parents[]
	item: history history[] conflicts rekey
	item: fields[].concealed fields[].level fields[].name fields[].nonsecret fields[].ref fields[].score
	item: fields[].section fields[].set fields[].type fields[].value
	root: *seq prev *keyset *keyset.epoch *keyset.hash *vk seen seen.* vaults vaults.* shards shards.*
	root: audit audit.head audit.seq *time lease
	shard: entries entries.* entries.*.dead entries.*.rev entries.*.vector entries.*.vector.*
	seen: gone gone.files gone.files[] gone.vault keyset keyset.epoch keyset.hash next next.files next.files[]
	seen: next.gone next.gone[] next.hash next.seq next.vault since since.* vaults vaults.* vaults.*.* vaults.*.*.hash
	seen: vaults.*.*.seq
`

// documentedMembers returns whether each path, with the kind of object in
// front, is written always.
func documentedMembers() map[string]bool {
	paths := map[string]bool{}
	for line := range strings.Lines(documented) {
		kind, names, _ := strings.Cut(strings.TrimSpace(line), ":")
		for _, name := range strings.Fields(names) {
			plain := strings.TrimPrefix(name, "*")
			paths[kind+":"+plain] = plain != name
		}
	}
	return paths
}

// mapMember matches the paths of maps, whose keys are ids, shard numbers or
// names that users choose.
var mapMember = regexp.MustCompile(`(^|\.)(roster|clients|vector|seen|vaults|vaults\.\*|shards|entries|since)$`)

// walk calls visit for each member below v with its path.
func walk(v any, path string, visit func(path string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			below := key
			if mapMember.MatchString(path) {
				below = "*"
			}
			if path != "" {
				below = path + "." + below
			}
			visit(below, value)
			walk(value, below, visit)
		}
	case []any:
		for _, value := range v {
			visit(path+"[]", value)
			walk(value, path+"[]", visit)
		}
	}
}

// objectsOf are all objects that a store holds, by kind.
func objectsOf(a *account, l *local) map[string][]map[string]any {
	all := map[string][]map[string]any{"keyset": {a.keyset.json}, "seen": {l.seen.json}}
	for _, c := range a.cards {
		all["card"] = append(all["card"], c.json)
	}
	for _, v := range a.vaults {
		for _, r := range v.roots {
			all["root"] = append(all["root"], r.json)
		}
		for _, s := range v.shards {
			all["shard"] = append(all["shard"], s.json)
		}
		for _, i := range v.items {
			for _, r := range slices.Concat(i.opened, i.history) {
				all["item"] = append(all["item"], r.json)
			}
		}
	}
	return all
}

// openBoth opens the fixture and its local files.
func openBoth(t *testing.T) (*account, *local) {
	t.Helper()
	store, state := copyFixture(t)
	a := unlocked(t, store)
	l, err := readLocal(state, a.ark, a.id)
	if err != nil {
		t.Fatal(err)
	}
	return a, l
}

// TestF1_1_MembersAreDocumented checks that the real writer writes no member
// that F1 does not name, and none that is zero but for those that F1 writes
// always.
func TestF1_1_MembersAreDocumented(t *testing.T) {
	a, l := openBoth(t)
	known := documentedMembers()
	for kind, objects := range objectsOf(a, l) {
		for _, members := range objects {
			met := map[string]bool{}
			walk(members, "", func(path string, v any) {
				met[kind+":"+path] = true
				always, there := known[kind+":"+path]
				if !there {
					t.Errorf("%s has an undocumented member %s", kind, path)
				}
				if zero(v) && !always && !strings.HasSuffix(path, "*") && !strings.HasSuffix(path, "[]") {
					t.Errorf("%s has a zero member %s", kind, path)
				}
			})
			for path, always := range known {
				if always && !met[path] && strings.HasPrefix(path, kind+":") {
					t.Errorf("no member %s", path)
				}
			}
		}
	}
}

// zero reports whether a value is what an absent member stands for.
func zero(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	default:
		return v == "" || v == int64(0) || v == false
	}
}

// TestF1_5_ItemsKeepTheRules checks what F1.5 says of an item's members beyond
// their types.
func TestF1_5_ItemsKeepTheRules(t *testing.T) {
	a, _ := openBoth(t)
	for _, v := range a.vaults {
		for name, i := range v.items {
			for _, r := range slices.Concat(i.opened, i.history) {
				for _, fault := range r.faults() {
					t.Errorf("item %s: %s", name, fault)
				}
			}
		}
	}
}

// The words that F1.5 allows.
const (
	allowedKinds    = "item project stage vault"
	allowedTypes    = "login password api-token ssh-key database certificate note card identity other"
	allowedLevels   = "none ask use read"
	allowedDelivery = "broker env file stdin agent-socket"
)

// faults are the rules of F1.5 that a revision breaks.
func (r *revision) faults() []string {
	var faults []string
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	among := func(what, word, words string) {
		check(slices.Contains(strings.Fields(words), word), "%s %q", what, word)
	}
	among("kind", r.kind, allowedKinds)
	if r.kind == "item" {
		among("type", r.typ, allowedTypes)
	} else {
		check(r.typ == "", "type of a %s", r.kind)
	}
	check(validName(r.name), "name %q", r.name)
	for level := range maps.Values(r.clients) {
		among("level", level, allowedLevels)
	}
	if r.level != "" {
		among("level", r.level, allowedLevels)
	}
	for _, way := range r.delivery {
		among("delivery", way, allowedDelivery)
	}
	check(len(r.history) <= 10, "history of %d", len(r.history))
	check(r.lamport > 0 && r.vector[r.writer] > 0, "writer without a count")
	check((r.kind == "stage") == (r.project != nil), "project of a %s", r.kind)
	names := map[string]bool{}
	for _, f := range r.fields {
		key := f.section + "\x00" + f.name
		if r.kind != "stage" {
			key = strings.ToLower(key)
		}
		check(!names[key], "field %q twice", f.name)
		check(f.score <= 4, "score %d", f.score)
		check(slices.Contains([]string{"", "person", "agent"}, f.nonsecret), "nonsecret %q", f.nonsecret)
		names[key] = true
	}
	return faults
}

// validName reports whether a name keeps the rules.
func validName(name string) bool {
	forbidden := func(r rune) bool {
		return r == '/' || unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
	}
	return len(name) > 0 && len(name) <= 128 && norm.NFC.IsNormalString(name) &&
		!strings.ContainsFunc(name, forbidden) && strings.IndexAny(name, "-.") != 0
}
