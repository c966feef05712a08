package caller

import "fmt"

// WalkAncestors goes up 16 levels and checks them again, as a judgement does, by
// the kernel's answers or by /proc alone. It reads nothing else.
func WalkAncestors(p *Peer, proc bool) (levels int, err error) {
	w := newWalker()
	if proc {
		w.info, w.parent = infoFromProc, parentFromProc
	}
	processes, err := w.walk(p.pidfd, p.pid)
	if err != nil {
		return 0, fmt.Errorf("walking: %w", err)
	}
	defer release(processes)
	return len(processes) - 1, w.verify(processes)
}
