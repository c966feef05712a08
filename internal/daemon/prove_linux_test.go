package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"warder/internal/api"
	"warder/internal/api/frame"
	"warder/internal/platform"
	"warder/internal/secret"
	"warder/internal/vault"
)

// partArgs are the arguments by which a client starts one of the parts of "warder daemon".
func partArgs(h *home, part string) []string {
	args := h.args("--started-by", "person", "--start-fd", "3")
	args[1] = part
	return args
}

// question is what a test has proved.
func question() api.Prove {
	return api.Prove{Hash: "a hash", Challenge: "a challenge", Shown: "show a value"}
}

// launchProver starts a prover as a client does.
func launchProver(t *testing.T, h *home) *launched {
	t.Helper()
	ours, theirs, err := platform.ConnPair()
	must(t, err)
	p, err := platform.StartDetached(h.binary, partArgs(h, "prove"), theirs)
	must(t, errors.Join(err, theirs.Close()))
	reap(t, p)
	conn, err := frame.Inherited(t.Context(), ours, self())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	return &launched{process: p, conn: &api.Client{ClientConn: conn}}
}

// ask makes the one call of a prover and returns the proof.
func (l *launched) ask(t *testing.T, op string, in any, values ...secret.Value) (proof []byte, receipt string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out api.Proved
	got, err := l.conn.Call(ctx, op, in, &out, values...)
	defer frame.DestroyAll(got)
	if err != nil {
		return nil, "", err
	}
	if len(got) != 1 {
		t.Fatalf("%d proofs", len(got))
	}
	must(t, got[0].Use(func(b []byte) { proof = append(proof, b...) }))
	return proof, out.Receipt.Receipt, nil
}

// thisProcess is how a prover and a daemon name the process of the test.
func thisProcess(t *testing.T) string {
	t.Helper()
	fd, err := platform.OpenPidfd(os.Getpid())
	if err != nil {
		t.Skipf("no pidfds here: %v", err)
	}
	defer fd.Close()
	inode, err := platform.PidfdInode(fd)
	if err != nil || inode == 0 {
		t.Skipf("pidfds have no inodes here: %v", err)
	}
	return fmt.Sprintf("pidfs %d", inode)
}

// TestProver: it proves for whoever started it and for nobody else, ends, and leaves nothing behind; it takes nothing from its
// environment.
func TestProver(t *testing.T) {
	h := newHome(t)
	password := h.account(t)
	l := launchHostilePart(t, h, "prove", append(platform.CleanEnviron(), hostileVariables(h)...))
	requireClean(t, h, l.process.Pid)
	proof, receipt, err := l.ask(t, api.OpStartProve, question(), password)
	must(t, err)
	eventually(t, "the prover ends", func() bool { return hasEnded(l.process.Pid) })
	if len(receipt) != 26 {
		t.Errorf("receipt %q", receipt)
	}
	for _, path := range []string{filepath.Join(h.state, "daemon.log"), filepath.Join(h.state, "daemon.lock"), filepath.Join(h.state, "audit"), h.sock} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it left %s: %v", path, err)
		}
	}
	a, err := vault.Open(h.vaultConfig(), password)
	must(t, err)
	defer a.Lock()
	q := question()
	p := vault.Presence{Act: q.Hash, Challenge: q.Challenge, Shown: q.Shown, Caller: "pidfs 1"}
	if _, err := vault.OpenProof(a, p, proof); !errors.Is(err, vault.ErrNoProof) {
		t.Errorf("for another process: %v", err)
	}
	p.Caller = thisProcess(t)
	load, err := vault.OpenProof(a, p, proof)
	must(t, err)
	load.Destroy()
}

// TestProverRefuses: what is no password, no question, or too much, is refused and said; wrong passwords count.
func TestProverRefuses(t *testing.T) {
	h := newHome(t)
	password, none := h.account(t), []secret.Value(nil)
	one, three := []secret.Value{password}, []secret.Value{password, password, password}
	for name, c := range map[string]struct {
		op     string
		in     any
		values []secret.Value
		code   api.Code
	}{
		"another operation": {api.OpStartUnlock, api.StartUnlock{}, one, api.Usage},
		"no password":       {api.OpStartProve, question(), none, api.Usage},
		"three values":      {api.OpStartProve, question(), three, api.Usage},
		"no question":       {api.OpStartProve, api.Prove{}, one, api.Usage},
		"another input":     {api.OpStartProve, map[string]int{"n": 1}, one, api.Usage},
		"a wrong password":  {api.OpStartProve, question(), []secret.Value{newPassword(t)}, api.WrongPassword},
	} {
		l := launchProver(t, h)
		if _, _, err := l.ask(t, c.op, c.in, c.values...); codeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
		eventually(t, "the prover ends", func() bool { return hasEnded(l.process.Pid) })
	}
	wrong, err := vault.WrongPasswords(h.vaultConfig())
	if err != nil || wrong != 1 {
		t.Errorf("%d wrong passwords were counted: %v", wrong, err)
	}
	l := launchProver(t, h) // whoever started it goes without a word
	must(t, l.conn.Close())
	eventually(t, "the prover ends", func() bool { return hasEnded(l.process.Pid) })

	cmd := exec.Command(h.binary, partArgs(h, "prove")[:len(partArgs(h, "prove"))-2]...)
	if said, err := cmd.CombinedOutput(); err == nil || cmd.ProcessState.ExitCode() != 2 {
		t.Errorf("by hand: %v: %s", err, said)
	}
}
