package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warder/internal/api"
)

// TestChangesAsJSON: what a command changed is one object with the same fields each time, and what it refused is one too.
func TestChangesAsJSON(t *testing.T) {
	changed := reply(api.Changed{Vault: "personal", Name: "x", Undo: "i1", Warnings: []string{"w"}})
	told := answers{
		api.OpItemEdit: changed, api.OpItemRemove: changed, api.OpLock: reply(nil), api.OpDaemonStop: refusal(api.Denied, "no"),
		api.OpProjectLink: reply(api.Changed{Undo: "i2"}), api.OpProjectStage: reply(api.Changed{Undo: "i3"}),
		api.OpTrustAdd: reply(api.TrustDir{Dir: "/src"}), api.OpTrustRemove: reply(api.TrustDir{Dir: "/src"}),
		api.OpStatus: reply(api.Status{Account: api.AccountStatus{State: accountUnlocked}}),
	}
	f := newFake(t, told)
	f.setUp()
	for line, want := range map[string]string{
		"item edit x --level none":       `{"changed":true,"name":"x","vault":"personal","undo":"i1","warnings":["w"]}`,
		"item rm x":                      `{"changed":true,"name":"x","vault":"personal","undo":"i1","warnings":["w"]}`,
		"lock":                           `{"changed":true,"state":"locked"}`,
		"unlock":                         `{"changed":false,"state":"unlocked"}`,
		"project link shop x":            `{"changed":true,"project":"shop","item":"x","undo":"i2"}`,
		"project unlink shop x":          `{"changed":true,"project":"shop","item":"x","undo":"i2"}`,
		"project stage shop dev":         `{"changed":true,"project":"shop","stage":"dev","undo":"i3"}`,
		"project stage shop --level ask": `{"changed":true,"project":"shop","level":"ask","undo":"i3"}`,
		"trust /src":                     `{"changed":true,"dir":"/src"}`,
		"trust rm /src":                  `{"changed":true,"dir":"/src"}`,
		"config set lock.idle 2h":        `{"changed":true,"name":"lock.idle","value":"2h","waits":false}`,
		"config set lock.idle 90h":       `{"changed":true,"name":"lock.idle","value":"90h","waits":true}`,
	} {
		s := f.run("", append(strings.Fields(line), "--json")...)
		if diff := cmp.Diff(want+"\n", s.out); diff != "" || s.status != 0 {
			t.Errorf("%s: exit status %d\n%s%s", line, s.status, diff, s.errors)
		}
	}
	for line, code := range map[string]string{
		"daemon stop": "denied", "passwd": "denied", "passwd --new-kit": "denied", "config set nothing 1": "not_found", "unlock --recovery": "denied",
	} {
		s := f.run("", append(strings.Fields(line), "--json")...)
		var out struct{ Error api.Error }
		if err := json.Unmarshal([]byte(s.out), &out); err != nil || string(out.Error.Code) != code || s.status == 0 {
			t.Errorf("%s: exit status %d, %q", line, s.status, s.out)
		}
	}
	none := newWorld(t)
	none.run("", "daemon", "stop", "--json").want(t, 0, `{"changed":false,"running":false,"pid":0}`)
}

// TestPasswdAsJSON: the kit is no part of what a program reads.
func TestPasswdAsJSON(t *testing.T) {
	f := newFake(t, answers{
		api.OpPasswd: reply(nil),
		api.OpNewKit: proved("make a new kit", reply(api.KitInfo{Receipt: api.Receipt{Receipt: receipt}, Account: "a1", StateCode: "s"}, strings.Repeat("d", 32), strings.Repeat("r", 32))),
	})
	f.setUp()
	f.person(typed{question: "Master password: ", answer: testPassword})
	kit := filepath.Join(t.TempDir(), "kit")
	s := f.run("", "passwd", "--new-kit", "--kit-file", kit, "--json")
	if s.status != 0 || s.out != `{"changed":true,"account":"a1","kit_file":"`+kit+`"}`+"\n" {
		t.Errorf("got %+v", s)
	}
	if text, err := os.ReadFile(kit); err != nil || len(text) == 0 {
		t.Errorf("the kit holds %d bytes, %v", len(text), err)
	}
}
