package api

import (
	"net"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// connModel is what a test knows of one connection.
type connModel struct {
	c    *conn
	far  net.Conn
	busy bool
}

// TestRegisterKeepsItsLimits takes connections in, lets them call, and ends them, in any order. A model with nothing but a
// list, the longest waiting first, says who has to go.
func TestRegisterKeepsItsLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Conns: rapid.IntRange(1, 6).Draw(t, "conns"), PerProcess: rapid.IntRange(1, 4).Draw(t, "per process")}
		m := &registerModel{t: t, reg: newRegister(limits.withDefaults())}
		t.Repeat(map[string]func(*rapid.T){
			"add":   m.add,
			"begin": m.begin,
			"end":   m.end,
			"close": m.close,
			"":      m.check,
		})
		for _, x := range m.conns {
			x.c.Close()
		}
		for _, x := range m.displaced {
			m.checkDisplaced(x)
		}
		m.reg.running.Wait()
	})
}

type registerModel struct {
	t     *rapid.T
	reg   *register
	conns []*connModel // in the order in which they began to wait
	// displaced are those that had to go, still to be closed by their users.
	displaced []*connModel
}

func (m *registerModel) add(t *rapid.T) {
	here, there := net.Pipe()
	x := &connModel{c: newConn(there, rapid.IntRange(0, 2).Draw(t, "pid"), m.reg), far: here}
	room := m.makeRoom(func(o *connModel) bool { return o.c.pid == x.c.pid }, m.reg.limits.PerProcess) &&
		m.makeRoom(func(*connModel) bool { return true }, m.reg.limits.Conns)
	if got := m.reg.add(x.c); got != room {
		t.Fatalf("added %v, want %v", got, room)
	}
	if room {
		m.conns = append(m.conns, x)
	}
}

// makeRoom lets the longest waiting of those that match go, if there are as many as may be.
func (m *registerModel) makeRoom(match func(*connModel) bool, limit int) bool {
	count, victim := 0, -1
	for i, x := range m.conns {
		if !match(x) {
			continue
		}
		count++
		if victim < 0 && !x.busy {
			victim = i
		}
	}
	if count < limit {
		return true
	}
	if victim < 0 {
		return false
	}
	x := m.conns[victim]
	m.conns = slices.Delete(m.conns, victim, victim+1)
	m.displaced = append(m.displaced, x)
	return true
}

func (m *registerModel) checkDisplaced(x *connModel) {
	if m.reg.begin(x.c) {
		m.t.Error("a displaced connection may call")
	}
	if _, err := x.far.Write([]byte{1}); err == nil {
		m.t.Error("a displaced connection is open")
	}
	x.c.Close()
}

func (m *registerModel) pick(t *rapid.T, busy bool) *connModel {
	var some []*connModel
	for _, x := range m.conns {
		if x.busy == busy {
			some = append(some, x)
		}
	}
	if len(some) == 0 {
		t.Skip("there is none")
	}
	return rapid.SampledFrom(some).Draw(t, "which")
}

func (m *registerModel) begin(t *rapid.T) {
	x := m.pick(t, false)
	if !m.reg.begin(x.c) {
		t.Fatal("a waiting connection may not call")
	}
	x.busy = true
}

func (m *registerModel) end(t *rapid.T) {
	x := m.pick(t, true)
	if !m.reg.end(x.c) {
		t.Fatal("the connection may not go on")
	}
	x.busy = false
	m.conns = append(slices.DeleteFunc(m.conns, func(o *connModel) bool { return o == x }), x)
}

func (m *registerModel) close(t *rapid.T) {
	x := m.pick(t, rapid.Bool().Draw(t, "busy"))
	x.c.Close()
	x.c.Close() // once is enough
	m.conns = slices.DeleteFunc(m.conns, func(o *connModel) bool { return o == x })
}

func (m *registerModel) check(t *rapid.T) {
	if len(m.reg.conns) != len(m.conns) || len(m.conns) > m.reg.limits.Conns {
		t.Fatalf("%d connections, want %d of %d", len(m.reg.conns), len(m.conns), m.reg.limits.Conns)
	}
	count := map[int]int{}
	for _, x := range m.conns {
		count[x.c.pid]++
	}
	for pid, n := range m.reg.byPID {
		if n != count[pid] || n > m.reg.limits.PerProcess || n < 1 {
			t.Fatalf("%d connections of process %d, want %d of %d", n, pid, count[pid], m.reg.limits.PerProcess)
		}
	}
}
