package audit_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"warder/internal/audit"
	"warder/internal/seal"
	"warder/internal/secret"
)

// testdata/v1 is a log as version 1 wrote it. Every later version must read it,
// find it whole with and without the root key, and go on with it.
const fixture = "testdata/v1"

var update = flag.Bool("update", false, "write "+fixture+" anew")

// access is what opens the fixture: its root key in a recovery slot, and the key
// of its first record.
type access struct {
	Account, Code, Salt, Box, Commit, FirstKey string // hex
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	must(t, err)
	return b
}

// root opens the root key.
func (a access) root(t testing.TB) (seal.RootKey, seal.ID) {
	t.Helper()
	code, err := secret.New(unhex(t, a.Code))
	must(t, err)
	account := seal.ID(unhex(t, a.Account))
	w := seal.WrappedRoot{Box: [seal.WrappedKeySize]byte(unhex(t, a.Box)), Commit: [32]byte(unhex(t, a.Commit))}
	root, err := seal.OpenRootWithRecovery(w, code, seal.RecoverySlot{Account: account, Epoch: 1, Salt: [32]byte(unhex(t, a.Salt))})
	must(t, err)
	t.Cleanup(root.Destroy)
	return root, account
}

// makeFixture writes the fixture: records of all shapes, rotations, a torn line,
// a break and its seal.
func makeFixture(t *testing.T) {
	t.Helper()
	s := newScene(t)
	now := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	opt := audit.Options{MaxSize: 4000, Generations: 50, Now: func() time.Time { now = now.Add(1234 * time.Millisecond); return now }}
	l := s.open(opt)
	first := s.read("key")[52:84]
	s.one(l, audit.Record{Event: "daemon.started"})
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 3)
	name, err := audit.SealName(s.root, s.account, "personal/bank")
	must(t, err)
	s.one(l, audit.Record{Event: "item.shown", Item: name, Reason: "é \"quoted\"\n\x01", ReportedBy: "client", Outcome: "ok", Data: []byte(`[1,"a b",null]`)})
	s.add(l, 8)
	must(t, l.Close())
	last := s.segments()[len(s.segments())-1]
	s.write(last, append(s.read(last), `{"v":1,"seq":`...))
	l = s.open(opt)
	s.add(l, 2)
	must(t, l.Checkpoint(s.root, s.account))
	s.add(l, 2)
	broken := s.segments()[1]
	s.write(broken, bytes.Replace(s.read(broken), []byte("allow"), []byte("deny "), 1))
	_, err = l.Seal(t.Context(), s.root, s.account)
	must(t, err)
	s.add(l, 12)
	must(t, l.Close())

	slot := seal.NewRecoverySlot(s.account, 1)
	code, err := secret.Random(20)
	must(t, err)
	w, err := seal.WrapRootForRecovery(s.root, code, slot)
	must(t, err)
	a := access{Account: hex.EncodeToString(s.account[:]), Salt: hex.EncodeToString(slot.Salt[:]), Box: hex.EncodeToString(w.Box[:]), Commit: hex.EncodeToString(w.Commit[:]), FirstKey: hex.EncodeToString(first)}
	must(t, code.Use(func(b []byte) { a.Code = hex.EncodeToString(b) }))
	text, err := json.MarshalIndent(a, "", "  ")
	must(t, err)
	must(t, os.RemoveAll(fixture))
	must(t, os.MkdirAll(filepath.Join(fixture, "audit"), 0o755))
	must(t, os.WriteFile(filepath.Join(fixture, "access.json"), append(text, '\n'), 0o644))
	entries, err := os.ReadDir(s.path)
	must(t, err)
	for _, e := range entries {
		if e.Name() == "lock" {
			continue
		}
		data := s.read(e.Name())
		if e.Name() == "key" || e.Name() == "checkpoints" { // text, so that no tool changes them
			data = append([]byte(base64.StdEncoding.EncodeToString(data)), '\n')
		}
		must(t, os.WriteFile(filepath.Join(fixture, "audit", e.Name()), data, 0o644))
	}
}

// openFixture copies the fixture to where it may be written.
func openFixture(t *testing.T) (*scene, access) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(fixture, "access.json"))
	must(t, err)
	var a access
	must(t, json.Unmarshal(text, &a))
	root, account := a.root(t)
	s := (&scene{t: t, path: filepath.Join(tempDir(t), "audit"), root: root, account: account}).opened()
	entries, err := os.ReadDir(filepath.Join(fixture, "audit"))
	must(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(fixture, "audit", e.Name()))
		must(t, err)
		if e.Name() == "key" || e.Name() == "checkpoints" {
			data, err = base64.StdEncoding.DecodeString(string(bytes.TrimSpace(data)))
			must(t, err)
		}
		s.write(e.Name(), data)
	}
	return s, a
}

func TestF2_Version1(t *testing.T) {
	if *update {
		makeFixture(t)
	}
	s, _ := openFixture(t)
	s.want(0, "")
	r := s.full()
	if r.Break == nil || r.Break.FirstBad.Cause != audit.Tamper || r.Break.FirstBad.Seq == 0 || r.Segments < 5 || !r.Full {
		t.Errorf("reported %+v", r)
	}
	seen := map[string]int{}
	for _, r := range records(s) {
		seen[r.Event]++
		if r.Event == "item.shown" {
			name, err := audit.OpenName(s.root, s.account, r.Item)
			if err != nil || name != "personal/bank" || r.Reason != "é \"quoted\"\n\x01" || string(r.Data) != `[1,"a b",null]` {
				t.Errorf("read %+v, named %q, %v", r, name, err)
			}
		}
	}
	if seen["permission.decided"] != 27 || seen[audit.EventTorn] != 1 || seen[audit.EventSealed] != 1 || seen[audit.EventRotated] < 3 || seen["daemon.started"] != 1 {
		t.Errorf("events: %v", seen)
	}
	l := s.open(audit.Options{})
	s.add(l, 2)
	s.want(0, "")
}
