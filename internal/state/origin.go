package state

import "fmt"

// OriginKind is the sort of place a value came from, in rising order of rank.
type OriginKind int

// A later kind overrides an earlier one.
const (
	FromDefault OriginKind = iota
	FromFile
	FromEnvironment
	FromFlag
)

// Origin says where a value came from, so that a person who wonders about it
// knows what to change. The zero Origin is the built-in default.
type Origin struct {
	Kind OriginKind
	Name string // the file's path, the variable, or the flag without dashes
	Line int    // the line in the file, from 1; 0 for everything else
}

// String returns the origin as messages and listings show it: "default",
// "/home/u/.config/warder/config.toml:3", "environment WARDER_GUARD_MODE" or
// "flag --lock.idle".
func (o Origin) String() string {
	switch o.Kind {
	case FromFile:
		if o.Line > 0 {
			return fmt.Sprintf("%s:%d", o.Name, o.Line)
		}
		return o.Name
	case FromEnvironment:
		return "environment " + o.Name
	case FromFlag:
		return "flag --" + o.Name
	default:
		return "default"
	}
}
