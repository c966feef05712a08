package audit

import "warder/internal/seal"

// Cause says what is wrong with a log.
type Cause string

// The causes.
const (
	// Tamper: a record is not what was written.
	Tamper Cause = "tamper"
	// Tear: a line is unfinished, as a crash leaves it.
	Tear Cause = "tear"
	// Cut: records are missing at the end.
	Cut Cause = "cut"
	// Key: the key file, or a checkpoint, is missing or not this log's.
	Key Cause = "key"
	// Gap: records are missing before others.
	Gap Cause = "gap"
)

// Bad is the first thing that is wrong with a log. Seq is exact with the root
// key. Without it, it is exact where one record was changed; where its
// neighbours were changed too, it is one of them.
type Bad struct {
	Seq   uint64 `json:"seq"`
	Cause Cause  `json:"cause"`
	Text  string `json:"text"` // a clause for people
}

// Break is damage that a person declared with [Log.Seal].
type Break struct {
	Sealed   uint64 `json:"sealed"` // the record that declares it
	FirstBad *Bad   `json:"first_bad"`
}

// Report is what Verify found.
type Report struct {
	OK       bool   `json:"ok"`
	Events   uint64 `json:"events"`   // records found right, up to the first bad
	Segments int    `json:"segments"` // files
	// Full says that the root key was there and a checkpoint reaches the oldest
	// record that is judged, so that the MAC of each was checked and not just the
	// chain.
	Full bool `json:"full"`
	// Proved is the first record whose MAC was checked, 0 if there is no key. What
	// is older is pinned by a checkpoint as it was when that was sealed.
	Proved   uint64 `json:"proved,omitempty"`
	FirstBad *Bad   `json:"first_bad,omitempty"`
	First    uint64 `json:"first"` // the oldest record that is kept
	Last     uint64 `json:"last"`  // the last record found right
	// Break is the newest break that was declared; what is older is kept as it
	// was found and not judged again.
	Break *Break `json:"break,omitempty"`
	// Found is what was found wrong before and nobody declared, whether or not it is
	// still to be seen: the records may be rotated away, or put back.
	Found *Bad `json:"found,omitempty"`
	// Signed is the record up to which the account had signed a log that was taken
	// away, where this one began anew and nobody declared that. It is no fault of
	// this log.
	Signed uint64 `json:"signed,omitempty"`
	// Unfinished is how many bytes stand behind the last record that nobody was
	// told is recorded: being written now, or left by a crash.
	Unfinished int64 `json:"unfinished,omitempty"`
}

// Mark is a state of the log that was noted elsewhere, such as in a manifest.
type Mark struct {
	Seq  uint64
	Head seal.Hash
}

// VerifyOptions is what Verify may rely on. All of it may be left out.
type VerifyOptions struct {
	// Root and Account open the checkpoints; a zero Root leaves the chain, the
	// key file and the marks.
	Root    seal.RootKey
	Account seal.ID
	// Marks were noted before Verify was called.
	Marks []Mark
}
