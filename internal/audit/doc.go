// Package audit keeps the log of what was asked, decided and done, in the format
// F2: a chain of records that nobody can change without being found out, as far
// as the keys reach.
//
// It answers for: a record being durable before Append returns, or an error and
// then no record that counts in half; one order, that of the sequence numbers,
// whatever clocks do; saying on reading back whether the log is whole, and if
// not, which record is the first that is wrong and how; going on after a crash
// or a break without rewriting what is there. It works while the account is
// locked.
//
// It refuses to: hold values (it can't know them, so callers pass inputs through
// Log.Input and put digests in the place of long content); take numbers, hashes
// or the log's own events from a caller; try a failed sync again; repair or
// remove what does not fit.
//
// # Invariants
//
//   - The records of a commit are synced before the key file, and the key file
//     before anybody is told. So records may be ahead of the key (a crash), and a
//     key ahead of the records is a cut.
//   - The key file holds the key of the record to come and no older one: it is
//     replaced at each commit. In memory older keys are destroyed likewise.
//   - A line has one form. Decoding takes what encoding makes and nothing else.
//   - Acknowledged lines are never written again. Only what is behind the last
//     of them is cut off, after a crash or a failed write.
//   - Each segment but the log's first begins with an event of the log itself
//     that names the oldest record that was kept then. So a segment that is
//     missing at the front is a gap and one that was rotated away is not.
//   - The log knows no logger that could write to it (S1-19). A rotation that
//     fails is told and fails no record (S1-18).
//
// # What is proved
//
// Without the root key: that the files fit together. A changed, missing or
// exchanged record is found unless whoever changed it made everything behind it
// anew, the key file included, which takes no key at all.
//
// With the root key: that each record since the oldest checkpoint is the one that
// was written, and each older one the one that was there when that checkpoint
// was sealed. An intruder who reads the key file at some moment can from then on
// write records, and change those that were written after that moment until the
// next checkpoint is sealed; he can't change older ones. He can remove files:
// that is found by the newest checkpoint that is left and by heads noted
// elsewhere (VerifyOptions.Marks), as the vault's manifests do.
//
// Of the threat model's limits L2 (programs of the same user), L11 (files can be
// removed) and L17 (what is proved without the root key) touch this package.
//
// # Files
//
//	record.go      records, their encoding, what is made of a caller's content
//	decode.go      the one decoder
//	event.go       the log's own events
//	trim.go        inputs
//	name.go        sealed names
//	log.go         opening, closing, status
//	append.go      group commit
//	commit.go      writing, rotation
//	damage.go      what is known to be wrong, until it is declared
//	load.go        how the last writer ended
//	checkpoint.go  the log's state under the root key
//	seal.go        declaring a break
//	segment.go     files, blocks of lines
//	read.go        reading back, following
//	report.go      what verifying can find
//	verify.go      verifying: where it begins, declared breaks
//	evidence.go    what records are held against
//	scan.go        reading on all cores
//	judge.go       the verdict
package audit
