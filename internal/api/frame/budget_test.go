package frame_test

import (
	"net"
	"strings"
	"sync"
	"testing"

	"warder/internal/api/frame"
)

const freeShare = 128 << 10

func TestBudget(t *testing.T) {
	b := frame.NewBudget(1000)
	one, two, small := b.Share(), b.Share(), b.Share()
	if !one.Take(freeShare) || b.Left() != 1000 {
		t.Error("what each may take was taken from the budget")
	}
	if !one.Take(600) || b.Left() != 400 {
		t.Errorf("left %d", b.Left())
	}
	if two.Take(freeShare+401) || b.Left() != 400 {
		t.Errorf("more than there is; left %d", b.Left())
	}
	if !small.Take(freeShare) {
		t.Error("a small request is refused")
	}
	one.Give()
	one.Give()
	if b.Left() != 1000 {
		t.Errorf("left %d", b.Left())
	}
	two.Give()
	if !two.Take(freeShare+1000) || b.Left() != 0 {
		t.Errorf("left %d", b.Left())
	}
}

func TestNoBudgetIsNoBound(t *testing.T) {
	s := (*frame.Budget)(nil).Share()
	if !s.Take(1 << 40) {
		t.Error("refused")
	}
	s.Give()
}

// TestBudgetIsNeverOverdrawn lets many requests take and give at once.
func TestBudgetIsNeverOverdrawn(t *testing.T) {
	const room = 10_000
	b := frame.NewBudget(room)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 2000 {
				s := b.Share()
				s.Take(freeShare)
				if s.Take(3000) {
					s.Take(2000)
				}
				s.Give()
			}
		})
	}
	all.Wait()
	if b.Left() != room {
		t.Errorf("left %d of %d", b.Left(), room)
	}
}

// TestASpentBudgetRefusesByName serves a large request while the budget is spent, and a small one.
func TestASpentBudgetRefusesByName(t *testing.T) {
	b := frame.NewBudget(10)
	for name, c := range map[string]struct {
		sends []byte
		want  frame.Code
	}{
		"a large request": {request(`{"op":"a","input":"` + strings.Repeat("x", freeShare) + `"}`), frame.Unreachable},
		"large values":    {valuesOf(3), frame.Unreachable},
		"a small one":     {valuesOf(1), ""},
	} {
		here, there := net.Pipe()
		go say(here, with(hello(t), c.sends))
		if err := serveTo(there, b); codeOf(err) != c.want || (err == nil) != (c.want == "") {
			t.Errorf("%s: %v", name, err)
		}
		there.Close()
		if b.Left() != 10 {
			t.Errorf("%s: left %d", name, b.Left())
		}
	}
}

// valuesOf is a request with values as large as they may be.
func valuesOf(n int) []byte {
	all := request(`{"op":"a","values":` + string(rune('0'+n)) + `}`)
	for range n {
		all = frame.AppendFrame(all, frame.KindValue, make([]byte, frame.MaxValue))
	}
	return all
}
