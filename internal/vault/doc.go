// Package vault keeps the encrypted account: its keys, vaults, items, projects and levels, in the format F1 (docs/formats.md).
//
// It answers for three promises. What it writes is ciphertext that is bound to its place. A write is in force entirely or not at all, and
// survives a crash at any step. What somebody else did to the files is found out as far as this device's memory reaches, named as a
// Finding, and stops writes until a person decides; it never stops use.
//
// It refuses to decide who may have a value: levels, hosts and commands are kept here and judged in the gate. It logs nothing
// and prints nothing; errors carry names, never values.
//
// Invariants: values are in secret.Value from the file to the caller, and item keys live for one act; the index in memory holds no
// value; nothing is overwritten but this device's own root and local files; no file counts that no signed root lists.
//
// Where things are:
//
//	account.go create.go roster.go   the account: create, unlock, lock, password, recovery, devices
//	presence.go root.go              proofs that the password was typed again; the root key lent to the audit log
//	ring.go keyset.go device.go kit.go   keys in memory, their files, the codes on paper
//	vault.go change.go undo.go project.go   what callers do with one vault
//	load.go shelf.go refresh.go open.go   what is loaded of account and vault, and reading it
//	commit.go                        the only way in which items change: F1.8 step by step
//	judge.go strays.go finding.go repair.go   what is wrong with the store, and putting it right
//	item.go itemcheck.go itemcodec.go level.go name.go vector.go   items: what they are, may say, and look like in bytes
//	reference.go                     addresses of items and fields, as people and variables write them
//	manifest.go seen.go format.go encode.go decode.go digest.go   bytes of F1
//	tree.go                          the way to files, and folders held open
//	attempts.go errors.go            the wait after wrong passwords; what callers branch on
//
// Limits of the threat model that touch it: L2 (same user), L3 (first sight), L4 (copies in Go's memory).
package vault
