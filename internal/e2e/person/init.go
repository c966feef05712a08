package person

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"

	"warder/internal/platform"
)

// request asks the first process of a world for a program.
type request struct {
	Argv  []string
	Env   []string
	Dir   string
	Stdin []byte
	// Live connects the rest of the connection with the program's streams. There
	// is no reply then.
	Live bool
}

// reply says how a program ended.
type reply struct {
	Stdout, Stderr []byte
	Status         int
	Err            string
}

// first is the first process of a world: it starts programs and, as the kernel
// wants of it, waits for the orphans.
type first struct {
	// mu is held while a program is started and while orphans are looked for, so
	// that none is taken for an orphan before it is in own.
	mu  sync.Mutex
	own map[int]bool // pids of programs that somebody waits for
}

// serveInit serves requests until the other end of its standard input is gone,
// which ends the world. It writes a line when it listens.
func serveInit(socket string) error {
	if os.Getpid() != 1 {
		return fmt.Errorf("pid %d is not the first process of a world", os.Getpid())
	}
	f := &first{own: map[int]bool{}}
	go f.reap()
	l, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, "ready")
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(conn)
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// reap waits for every orphan that has ended.
func (f *first) reap() {
	signals := make(chan os.Signal, 1) // a full channel is as good as another signal: all are looked for
	signal.Notify(signals)
	for s := range signals {
		if s.String() != "child exited" { // SIGCHLD, which not all systems have
			continue
		}
		f.mu.Lock()
		for _, pid := range f.orphans() {
			if p, err := os.FindProcess(pid); err == nil {
				_, _ = p.Wait()
			}
		}
		f.mu.Unlock()
	}
}

// orphans are the ended children that nobody waits for.
func (f *first) orphans() []int {
	entries, _ := filepath.Glob("/proc/[1-9]*")
	var found []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(filepath.Base(entry))
		if err != nil {
			continue
		}
		if stat, err := platform.ReadProcStat(pid); err == nil && stat.PPID == 1 && stat.State == 'Z' && !f.own[pid] {
			found = append(found, pid)
		}
	}
	return found
}

// start starts a program that its caller waits for and then forgets.
func (f *first) start(cmd *exec.Cmd) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	f.own[cmd.Process.Pid] = true
	return nil
}

func (f *first) forget(cmd *exec.Cmd) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.own, cmd.Process.Pid)
}

// serve answers one request.
func (f *first) serve(conn net.Conn) {
	defer conn.Close()
	from := json.NewDecoder(conn)
	var r request
	if from.Decode(&r) != nil {
		return
	}
	cmd := exec.Command(r.Argv[0], r.Argv[1:]...)
	cmd.Env, cmd.Dir = r.Env, r.Dir
	if r.Live {
		f.relay(cmd, io.MultiReader(from.Buffered(), conn), conn)
		return
	}
	_ = json.NewEncoder(conn).Encode(f.run(cmd, r.Stdin)) // whoever asked may be gone
}

// run runs a program to its end, and to the end of all that it left behind with
// its output.
func (f *first) run(cmd *exec.Cmd, stdin []byte) reply {
	stdout, stderr := &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	in, err := cmd.StdinPipe()
	if err == nil {
		err = f.start(cmd)
	}
	if err != nil {
		return reply{Err: err.Error()}
	}
	defer f.forget(cmd)
	go func() {
		defer in.Close()
		_, _ = in.Write(stdin) // a program need not read it
	}()
	status, err := statusOf(cmd.Wait())
	r := reply{Stdout: stdout.Bytes(), Stderr: stderr.Bytes(), Status: status}
	if err != nil {
		r.Err = err.Error()
	}
	return r
}

// relay runs a program whose streams are a connection's, until either ends.
func (f *first) relay(cmd *exec.Cmd, from io.Reader, conn net.Conn) {
	cmd.Stdout, cmd.Stderr = conn, conn
	in, err := cmd.StdinPipe()
	if err == nil {
		err = f.start(cmd)
	}
	if err != nil {
		fmt.Fprintln(conn, errors.Join(errors.New("starting a terminal"), err))
		return
	}
	defer f.forget(cmd)
	go func() {
		defer in.Close()
		_, _ = io.Copy(in, from)
	}()
	_ = cmd.Wait()
}
