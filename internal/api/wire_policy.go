package api

// PolicyPending is what the user's files ask for and what waits, since it widens. Callers who are no person are told which file
// asks, and no more.
type PolicyPending struct {
	Proposals []Proposal `json:"proposals"`
	// Shown stands for this list and for the very bytes of the files, for PolicyAccept.
	Shown string `json:"shown,omitempty"`
}

// Proposal is one thing that a file of the user's asks for.
type Proposal struct {
	File     string `json:"file"`           // absolute
	Line     int    `json:"line,omitempty"` // from 1; 0 for what is not there any more
	Entry    string `json:"entry"`          // the option or the agent
	Accepted string `json:"accepted"`       // what counts, in lines
	Proposed string `json:"proposed"`       // what would count
	Widens   string `json:"widens"`         // what would come of it
}

// PolicyAccept lets all that waits count, as it was when it was listed.
type PolicyAccept struct {
	Act
	Shown string `json:"shown"` // PolicyPending's
}

// PolicyAccepted says what counts now.
type PolicyAccepted struct {
	Accepted []Proposal `json:"accepted"`
}
