package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/e2e/person"
	"warder/internal/testkit"
)

// planted are the values that are looked for, by how they came to warder.
type planted struct{ typed, piped, imported, edited, agents string }

// TestCanary stores values in every way there is, lets everything happen to them
// but showing them, and then looks for them everywhere.
func TestCanary(t *testing.T) {
	w := start(t, person.Options{})
	h, kit := moveIn(t, w, w.Terminal(t, person.Shell{}), "warder setup")
	v := planted{token("typed-"), token("piped-"), token("imported-"), token("edited-"), token("agents-")}
	shown := len(h.door.Screen()) // the kit is on the screen this once
	search := testkit.NewSearch(t,
		testkit.Canary{Name: "recovery code", Value: []byte(recoveryCode(t, kit))},
		testkit.Canary{Name: "typed value", Value: []byte(v.typed)},
		testkit.Canary{Name: "piped value", Value: []byte(v.piped)},
		testkit.Canary{Name: "imported value", Value: []byte(v.imported)},
		testkit.Canary{Name: "edited value", Value: []byte(v.edited)},
		testkit.Canary{Name: "value of an agent", Value: []byte(v.agents)},
		testkit.Canary{Name: "password", Value: []byte(h.password)},
		testkit.Canary{Name: "mistyped password", Value: []byte(h.password[:len(h.password)-1])},
	)
	unseen := watch(t, h, v.typed, v.piped, v.imported, v.edited, v.agents, h.password, recoveryCode(t, kit))
	said := useValues(t, h, v)
	unseen(t)

	lookEverywhere(t, h, search, "while unlocked")
	h.lock(t)
	lookEverywhere(t, h, search, "while locked")
	search.RequireCleanBytes(t, "the terminal", []byte(h.door.Screen()[shown:]))
	h.mustRun(t, "warder daemon stop")
	h.door.Type(t, "exit\n") // the shell writes its history
	h.door.Expect(t, "exit\r\n")
	search.RequireCleanBytes(t, "what the agents saw", []byte(said))
	search.RequireClean(t, h.Dir())
}

// useValues stores the values and lets everything happen to them. It returns all
// that agents saw.
func useValues(t *testing.T, h *house, v planted) (said string) {
	t.Helper()
	h.door.Begin(t, "warder item add mail --type password")
	h.door.Answer(t, askStored, v.typed)
	wantsShown(t, "add", h.door.Finish(t), 0, ``)
	h.add(t, v.piped, "github --type api-token --level use")
	file := filepath.Join(t.TempDir(), ".env") // outside of the world, whose files are searched
	if err := os.WriteFile(file, []byte("API_KEY="+v.imported+"\nbroken line "+v.imported+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.door.Run(t, "warder import "+file+" --project shop --stage test --level use --dry-run --json")
	h.door.Run(t, "warder import "+file+" --project shop --stage test --level use --yes")
	if err := os.WriteFile(file, []byte("API_KEY="+v.imported+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.mustRun(t, "warder import "+file+" --project shop --stage test --level use --yes")
	said = storeByAgent(t, h, v.agents)
	h.door.Begin(t, "warder item edit mail --field password --tag x")
	h.door.Answer(t, askStored, v.edited)
	wantsShown(t, "edit", h.door.Finish(t), 0, ``)
	h.door.Begin(t, "warder item show github --reveal")
	h.door.Answer(t, askProof, h.password[:len(h.password)-1])
	h.door.Expect(t, wrong)
	h.door.Answer(t, askProof, "\x03")
	h.door.Finish(t)

	return said
}

// watch begins to watch the processes of the world for values. The function that
// it returns ends that, and fails where one was seen.
func watch(t *testing.T, h *house, values ...string) (unseen func(t *testing.T)) {
	t.Helper()
	control := token("control-")
	var list [][]byte
	for _, v := range append(values, control) {
		list = append(list, []byte(v))
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	stop := filepath.Join(t.TempDir(), "stop")
	watcher := h.Background(t, person.Command{Argv: []string{h.Program(t, "watcher"), watcherPart, stop}, Stdin: string(text)})
	held := h.Background(t, person.Command{
		Argv: []string{"sh", "-c", `until [ -e "$1" ]; do sleep 0.1; done`, "sh", stop}, Env: []string{"CONTROL=" + control},
	})
	return func(t *testing.T) {
		t.Helper()
		if err := os.WriteFile(stop, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		held(t)
		found := decode[sightings](t, watcher(t).Stdout)
		if found.Programs["warder"] == 0 {
			t.Errorf("the watcher saw no warder, but %v", found.Programs)
		}
		controlled := false
		for _, hit := range found.Hits {
			if strings.HasPrefix(hit, fmt.Sprintf("value %d in environment", len(values))) {
				controlled = true
				continue
			}
			t.Errorf("seen: %s", hit)
		}
		if !controlled {
			t.Error("the watcher did not see the value that was put there for it")
		}
	}
}

// storeByAgent lets an agent store a value, try everything with it, and returns
// all that it saw.
func storeByAgent(t *testing.T, h *house, value string) string {
	t.Helper()
	said := ""
	for _, row := range []agentRow{
		{args: []string{"item", "add", "mine", "--type", "api-token"}, stdin: value},
		{args: []string{"item", "show", "mine", "--reveal"}},
		{args: []string{"item", "show", "mine", "--json"}},
		{args: []string{"item", "list", "--json"}},
		{args: []string{"export", "--format", "json"}},
		{args: []string{"project", "show", "shop", "--json"}},
		{args: []string{"item", "history", "mine"}},
		{args: []string{"audit", "tail", "-n", "1000", "--json"}},
		{args: []string{"import", "-", "--project", "shop", "--stage", "test", "--yes"}, stdin: "API_KEY=" + value + "\n"},
		{args: []string{"import", "-", "--project", "shop", "--stage", "test", "--yes"}, stdin: value + "\x00=" + value + "\n"},
		{args: []string{"status", "--json"}},
		{args: []string{"doctor"}},
	} {
		r := h.agent(t, row.stdin, row.args...)
		said += r.Stdout + r.Stderr
	}
	return said
}

// lookEverywhere searches the files of the world and what /proc shows of its
// processes.
func lookEverywhere(t *testing.T, h *house, search *testkit.Search, when string) {
	t.Helper()
	search.RequireClean(t, h.Dir())
	r := h.Run(t, person.Command{Argv: []string{"sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ /proc/[0-9]*/comm 2>/dev/null"}})
	if !strings.Contains(r.Stdout, "WARDER_HOME=") || !strings.Contains(r.Stdout, "kitty") {
		t.Errorf("%s: the search of /proc saw too little: %q", when, r.Stdout)
	}
	search.RequireCleanBytes(t, "/proc "+when, []byte(r.Stdout))
}
