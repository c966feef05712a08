package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/seal"
	"warder/internal/vault"
)

// TestProofServesTheActThatWasShown: a link that is re-pointed between the question and the answer is asked about again, and
// nothing is done for the proof that was meant for the other directory.
func TestProofServesTheActThatWasShown(t *testing.T) {
	s := newScene(t)
	home := filepath.Join(s.dir, "home")
	a, b, link := filepath.Join(home, "a"), filepath.Join(home, "b"), filepath.Join(home, "link")
	for _, dir := range []string{a, b} {
		must(t, os.MkdirAll(dir, 0o700))
	}
	must(t, os.Symlink(a, link))
	s.acts.home = home
	in := api.TrustDir{Dir: link}
	shown := s.do(person(), api.OpTrustAdd, in)
	s.refused(shown, api.NeedsApproval)
	if len(shown.err.Hash) != 64 {
		t.Errorf("the hash is %q", shown.err.Hash)
	}
	if again := s.do(person(), api.OpTrustAdd, in); again.err.Hash != shown.err.Hash {
		t.Error("the same act has two hashes")
	}

	must(t, os.Remove(link))
	must(t, os.Symlink(b, link))
	anew := s.do(person(), api.OpTrustAdd, proves(t, in, shown), masterPassword)
	s.refused(anew, api.NeedsApproval)
	if got := s.events(); !slices.Equal(got, []string{"tool_intent.created", "permission.decided ask"}) {
		t.Errorf("recorded %q", got)
	}
	if anew.err.Message == shown.err.Message || anew.err.Hash == shown.err.Hash {
		t.Errorf("asked %q again", anew.err.Message)
	}
	var list api.TrustList
	s.ok(s.do(person(), api.OpTrustList, nil), &list)
	if len(list.Dirs) != 0 {
		t.Fatalf("trusted %q", list.Dirs)
	}

	var done api.TrustDir
	s.ok(s.do(person(), api.OpTrustAdd, proves(t, in, anew), masterPassword), &done)
	if want, err := filepath.EvalSymlinks(b); err != nil || done.Dir != want {
		t.Errorf("trusted %q, want %q", done.Dir, want)
	}
	// The proof of one input is none for another, and a password without a hash is none at all.
	s.refused(s.do(person(), api.OpTrustAdd, proves(t, api.TrustDir{Dir: a}, anew), masterPassword), api.NeedsApproval)
	s.refused(s.once(person(), api.OpTrustAdd, api.TrustDir{Act: api.Act{Presence: true}, Dir: a}, masterPassword), api.Usage)
}

// TestProofsOfWhatChangedMeanwhile: each act that shows more than its input says is asked about again when that has changed.
func TestProofsOfWhatChangedMeanwhile(t *testing.T) {
	use, none := "use", "none"
	for name, c := range map[string]struct {
		op      string
		in      any
		prepare func(s *scene)
		change  func(s *scene)
	}{
		"item.edit": {
			api.OpItemEdit,
			api.ItemEdit{Name: "db", Level: &use},
			func(*scene) {},
			func(s *scene) { s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "db", Level: &none}), nil) },
		},
		"item.undo": {
			api.OpItemUndo,
			api.ItemUndo{Tag: "closing"},
			closeBoth,
			func(s *scene) {
				s.ok(s.do(person(), api.OpItemEdit, api.ItemEdit{Name: "other", Tags: &[]string{"x"}}), nil)
			},
		},
		"export": {
			api.OpExport,
			api.Export{Format: formJSON},
			func(*scene) {},
			func(s *scene) { s.add(person(), "another", none, token) },
		},
		"audit.seal": {
			api.OpAuditSeal,
			api.Act{},
			func(s *scene) { changeLog(s, api.OpItemList) },
			func(s *scene) { changeLog(s, api.OpItemAdd) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.ops[api.OpAuditSeal] = s.acts.sealOp()
			must(t, s.account.WithRoot(func(root seal.RootKey) error { return s.log.Checkpoint(root, s.account.ID()) }))
			s.add(person(), "db", "ask", token)
			s.add(person(), "other", "ask", token)
			s.ok(s.do(person(), api.OpItemList, nil), nil)
			c.prepare(s)
			shown := s.do(person(), c.op, c.in)
			s.refused(shown, api.NeedsApproval)
			c.change(s)
			anew := s.do(person(), c.op, proves(t, c.in, shown), masterPassword)
			s.refused(anew, api.NeedsApproval)
			if anew.err.Hash == shown.err.Hash || anew.err.Message == shown.err.Message {
				t.Errorf("asked %q again", anew.err.Message)
			}
			s.ok(s.do(person(), c.op, proves(t, c.in, anew), masterPassword), nil)
		})
	}
}

// closeBoth closes two items to agents in one act.
func closeBoth(s *scene) {
	s.t.Helper()
	v, err := s.account.Vault(vault.DefaultVault)
	must(s.t, err)
	for _, name := range []string{"db", "other"} {
		m, err := v.Find(vault.KindItem, seal.ID{}, name)
		must(s.t, err)
		it, err := v.Open(m.ID)
		must(s.t, err)
		it.Level, it.Origin = vault.LevelNone, vault.Origin{By: vault.ByPerson, Tag: "closing"}
		must(s.t, v.Save(it))
		it.Destroy()
	}
}

// changeLog changes one letter of the first record of an operation.
func changeLog(s *scene, op string) {
	s.t.Helper()
	files, err := filepath.Glob(filepath.Join(s.dir, "state", "audit", "*.jsonl"))
	must(s.t, err)
	text, err := os.ReadFile(files[0])
	must(s.t, err)
	old := []byte(`"` + op + `"`)
	if !bytes.Contains(text, old) {
		s.t.Fatalf("no record of %s", op)
	}
	changed := bytes.Replace(text, old, bytes.ToUpper(old), 1)
	must(s.t, os.WriteFile(files[0], changed, 0o600))
}

// TestAuditShowBeyondTheLog ends at once: a record that is not there yet is not waited for.
func TestAuditShowBeyondTheLog(t *testing.T) {
	s := newScene(t)
	s.add(person(), "db", "ask", token)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, id := range []string{"100", "18446744073709551615"} {
			if res := s.once(person(), api.OpAuditShow, api.AuditShow{ID: id}); res.err == nil || res.err.Code != api.NotFound {
				t.Errorf("record %s: %+v", id, res)
			}
		}
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("it waits for a record that may never come")
	}
}
