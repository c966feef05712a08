package vault

import "fmt"

// Level is what agents may do with an item, a project, a stage or a variable. The order is the order of power (S2-48).
type Level int

const (
	LevelUnset Level = iota // as none, but a project, a stage or a client's grant may open it
	LevelNone               // not even its name
	LevelAsk                // the first use by each agent instance asks
	LevelUse                // usable, not visible
	LevelRead               // usable and visible; the plaintext then goes to the model's vendor
)

// String is the word that commands and F1 use; unset is the empty string in F1.
func (l Level) String() string {
	switch l {
	case LevelUnset:
		return "unset"
	case LevelNone:
		return "none"
	case LevelAsk:
		return "ask"
	case LevelUse:
		return "use"
	case LevelRead:
		return "read"
	}
	return fmt.Sprintf("level(%d)", int(l))
}

func (l Level) check() error {
	if l < LevelUnset || l > LevelRead {
		return fmt.Errorf("%s is none of the levels", l)
	}
	return nil
}

// ParseLevel reads the word of a level.
func ParseLevel(s string) (Level, error) {
	for l := LevelUnset; l <= LevelRead; l++ {
		if l.String() == s {
			return l, nil
		}
	}
	return LevelUnset, fmt.Errorf("level %q is none of unset, none, ask, use, read", s)
}

// Effective combines what an item, its project, its stage and the asking client's own grant say: the widest wins, but an explicit
// none anywhere wins over all of them (S2-49, C-24). With nothing set the result is unset, which opens nothing.
func Effective(grants ...Level) Level {
	widest := LevelUnset
	for _, l := range grants {
		if l == LevelNone {
			return LevelNone
		}
		widest = max(widest, l)
	}
	return widest
}

func levelMember(key string, l Level) member {
	if l == LevelUnset {
		return member{}
	}
	return textMember(key, l.String())
}

// readLevel refuses the word for unset: F1 says that by leaving the member out, and has no second way.
func readLevel(d *decoder) Level {
	l, err := ParseLevel(d.str())
	d.failWith(err)
	if l == LevelUnset {
		d.fail()
	}
	return l
}
