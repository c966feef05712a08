package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api"
	"warder/internal/state"
)

// TestHolderIsNamedOnlyIfItIsThatProcess: a hint to kill must not hit whoever
// has the pid by now, or has it in this pid namespace.
func TestHolderIsNamedOnlyIfItIsThatProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	dir, err := state.CreateDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	place := claim{&Daemon{state: dir}}
	if err := place.noteHolder(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(path, holderFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		change func(*holder)
		pid    int
		sure   bool
	}{
		{"itself", func(*holder) {}, ownPID(), true},
		{"another boot", func(h *holder) { h.Boot = "00000000-0000-0000-0000-000000000000" }, 0, false},
		{"another process of that pid", func(h *holder) { h.Ticks++ }, 0, false},
		{"an older record", func(h *holder) { h.Boot, h.Ticks = "", 0 }, ownPID(), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var h holder
			if err := json.Unmarshal(text, &h); err != nil {
				t.Fatal(err)
			}
			row.change(&h)
			changed, err := json.Marshal(h)
			if err != nil {
				t.Fatal(err)
			}
			if err := dir.Replace(holderFile, changed); err != nil {
				t.Fatal(err)
			}
			if pid, sure := place.holderPID(); pid != row.pid || sure != row.sure {
				t.Errorf("the holder is %d, sure: %v", pid, sure)
			}
			hint, kill := api.AsError(place.stuck()).Hint, fmt.Sprintf("kill -9 %d", ownPID())
			if strings.Contains(hint, kill) != row.sure || strings.Contains(hint, "fuser") == row.sure {
				t.Errorf("the hint is %s", hint)
			}
		})
	}
}
