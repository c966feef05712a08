package vault

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"warder/internal/seal"
)

// smallVector draws vectors of few devices and low counts, so that all relations between two come up.
func smallVector() *rapid.Generator[vector] {
	return rapid.Custom(func(t *rapid.T) vector {
		var v vector
		for d, n := range rapid.MapOfN(rapid.ByteRange(1, 4), rapid.Uint64Range(0, 3), 0, 4).Draw(t, "vector") {
			v = v.set(seal.ID{d}, n)
		}
		return v
	})
}

// seenBy says by its meaning whether o has seen all of v.
func seenBy(v, o vector) bool {
	return !slices.ContainsFunc(v, func(t tick) bool { return t.n > o.get(t.device) })
}

func TestVectorOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := smallVector().Draw(t, "a"), smallVector().Draw(t, "b"), smallVector().Draw(t, "c")
		want := map[[2]bool]order{{true, true}: equal, {true, false}: before, {false, true}: after, {false, false}: concurrent}
		if got := a.compare(b); got != want[[2]bool{seenBy(a, b), seenBy(b, a)}] {
			t.Fatalf("%v and %v: %d", a, b, got)
		}
		turned := map[order]order{equal: equal, before: after, after: before, concurrent: concurrent}
		if got := b.compare(a); got != turned[a.compare(b)] {
			t.Fatalf("%v and %v: %d, turned round %d", a, b, a.compare(b), got)
		}
		if a.compare(a) != equal {
			t.Fatalf("%v and itself", a)
		}
		if a.compare(b) == before && b.compare(c) == before && a.compare(c) != before {
			t.Fatalf("%v before %v before %v", a, b, c)
		}
	})
}

func TestVectorJoin(t *testing.T) {
	one := func(a, b vector) bool { return a.compare(b) == equal }
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := smallVector().Draw(t, "a"), smallVector().Draw(t, "b"), smallVector().Draw(t, "c")
		kept := [2]vector{slices.Clone(a), slices.Clone(b)}
		ab := a.join(b)
		switch {
		case !one(ab, b.join(a)):
			t.Fatalf("%v and %v: the order counts", a, b)
		case !one(ab.join(c), a.join(b.join(c))):
			t.Fatalf("%v, %v and %v: the grouping counts", a, b, c)
		case !one(a.join(a), a):
			t.Fatalf("%v joined with itself is another", a)
		case !seenBy(a, ab) || !seenBy(b, ab):
			t.Fatalf("%v has not seen %v and %v", ab, a, b)
		case seenBy(a, c) && seenBy(b, c) && !seenBy(ab, c):
			t.Fatalf("%v is not the least that has seen %v and %v", ab, a, b)
		case !slices.IsSortedFunc(ab, func(x, y tick) int { return compareIDs(x.device, y.device) }):
			t.Fatalf("%v is out of order", ab)
		}
		if diff := cmp.Diff(kept, [2]vector{a, b}, same()); diff != "" {
			t.Fatalf("joining changed them: %s", diff)
		}
	})
}

func TestVectorNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v, device := smallVector().Draw(t, "v"), seal.ID{rapid.ByteRange(1, 5).Draw(t, "device")}
		kept := slices.Clone(v)
		next := v.next(device)
		if v.compare(next) != before || next.get(device) != v.get(device)+1 {
			t.Fatalf("%v after %v", next, v)
		}
		if diff := cmp.Diff(kept, v, same()); diff != "" {
			t.Fatalf("it was changed: %s", diff)
		}
	})
}

// TestHeadsInAnyOrder: which device's statement is read first does not matter.
func TestHeadsInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var entries []entry
		for range rapid.IntRange(0, 5).Draw(t, "entries") {
			v := smallVector().Draw(t, "v")
			// One writer writes one revision under one vector; another revision under the same one is a fork.
			entries = append(entries, entry{rev: seal.Hash{rapid.ByteRange(1, 2).Draw(t, "rev")}, vec: v})
		}
		heads := func(list []entry) []entry {
			var out []entry
			for _, e := range list {
				out = addHead(out, e)
			}
			return out
		}
		want := heads(entries)
		got := heads(rapid.Permutation(entries).Draw(t, "order"))
		if len(got) != len(want) {
			t.Fatalf("%d heads, in another order %d", len(want), len(got))
		}
		for _, h := range want {
			fits := func(o entry) bool { return o.rev == h.rev && o.vec.compare(h.vec) == equal }
			if !slices.ContainsFunc(got, fits) {
				t.Fatalf("%v is no head in another order", h)
			}
			for _, e := range entries {
				if h.vec.compare(e.vec) == before {
					t.Fatalf("%v is a head, and %v has seen it", h, e)
				}
			}
		}
		for _, e := range entries {
			if !slices.ContainsFunc(want, func(h entry) bool { return seenBy(e.vec, h.vec) }) {
				t.Fatalf("%v is lost", e)
			}
		}
	})
}
