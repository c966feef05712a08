package api

// MaskBegin asks to have stored values hidden in texts, which follow piece by piece: a text may hold any bytes, and its answers are what may
// be shown of it. No value goes to the client.
type MaskBegin struct {
	Items []string `json:"items,omitempty"` // those whose values are hidden; all if empty
}

// MaskBegun says that the texts may come.
type MaskBegun struct {
	// Whole says that nothing of a text is shown before its end: who wrote it must not learn by the time at which it comes back whether it
	// begins a value (L53).
	Whole bool `json:"whole,omitempty"`
}

// Masked says what was done.
type Masked struct {
	Hidden int `json:"hidden"` // different values
}
