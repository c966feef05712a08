package audit

import "strings"

// ownPrefix begins the names of the log's own events.
const ownPrefix = "audit."

// The events that the log records about itself. Append refuses them.
const (
	// EventRotated begins a segment because the one before was full.
	EventRotated = "audit.rotated"
	// EventTorn holds the line that a writer was writing when it died. Nobody
	// had been told that this line was recorded, unless the data says that a
	// record is lost.
	EventTorn = "audit.torn"
	// EventCut begins a segment because acknowledged records were missing at the
	// end of the log.
	EventCut = "audit.cut"
	// EventBroken begins a segment because the last acknowledged record was
	// another than the one that was written.
	EventBroken = "audit.broken"
	// EventRekeyed begins a segment with a key of its own because the log's key
	// was lost or another log's.
	EventRekeyed = "audit.rekeyed"
	// EventDamaged begins a segment because damage was found while the log was in
	// use, by verifying it or by what the account has signed.
	EventDamaged = "audit.damaged"
	// EventBegunAnew is the first record of a log that began because the one before
	// was taken away, as the account knows that has signed it.
	EventBegunAnew = "audit.begun_anew"
	// EventSealed begins a segment after a break that a person declared.
	EventSealed = "audit.sealed"
)

// isOwn reports whether event is one of the above.
func isOwn(event string) bool {
	switch event {
	case EventRotated, EventTorn, EventCut, EventBroken, EventRekeyed, EventDamaged, EventBegunAnew, EventSealed:
		return true
	}
	return false
}

// CanonicalEvent returns the one name of an event that has had two (C-22):
// tool_intent.* and tool_execution.* mean the same as tool.intent.* and
// tool.execution.*. Readers compare events by it; records keep the name that
// they were given.
func CanonicalEvent(event string) string {
	for _, part := range [...]string{"intent", "execution"} {
		if rest, ok := strings.CutPrefix(event, "tool_"+part+"."); ok {
			return "tool." + part + "." + rest
		}
	}
	return event
}

// opening is the data of the log's own events.
type opening struct {
	// First is the oldest record that was kept when the segment was begun. What
	// is older was removed by rotation, and nothing younger may be missing.
	First    uint64          `json:"first,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Lost     *span           `json:"lost,omitempty"`      // acknowledged records that were not there
	Torn     *torn           `json:"torn,omitempty"`      // of EventTorn
	FirstBad *Bad            `json:"first_bad,omitempty"` // of EventSealed
	Found    *Bad            `json:"found,omitempty"`     // what was wrong before and nobody declared
	Signed   uint64          `json:"signed,omitempty"`    // the last record that was signed of a log that is gone
	Segments []sealedSegment `json:"segments,omitempty"`  // of EventSealed
}

// span is a range of records, both ends included.
type span struct {
	First uint64 `json:"first"`
	Last  uint64 `json:"last"`
}

// torn is what lay behind the last record.
type torn struct {
	Digest
	Text string `json:"text"` // its beginning
}

// sealedSegment is a segment as a seal found it. It is never written again.
type sealedSegment struct {
	First uint64 `json:"first"`
	Digest
}
