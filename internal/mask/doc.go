// Package mask hides stored values in whatever a process prints, while it prints.
//
// # What it answers for
//
//   - [NewWriter] makes a writer that passes everything on and puts a mark, ****(NAME), in the place of each value of a
//     [Set], wherever the output is cut into writes. What matches nothing passes byte for byte.
//   - A value is looked for as it is and in the spellings that programs usually give it (forms.go), each of which is a
//     pattern. Patterns of base64 are also found folded into lines: between any two characters there may be one line
//     break, LF, CRLF, or the CR CR LF that a terminal makes of CRLF, at any width and at widths that change.
//   - A pattern is also found where escape sequences stand between its characters, as grep and progress bars
//     print them, at most 256 bytes of them in one place. Those within what is hidden are dropped with it.
//   - What is hidden is the union of all occurrences of all patterns: two that overlap are hidden as one, two that touch
//     get a mark each. The mark has the name of the longest pattern among those that begin first. It never contains a
//     pattern, and is never looked at again.
//   - Held back is only an end of the output that truly begins a pattern. Of such an end a few bytes go out when nothing
//     follows for a while ([IdleAfter]), so that a prompt shows; what hides the rest stays.
//   - A value added to the set while output flows is hidden from the next write on, what is held back included.
//   - It fails closed: after an error, of the writer behind or its own, nothing more goes out.
//   - Work is linear in the output, whatever the values and whoever wrote the output.
//   - [SelfTest] shows in which forms a value is hidden; [Tally] counts by output, not by set.
//
// # What it refuses to do
//
// It is a net against accidents, not a wall: a program that has a value can print it in pieces, backwards or in a code
// of its own. Values under [MinLength] bytes are never looked for, and what is longer than 64 KiB only as it is, without
// the line ends behind it, and by its lines. It judges nobody and knows no levels: who lends a value adds it.
//
// # Limits
//
// Of the threat model's limits L1 (a program does what it wants with a value), L4 (copies outside locked memory), L50 to
// L55 (encodings, pieces, short values, early bytes, guesses, memory) and L63 (colours) touch this package.
//
// # How
//
// The table (table.go) has all patterns of all values, sorted, and a sample of their q-grams, eight bytes each where no
// pattern is under twelve, else four. Every occurrence has one of these grams at a multiple of the stride, so that only
// each stride-th place of the output is looked up in a set of them (scan.go); which grams these are is chosen by how rare they
// are (sample.go). A hit is compared. Most output has none, and then no value is touched.
//
// Folded base64 has line breaks in its grams. Where few patterns fold, the sample has their grams with breaks wherever
// there may be some, and nothing else need be done (table.go: broken). Where many do, six characters around each newline
// of the output are looked up in a bitmap of their own, and what passes is searched with the break left out (fold.go).
//
// Escape sequences take a second pass over what is near an ESC alone: a lens says what a reader would see of the output,
// and the same search runs over that (lens.go, ansi.go). The parser's state goes over the whole stream.
//
// All this costs work, which is counted (scan.go: cost…). Where output and values are alike ("aaaa…") and it becomes too
// much, automata find the same in constant time a byte (automaton.go): two, one of all patterns and one of those that
// fold, made when they are first needed, which follow four tracks, one for each lens (slow.go). They keep the next 256 KiB.
//
// Both ways find spans. union.go joins them; writer.go puts marks in their place.
//
// # Memory
//
// A value that waits, and the pool of all patterns, lie in memory of package secret as other values do. What is computed
// from the pool (bitmaps, hashes under a random multiplier, entries, automata) is the table's image: it lies in pinned
// memory ([secret.MakeDerived]), since it is many times larger. The speller (speller.go) works in pinned memory too,
// because how much room the spellings take is known when they are made, and the pool is made of what it wrote.
//
// A table never changes. A set that grows gets another one, and the pool of the one before is wiped as soon as no search
// uses it. A writer holds the image from one write to the next: it is wiped when the last writer has turned to another
// table or has ended, which a destroyed set makes it do with its next write.
//
// # Invariants
//
//   - Values, and whatever is computed from their bytes, lie in memory of package secret; lengths and names don't, nor
//     does output: what is held back, and what a lens shows, is in ordinary memory. What is held is wiped when it is
//     decided.
//   - The writer behind is never called while a pool or an automaton is lent, and a held image keeps nobody from
//     destroying its table, so that a reader that hangs blocks nobody else.
//   - Both ways to search, all cuts into writes and all lenses agree with the slow reference in the tests.
//   - Lock order: a writer's mutex, then the set's, then a table's. A tally's is taken under a writer's, none of these
//     under it.
//
// # Files
//
//	set.go        Set: values added by name, the table in force
//	tally.go      Tally: which values are hidden in one output
//	forms.go      the spellings of a value that are looked for, and which of them apply
//	lines.go      those that are pieces of it, or differ in line ends
//	encodings.go  base64, hex, URLs, UTF-16, reversed
//	quotes.go     JSON, Go, Python, XML and HTML
//	shell.go      shells
//	mark.go       the text in a value's place
//	speller.go    writes the spellings of what was added
//	table.go      the table that a set is searched with, and how it is built
//	sample.go     the q-grams by which patterns are found
//	scan.go       the search by sampled q-grams, and what it costs
//	fold.go       the search over line breaks
//	lens.go       escape sequences, and output as a reader sees it
//	ansi.go       the search behind escape sequences
//	open.go       whether an end of the output begins a pattern, and how much of it may go early
//	automaton.go  the search in linear time
//	slow.go       what the automata know of what is held, through each lens
//	union.go      spans that overlap become one
//	writer.go     the writer; idle.go its early release
//	output.go     text and marks on their way, in few calls
//	selftest.go   SelfTest
package mask
