// Package seal is the only home of cryptographic primitives. It turns warder's
// intents (wrap a root key for a password, seal an item, sign a manifest,
// authenticate an audit record) into the bytes of the formats F1 (the vault) and
// F2 (the audit log), and back.
//
// It answers for: which algorithm and which key serve which purpose; the nonces,
// all drawn inside from crypto/rand; what each box is bound to, so that a box
// moved, renamed or taken from another epoch does not open; and that nothing is
// given out before it is authenticated.
//
// It refuses to: take a nonce or an algorithm from a caller; accept a password
// cost outside the bounds in this code, whatever a file says; tell one failure
// to open from another (ErrOpen); show the bytes of a key to another package or
// to a printing function.
//
// # Invariants
//
//   - Every key has a Go type of its own, so one can't stand in for another.
//   - Every use of a key has a label of its own (labels.go, F2's in audit.go), and
//     every input is encoded one way only (encode.go), so no two uses see the same
//     input. One use has no label: MACRecord. What it authenticates begins with
//     "{", and every label under the same keys with "w".
//   - A slot's commitment is checked before its box: the cipher that wraps keys
//     doesn't commit to its key, and a box built to open under many keys would
//     test that many passwords at once.
//   - Keys stay in locked memory (package secret) and are lent, never returned.
//     Item content is decrypted there in place. A copy that a library returns on
//     the heap is wiped when its use ends.
//   - Sealing reports a wrong input by name. Opening reports ErrOpen, and beside
//     it only faults of this process: secret.ErrDestroyed, no memory, no key. The
//     one exception is the audit log's key file of another format version, which
//     OpenAuditState names: the number stands there in the clear.
//
// The memory that stretching a password takes (128 MiB) is garbage afterwards,
// and zero at no certain time. Whoever unlocks gives it back to the system once,
// not this package each time.
//
// # Limits
//
// Of the threat model's limits L4 (copies in ordinary memory), L6 (guessing the
// password costs Argon2id), L7 and L8 (what recovery codes and old keysets still
// open) and L17 (what the audit log proves) touch this package.
//
// Wiping is best effort. Libraries keep state of their own in the heap, which
// the collector reuses but nobody wipes:
//
//   - the AES key schedules and the per-nonce keys of the key wrap;
//   - the copies of a content key in the cipher's state;
//   - Argon2id's lanes and first hash, from which the password can be tested;
//   - the inner and outer states of HMAC and of HKDF, and a last block of input;
//   - the expanded signing key, which the standard library also keeps in a cache
//     until the collector runs, and the expanded key for hand-overs;
//   - the buffer in which x/text sorts a password's combining marks.
//
// A stack that grows is copied and the old one is not wiped either.
//
// A password's form depends on Unicode's tables: characters assigned after the
// linked version of x/text may decompose in a later one. x/text also keeps to
// Unicode's stream-safe format: after 30 combining marks in a row it inserts
// U+034F. A second reader must do the same for such a password.
//
// # Files
//
//	labels.go      the labels of F1's keys and inputs
//	encode.go      the one encoding of inputs
//	primitives.go  the algorithms; nothing else names one
//	errors.go      ErrOpen and what becomes of other errors
//	id.go          ids and hashes
//	keys.go        key types, subkeys, wrapping of keys
//	kdf.go         password cost, its bounds, password normal form
//	root.go        root key in a password or recovery slot
//	vault.go       vault keys, fingerprints of values
//	item.go        item keys and item content
//	manifest.go    manifest parts
//	account.go     keyset, device cards, seen state
//	presence.go    proofs of presence
//	audit.go       F2: the audit log's evolving key, its checkpoints, sealed names and labels
//	device.go      a device's own keys, manifest signatures
//
// testdata/vectors holds the published vectors of every primitive and
// warder-v1.json, warder's own: inputs, intermediate values and results of every
// function here, by which a second implementation can check itself.
package seal
