package frame

import "sync/atomic"

// freeShare is what each request may take without asking the budget, so that small requests are served while large ones
// have spent it.
const freeShare = 128 << 10

// Budget bounds the bytes that all requests of a server hold together. One connection alone is bounded by the limits
// above; many at once would still exhaust the memory of the process that holds the account.
type Budget struct{ left atomic.Int64 }

// NewBudget makes a budget of so many bytes.
func NewBudget(bytes int64) *Budget {
	b := &Budget{}
	b.left.Store(bytes)
	return b
}

// Share is what one request holds of a budget. It is for one goroutine. The zero Share has no budget and no bound.
type Share struct {
	budget *Budget
	used   int64 // bytes of the request so far
	taken  int64 // how many of them the budget lent
}

// Share begins a request.
func (b *Budget) Share() Share { return Share{budget: b} }

// Take adds n bytes to the request and reports whether there was room for them.
func (s *Share) Take(n int) bool {
	if s.budget == nil {
		return true
	}
	s.used += int64(n)
	need := s.used - freeShare - s.taken
	if need <= 0 {
		return true
	}
	if s.budget.left.Add(-need) < 0 {
		s.budget.left.Add(need)
		return false
	}
	s.taken += need
	return true
}

// Give returns everything: the request is over.
func (s *Share) Give() {
	if s.budget != nil {
		s.budget.left.Add(s.taken)
	}
	s.used, s.taken = 0, 0
}
