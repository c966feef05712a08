package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/state"
)

// patience is how long a test waits for what should happen at once.
const patience = 30 * time.Second

// asked is one call that a fake daemon got.
type asked struct {
	op     string
	input  string
	values []string // test values only: they are made for this
}

// answers are what a fake daemon answers, by operation.
type answers map[string]func(call *api.Call) (*api.Reply, error)

// fake is a daemon with scripted answers and the world of commands that ask it.
type fake struct {
	t    *testing.T
	home string
	env  map[string]string
	base Env
	lock *state.Lock // the daemon's; nil while the fake serves nothing

	mu    sync.Mutex
	calls []asked
	tries []asked // what the prover was asked for
}

// reply is an answer that is always the same.
func reply(output any, values ...string) func(*api.Call) (*api.Reply, error) {
	return func(*api.Call) (*api.Reply, error) {
		r := &api.Reply{Output: output}
		for _, text := range values {
			v, err := secret.New([]byte(text))
			if err != nil {
				return nil, err
			}
			r.Values = append(r.Values, v)
		}
		return r, nil
	}
}

// refusal is an answer that is an error.
func refusal(code api.Code, message string) func(*api.Call) (*api.Reply, error) {
	return func(*api.Call) (*api.Reply, error) { return nil, api.Errorf(code, "%s", message) }
}

// proved answers with refused until a call brings a proof, and then with done.
func proved(act string, done func(*api.Call) (*api.Reply, error)) func(*api.Call) (*api.Reply, error) {
	return func(call *api.Call) (*api.Reply, error) {
		var in api.Act
		if err := json.Unmarshal(call.Input, &in); err != nil {
			return nil, err
		}
		if !in.Presence {
			return nil, asks(act)
		}
		want := api.Act{Presence: true, Hash: hashOfAct(act), Challenge: challengeOf(act)}
		if in != want {
			return nil, api.Errorf(api.Usage, "the proof is for %+v", in)
		}
		right := false
		if n := len(call.Values); n > 0 {
			_ = call.Values[n-1].Use(func(b []byte) { right = string(b) == proofOf(in.Hash, in.Challenge, act) })
		}
		if !right {
			return nil, api.Errorf(api.Denied, "no proof")
		}
		return done(call)
	}
}

// asks is the question for a person's presence.
func asks(act string) error {
	e := api.Errorf(api.NeedsApproval, "%s", act)
	e.Hash, e.Challenge = hashOfAct(act), challengeOf(act)
	return e
}

// proofOf is the proof that a fake prover makes.
func proofOf(hash, challenge, shown string) string { return "proof of " + hash + challenge + shown }

// challengeOf is the challenge that a fake daemon gives.
func challengeOf(act string) string { return "challenge of " + act }

// receipt is the one of every proof that a fake prover makes.
const receipt = "RECEIPT"

// prove is the recorded program that makes proofs, without a process.
func (f *fake) prove(_ context.Context, o order) (api.Proved, []secret.Value, error) {
	in, fits := o.in.(api.Prove)
	if !fits || o.op != api.OpStartProve || len(o.values) == 0 {
		return api.Proved{}, nil, api.Errorf(api.Usage, "the prover is asked %+v", o)
	}
	try := asked{op: o.op, values: textsOf(o.values)}
	f.mu.Lock()
	f.tries = append(f.tries, try)
	f.mu.Unlock()
	if try.values[0] != testPassword {
		return api.Proved{}, nil, api.Errorf(api.WrongPassword, "wrong password")
	}
	proof, err := secret.New([]byte(proofOf(in.Hash, in.Challenge, in.Shown)))
	return api.Proved{Receipt: api.Receipt{Receipt: receipt}}, []secret.Value{proof}, err
}

// textsOf are the values of a test.
func textsOf(values []secret.Value) (list []string) {
	for _, v := range values {
		_ = v.Use(func(b []byte) { list = append(list, string(b)) })
	}
	return list
}

// hashOfAct is what a fake daemon takes for the hash of an act.
func hashOfAct(act string) string { return "hash of " + act }

// testPassword is a strong one that opens nothing.
const testPassword = "violet anchor tundra 94 mosquito"

// newWorld makes a home without a daemon.
func newWorld(t *testing.T) *fake {
	t.Helper()
	home, err := os.MkdirTemp("", "w")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	f := &fake{t: t, home: home, env: map[string]string{"WARDER_HOME": home, "HOME": home, "PATH": os.Getenv("PATH")}}
	f.base = Env{
		prover:   f.prove,
		Getenv:   func(name string) string { return f.env[name] },
		Now:      func() time.Time { return time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC) },
		Terminal: func() (*os.File, error) { return nil, errors.New("no terminal") },
		judge:    func() (api.Whoami, error) { return api.Whoami{Verdict: "agent", Client: "claude", Why: "a test"}, nil },
		launch: func(context.Context, order) (api.Started, []secret.Value, error) {
			return api.Started{}, nil, api.Errorf(api.Unreachable, "tests start no daemon")
		},
	}
	return f
}

// newFake starts a daemon that answers as told.
func newFake(t *testing.T, told answers) *fake {
	t.Helper()
	f := newWorld(t)
	ops := map[string]api.Op{}
	for name, answer := range told {
		ops[name] = api.Op{Takes: frame.MaxValues, Returns: true, Call: func(_ context.Context, call *api.Call) (*api.Reply, error) {
			f.note(call)
			return answer(call)
		}}
	}
	f.serve(ops)
	return f
}

// serve serves operations at the place where commands look.
func (f *fake) serve(ops map[string]api.Op) {
	f.t.Helper()
	server, err := api.NewServer(api.Config{
		Hello: selfHello(), Ops: ops,
		Admit: func(*net.UnixConn) (any, func(), error) { return nil, nil, nil },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	l, err := api.Listen(filepath.Join(f.home, "run", "warder.sock"), func() error { return nil })
	if err != nil {
		f.t.Fatal(err)
	}
	f.claim()
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := errors.Join(server.Shutdown(ctx), <-served); err != nil {
			f.t.Errorf("ending the fake daemon: %v", err)
		}
	})
}

// claim takes the daemon's lock, by which commands know that who listens is one.
func (f *fake) claim() {
	f.t.Helper()
	dir, err := state.CreateDir(filepath.Join(f.home, "state"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer dir.Close()
	if f.lock, err = dir.TryLock("daemon.lock"); err != nil {
		f.t.Fatal(err)
	}
	lock := f.lock
	f.t.Cleanup(func() { _ = lock.Release() })
}

func (f *fake) note(call *api.Call) {
	a := asked{op: call.Op, input: string(call.Input), values: textsOf(call.Values)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, a)
}

// count is how many calls the daemon got.
func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

// last is the last call that the daemon got.
func (f *fake) last() asked {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.calls) == 0 {
		f.t.Fatal("the daemon was asked nothing")
	}
	return f.calls[len(f.calls)-1]
}

// said is what a command printed and its status.
type said struct {
	status      int
	out, errors string
}

// run runs a command line with standard input.
func (f *fake) run(stdin string, args ...string) said {
	f.t.Helper()
	var out, errs bytes.Buffer
	env := f.base
	env.In, env.Out, env.Err = strings.NewReader(stdin), &out, &errs
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	status := Run(ctx, env, args)
	return said{status, out.String(), errs.String()}
}

// want fails unless the status is as given and the streams hold the texts.
func (s said) want(t *testing.T, status int, texts ...string) {
	t.Helper()
	if s.status != status {
		t.Errorf("exit status %d, want %d", s.status, status)
	}
	for _, text := range texts {
		if !strings.Contains(s.out+s.errors, text) {
			t.Errorf("%q is missing", text)
		}
	}
	if t.Failed() {
		t.Logf("stdout:\n%s\nstderr:\n%s", s.out, s.errors)
	}
}

// typed is an answer that is typed when the terminal asks for it.
type typed struct {
	question, answer string
	shown            bool // the terminal echoes it
}

// person gives the world a terminal and somebody who types answers. The
// function that it returns gives what the terminal has shown.
func (f *fake) person(answers ...typed) (screen func() string) {
	f.t.Helper()
	keyboard, tty, err := platform.OpenPTY()
	if err != nil {
		f.t.Skipf("no pseudo terminals here: %v", err)
	}
	f.base.judge = func() (api.Whoami, error) { return api.Whoami{Verdict: verdictPerson, Why: "a test"}, nil }
	f.base.Terminal = func() (*os.File, error) { return os.OpenFile(tty.Name(), os.O_RDWR, 0) }
	var shown strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, a := range answers {
			if !readUntil(keyboard, &shown, a.question) {
				return
			}
			for !a.shown && !hidden(tty.Name()) {
			}
			_, _ = io.WriteString(keyboard, a.answer+"\n")
		}
		_, _ = io.Copy(&shown, keyboard)
	}()
	closed := sync.OnceFunc(func() { tty.Close(); <-done; keyboard.Close() })
	f.t.Cleanup(closed)
	return func() string { closed(); return shown.String() }
}

// readUntil reads what a terminal shows until it has shown the text.
func readUntil(from io.Reader, shown *strings.Builder, text string) bool {
	start := shown.Len()
	var b [1]byte
	for !strings.Contains(shown.String()[start:], text) {
		if _, err := from.Read(b[:]); err != nil {
			return false
		}
		shown.WriteByte(b[0])
	}
	return true
}

// hidden reports whether a terminal does not echo: what is typed before that
// would be thrown away.
func hidden(tty string) bool {
	modes, err := exec.Command("stty", "-F", tty, "-a").Output()
	return err != nil || strings.Contains(string(modes), "-echo ")
}

// setUp records an installation, as setup does.
func (f *fake) setUp() {
	f.t.Helper()
	dir, err := state.CreateDir(filepath.Join(f.home, "state"))
	if err != nil {
		f.t.Fatal(err)
	}
	defer dir.Close()
	err = state.WriteInstall(dir, state.Install{
		Binary: filepath.Join(f.home, "state", "bin", "warder"), SHA256: strings.Repeat("0", 64),
		Data: filepath.Join(f.home, "data"), State: filepath.Join(f.home, "state"), Config: filepath.Join(f.home, "config"),
		Socket: filepath.Join(f.home, "run", "warder.sock"), Created: time.Now(),
	})
	if err == nil {
		err = os.MkdirAll(filepath.Join(f.home, "data", "account", "keysets"), 0o700)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}
