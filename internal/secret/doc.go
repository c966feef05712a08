// Package secret keeps secret bytes in memory that is wiped, locked and hard to read, and keeps them out of
// everything that prints.
//
// # What it answers for
//
//   - A [Value] holds bytes outside the Go heap, so that the collector neither moves nor copies them: in memory from
//     memfd_secret, else locked and left out of core dumps, else plain. [MemoryKind] says which; running out of lock
//     limit lowers the kind and never fails.
//   - Its bytes are reached through [Value.Use] alone. Every way of formatting or encoding a Value shows
//     [Placeholder], and reflection finds no path from it to the bytes.
//   - [Value.Destroy] wipes them; freed memory is wiped before it is used again.
//   - [MakeDerived] makes large tables of what is computed from secrets, in memory that is locked and not dumped but not
//     hidden from the kernel. [Hold], [Release] and [Retire] are for who uses one for each byte that passes.
//   - [Strength] judges a password without leaving a copy.
//
// # What it refuses to do
//
// It gives out no string and no copy, decodes into no Value, compares only in constant time, and knows no key or
// cipher. It does not promise that no copy exists: what a caller of Use makes of the bytes, what a system call or a
// library copies, and what a growing stack or a register spill leaves behind is out of its reach. Only memfd_secret
// keeps the bytes from a debugger that may attach; against the kernel itself nothing does. While such memory is mapped
// Linux refuses to hibernate.
//
// # Limits
//
// Of the threat model's limits L4 (copies outside locked memory), L10 (memory that can't be locked) and L18 (hibernation,
// debuggers) touch this package.
//
// # Invariants
//
//   - A free block of the arena is all zeros.
//   - No two blocks overlap; a lent slice has no capacity beyond its block.
//   - Bytes don't change or move while a Use of them runs.
//   - Lock order: a value's own mutex, then the arena's. No caller's function runs under either.
//
// # Files
//
//	value.go      Value and the functions that make, lend and destroy one
//	hold.go       bytes that are lent for longer than a call
//	cell.go       what the copies of a Value share: users, destruction
//	print.go      the refusals to be printed
//	arena.go      the arena of the process, MemoryKind
//	slab.go       one mapping, shared out by the buddy method
//	strength.go   Strength: the cheapest way to put a password together
//	glyph.go      characters as a guesser reads them
//	pieces.go     words, rows of keys, repeats
//	keyboard.go   walks from key to neighbouring key
//	dates.go      years and dates
//	words.go      the word list; wordlist/README.md names its sources
package secret
