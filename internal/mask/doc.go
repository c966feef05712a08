// Package mask hides stored values in whatever a process prints, while it prints.
//
// # What it answers for
//
//   - [NewWriter] makes a writer that passes everything on and puts a mark, ****(NAME), in the place of each value of a
//     [Set], wherever the output is cut into writes. What matches nothing passes byte for byte.
//   - What is hidden is the union of all occurrences of all values: two that overlap are hidden as one, two that touch
//     get a mark each. The mark has the name of the longest value among those that begin first. It never contains a
//     value, and is never looked at again.
//   - Held back is only an end of the output that truly begins a value. Of such an end a few bytes go out when nothing
//     follows for a while ([IdleAfter]), so that a prompt shows; what hides the rest stays.
//   - A value added to the set while output flows is hidden from the next write on, what is held back included.
//   - It fails closed: after an error, of the writer behind or its own, nothing more goes out.
//   - Work is linear in the output, whatever the values and whoever wrote the output.
//
// # What it refuses to do
//
// It is a net against accidents, not a wall: a program that has a value can print it in pieces, backwards or in a code
// of its own. Values under [MinLength] bytes are never looked for. It judges nobody and knows no levels: who lends a
// value adds it.
//
// # Limits
//
// Of the threat model's limits L1 (a program does what it wants with a value), L4 (copies outside locked memory) and
// L50 to L55 (encodings, pieces, short values, early bytes, guesses, memory) touch this package.
//
// # How
//
// A table (table.go) has all spellings (forms.go) of all values, sorted, and a sample of their q-grams: every
// occurrence has a q-gram at a multiple of the stride, so that only each stride-th position of the output is looked up
// in a bitmap; a hit is compared. Where compares cost more than they may, since output and values are alike ("aaaa…"),
// the same spans are found by an automaton (automaton.go) that takes constant time a byte; it is built when it is first
// needed. Both find spans; union.go joins them, writer.go puts marks in their place.
//
// # Invariants
//
//   - Values, and whatever is computed from their bytes, lie in memory of package secret; lengths and names don't.
//   - The writer behind is never called while a table is in use, so that a reader that hangs blocks nobody else.
//   - Lock order: a writer's mutex, then the set's, then a table's.
//
// # Files
//
//	set.go        Set: values added by name, the table in force
//	tally.go      Tally: which values are hidden in one output
//	forms.go      the spellings of a value that are looked for
//	encodings.go  those that encode it
//	mark.go       the text in a value's place
//	table.go      the table that a set is searched with, and how it is built
//	sample.go     the q-grams by which patterns are found
//	scan.go       the search by sampled q-grams
//	open.go       whether an end of the output begins a value
//	automaton.go  the search in linear time
//	union.go      spans that overlap become one
//	writer.go     the writer; idle.go its early release
package mask
