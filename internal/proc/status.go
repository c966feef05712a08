package proc

// Exit statuses, as shells and env(1) have them.
const (
	statusUsage    = 2
	statusOwn      = 125 // warder itself failed
	statusNoRun    = 126 // found, and can't be run
	statusNotFound = 127
	statusSignal   = 128 // and the signal's number
)

// Outcome is how a program ended.
type Outcome struct {
	Code   int // what it returned
	Signal int // what ended it, if not 0
}

// Status is the exit status that a shell would give for it.
func (o Outcome) Status() int {
	if o.Signal != 0 {
		return statusSignal + o.Signal
	}
	return o.Code
}
