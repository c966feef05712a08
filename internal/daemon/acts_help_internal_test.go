package daemon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/audit"
	"warder/internal/caller"
	"warder/internal/gate"
	"warder/internal/platform"
	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/state"
	"warder/internal/vault"
)

// masterPassword opens every account that tests make.
const masterPassword = "correct horse battery staple 77"

// Callers as Admit would have judged them.
func person() *client { return &client{id: caller.Identity{Verdict: caller.Person}} }

func agent() *client {
	return &client{id: caller.Identity{Verdict: caller.Agent, Client: "claude", Depth: 1, Masked: true}}
}

func subagent() *client {
	return &client{id: caller.Identity{Verdict: caller.Agent, Client: "codex", Depth: 2, Masked: true}}
}

func unknown() *client { return &client{id: caller.Identity{Verdict: caller.Unknown, Masked: true}} }

// scene is an account, a log, and the operations on them.
type scene struct {
	t       testing.TB
	dir     string
	acts    *acts
	account *vault.Account // nil while locked
	log     *audit.Log
	logs    *state.Dir
	ops     map[string]api.Op
	now     time.Time
	persons int // acts of persons that were noticed

	asked   map[string]*api.Error // for presence, by challenge
	carries string                // what the proofs carry that are made for do and once
	receipt string                // of the last one

	pieces []frame.Piece // what is said in the dialogue of the next call
	heard  [frame.MaxTexts]string
	heed   func() // called before each piece; may be nil
}

// newScene makes one, in memory where that is possible.
func newScene(t testing.TB) *scene {
	t.Helper()
	s := &scene{t: t, dir: tempDir(t), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), asked: map[string]*api.Error{}}
	places, err := state.CreateDir(filepath.Join(s.dir, "state"))
	must(t, err)
	t.Cleanup(func() { places.Close() })
	s.logs, err = places.Create("audit")
	must(t, err)
	t.Cleanup(func() { s.logs.Close() })
	s.log, err = audit.Open(s.logs, audit.Options{})
	must(t, err)
	t.Cleanup(func() { s.log.Close() })
	account, kit, err := vault.Create(placesOf(s), value(t, masterPassword))
	must(t, err)
	kit.Destroy()
	t.Cleanup(account.Lock)
	s.account = account
	s.acts = &acts{
		account: func() (*vault.Account, error) {
			if s.account == nil {
				return nil, api.Errorf(api.Locked, "the account is locked")
			}
			return s.account, nil
		},
		log: s.log, person: func() { s.persons++ }, now: func() time.Time { return s.now }, state: places, needles: &needles{},
	}
	serve(s)
	return s
}

// serve makes the operations anew, behind a gate of their own. Their callers have no processes, and hold leases all the same.
func serve(s *scene) {
	s.acts.gate = gate.New(gate.Config{
		Log: s.acts.log, Unattended: s.acts.unattended, Now: func() time.Time { return s.now }, Word: wordOf,
		Keep: func(gate.Handed) error { return errors.ErrUnsupported },
	})
	s.acts.holding = holding{gate: s.acts.gate, ours: func(*client) bool { return true }, hold: func(*client) (gate.Holder, error) {
		pidfd, err := platform.OpenPidfd(ownPID())
		return gate.Holder{Instance: caller.Instance{PID: ownPID(), Inode: 7}, Process: held{pidfd}}, err
	}}
	s.t.Cleanup(s.acts.gate.Shut)
	s.ops = s.acts.ops()
}

func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "warder-acts-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// value makes a secret that is wiped at the end of the test.
func value(t testing.TB, text string) secret.Value {
	t.Helper()
	v, err := secret.New([]byte(text))
	must(t, err)
	t.Cleanup(v.Destroy)
	return v
}

// result is what came back of a call.
type result struct {
	json   []byte
	values []string
	err    *api.Error
}

// do makes a call as the server does, without a connection. An input that brings a proof without the hash of an act is given
// that of the act as it is: the call is made without the proof first, as by a client. Its answer stands if it needed none.
func (s *scene) do(who *client, op string, in any, values ...string) result {
	s.t.Helper()
	if proving, asking := withoutProof(s.t, in); proving && len(values) > 0 {
		asked := s.once(who, op, asking, values[:len(values)-1]...)
		if asked.err == nil {
			return asked
		}
		if asked.err.Hash == "" {
			asked.err.Hash, asked.err.Challenge = "none", "none"
		}
		in = proves(s.t, asking, asked)
	}
	return s.once(who, op, in, values...)
}

// withoutProof says whether an input brings a proof that lacks the hash of its act, and is that input without it.
func withoutProof(t testing.TB, in any) (lacks bool, asking map[string]any) {
	t.Helper()
	asking = members(t, in)
	if asking["presence"] != true || asking["hash"] != nil {
		return false, nil
	}
	delete(asking, "presence")
	return true, asking
}

// members are those of an input.
func members(t testing.TB, in any) (list map[string]any) {
	t.Helper()
	text, err := json.Marshal(in)
	must(t, err)
	if json.Unmarshal(text, &list) != nil || list == nil {
		return map[string]any{}
	}
	return list
}

// proves is an input as a client sends it with a proof for what it was asked about.
func proves(t testing.TB, in any, asked result) any {
	t.Helper()
	list := members(t, in)
	list["presence"], list["hash"], list["challenge"] = true, asked.err.Hash, asked.err.Challenge
	return list
}

// prove makes the proof that answers a question, as the prover does for the process of that name.
func prove(s *scene, asked *api.Error, password, caller string) (proof string, err error) {
	s.t.Helper()
	values := []secret.Value{value(s.t, password)}
	if s.carries != "" {
		values = append(values, value(s.t, s.carries))
	}
	p := vault.Presence{Act: asked.Hash, Challenge: asked.Challenge, Shown: asked.Message, Caller: caller}
	sealed, receipt, err := makeProof(s.t.Context(), placesOf(s), p, values)
	if err != nil {
		return "", err
	}
	defer sealed.Destroy()
	s.receipt = receipt.Receipt
	must(s.t, sealed.Use(func(b []byte) { proof = string(b) }))
	return proof, nil
}

// placesOf is where the account is.
func placesOf(s *scene) vault.Config {
	return vault.Config{
		AccountDir: filepath.Join(s.dir, "account"), StateDir: filepath.Join(s.dir, "state"), KDF: seal.FloorKDF(),
		Now: func() time.Time { return s.now },
	}
}

// once makes one call. Where the input says that it proves something that was asked, the last value is the password with which
// the proof is made that is sent.
func (s *scene) once(who *client, op string, in any, values ...string) result {
	s.t.Helper()
	if m := members(s.t, in); m["presence"] == true && len(values) > 0 {
		if word, _ := m["challenge"].(string); s.asked[word] != nil {
			last := len(values) - 1
			proof, err := prove(s, s.asked[word], values[last], processOf(who.peer))
			if err != nil {
				return result{err: s.told(err)}
			}
			values = append(slices.Clone(values[:last]), proof)
		}
	}
	return s.send(who, op, in, values...)
}

// send makes one call with these very values.
func (s *scene) send(who *client, op string, in any, values ...string) result {
	s.t.Helper()
	o, known := s.ops[op]
	if !known {
		s.t.Fatalf("no operation %s", op)
	}
	call := &api.Call{Op: op, Peer: who}
	if in != nil {
		text, err := json.Marshal(in)
		must(s.t, err)
		call.Input = text
	}
	if len(values) > o.Takes {
		s.t.Fatalf("%s takes %d values", op, o.Takes)
	}
	for _, text := range values {
		v, err := secret.New([]byte(text))
		must(s.t, err)
		call.Values = append(call.Values, v)
	}
	res := s.carryOut(o, call)
	for _, v := range call.Values {
		v.Destroy()
	}
	return res
}

func (s *scene) carryOut(o api.Op, call *api.Call) (res result) {
	s.t.Helper()
	var err error
	if o.Stream != nil {
		err = o.Stream(s.t.Context(), call, func(item any) error {
			text, err := json.Marshal(item)
			must(s.t, err)
			res.json = append(append(res.json, text...), '\n')
			return nil
		})
		res.err = s.told(err)
		return res
	}
	var reply *api.Reply
	if o.Dialogue != nil {
		s.heard = [frame.MaxTexts]string{}
		reply, err = o.Dialogue(s.t.Context(), call, &saying{s, false})
		s.pieces, s.heed = nil, nil
	} else {
		reply, err = o.Call(context.Background(), call)
	}
	if res.err = s.told(err); err != nil || reply == nil {
		return res
	}
	res.json, err = json.Marshal(reply.Output)
	must(s.t, err)
	if len(reply.Values) > 0 && !o.Returns {
		s.t.Errorf("%s returns values that it does not declare", call.Op)
	}
	for _, v := range reply.Values {
		must(s.t, v.Use(func(b []byte) { res.values = append(res.values, string(bytes.Clone(b))) }))
		v.Destroy()
	}
	return res
}

// saying is the client's side of a dialogue: it says the scene's pieces.
type saying struct {
	*scene
	more bool // there is more of the last answer
}

func (s *saying) Begin(any) error { return nil }

func (s *saying) Next() (frame.Piece, error) {
	if s.heed != nil {
		s.heed()
	}
	if len(s.pieces) == 0 {
		return frame.Piece{}, io.EOF
	}
	p := s.pieces[0]
	if s.more {
		return frame.Piece{Text: p.Text}, nil
	}
	return p, nil
}

func (s *saying) Answer(p frame.Piece) error {
	s.heard[p.Text] += string(p.Bytes)
	if s.more = p.More; !s.more {
		s.pieces = s.pieces[1:]
	}
	return nil
}

// told is an error as the client is told it. One that is none of the table's is a mistake in these tests.
func (s *scene) told(err error) *api.Error {
	s.t.Helper()
	if err == nil {
		return nil
	}
	var e *api.Error
	if !errors.As(err, &e) {
		s.t.Fatalf("an error that no client can be told: %v", err)
	}
	if e.Message == "" || e.Hint == "" {
		s.t.Errorf("an error without message or hint: %+v", e)
	}
	if (e.Code == api.NeedsApproval) != (e.Challenge != "") || (e.Hash != "") != (e.Challenge != "") {
		s.t.Errorf("a question without hash or challenge: %+v", e)
	}
	if e.Challenge != "" {
		s.asked[e.Challenge] = e
	}
	return e
}

// ok wants a call to succeed and reads its answer.
func (s *scene) ok(res result, out any) {
	s.t.Helper()
	if res.err != nil {
		s.t.Fatalf("%s: %s", res.err.Code, res.err.Message)
	}
	if out != nil {
		must(s.t, json.Unmarshal(res.json, out))
	}
}

// refused wants a call to end with a code.
func (s *scene) refused(res result, code api.Code) {
	s.t.Helper()
	switch {
	case res.err == nil:
		s.t.Fatalf("it was done, want %s: %s", code, res.json)
	case res.err.Code != code:
		s.t.Fatalf("%s: %s, want %s", res.err.Code, res.err.Message, code)
	}
}

// records are the records of the log.
func (s *scene) records() []audit.Record {
	s.t.Helper()
	var list []audit.Record
	for rec, err := range audit.Records(s.logs, 0) {
		must(s.t, err)
		list = append(list, rec)
	}
	return list
}

// events are the events of the last act, as "event decision outcome".
func (s *scene) events() []string {
	s.t.Helper()
	all := s.records()
	var list []string
	for _, rec := range all {
		if rec.ID == all[len(all)-1].ID {
			list = append(list, strings.Join(strings.Fields(rec.Event+" "+rec.Decision+" "+rec.Outcome), " "))
		}
	}
	return list
}

// add stores an item with one concealed field called token.
func (s *scene) add(who *client, name, level, text string) api.ItemAdded {
	s.t.Helper()
	var out api.ItemAdded
	s.ok(s.do(who, api.OpItemAdd, api.ItemAdd{
		Name: name, Type: "api-token", Level: level, Fields: []api.FieldIn{{Name: "token", Concealed: true}},
	}, text), &out)
	return out
}

// held is the value of an item's token, read past everything.
func (s *scene) held(name string) string {
	s.t.Helper()
	v, err := s.account.Vault(vault.DefaultVault)
	must(s.t, err)
	m, err := v.Find(vault.KindItem, seal.ID{}, name)
	must(s.t, err)
	it, err := v.Open(m.ID)
	must(s.t, err)
	defer it.Destroy()
	var text string
	must(s.t, it.Field("", "token").Value.Use(func(b []byte) { text = string(bytes.Clone(b)) }))
	return text
}
