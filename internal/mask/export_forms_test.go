package mask

// Spelt is one spelling and the form that makes it.
type Spelt struct {
	Form, Text string
	Folds      bool
}

// EachSpelling calls put with all that a value of a user adds to a set, without its own room: the fuzzer's judges do.
func EachSpelling(v []byte, o ValueOptions, put func([]byte)) error {
	put(v)
	if o.Exact {
		return nil
	}
	return o.User.Use(func(user []byte) {
		SpellInto(v, user, make([]byte, RoomOf(v, user, o)), o, func(b []byte) {
			if len(b) >= MinLength {
				put(b)
			}
		})
	})
}

// RoomOf is the most room that a form of v needs.
func RoomOf(v, user []byte, o ValueOptions) int {
	_, room := formsOf(v, user, o)
	return room
}

// SpellInto makes all spellings in room.
func SpellInto(v, user, room []byte, o ValueOptions, put func([]byte)) {
	apply, _ := formsOf(v, user, o)
	for _, f := range apply {
		f.spell(v, room[:0:f.room(len(v))], put)
	}
}

// SpelledBy are the spellings of v, form by form. It panics if one was not made in its room.
func SpelledBy(v, user []byte, o ValueOptions) []Spelt {
	var found []Spelt
	apply, _ := formsOf(v, user, o)
	for _, f := range apply {
		room := make([]byte, f.room(len(v)))
		f.spell(v, room[:0], func(b []byte) {
			if f.grow > 0 && len(b) > 0 && (cap(b) > len(room) || &b[0] != &room[len(room)-cap(b)]) && !within(b, v) {
				panic("a spelling of " + f.name + " went beyond its room")
			}
			found = append(found, Spelt{f.name, string(b), f.folds})
		})
	}
	return found
}

// within reports whether b is a piece of v.
func within(b, v []byte) bool {
	for i := range v {
		if &v[i] == &b[0] {
			return true
		}
	}
	return false
}

// SelfTestHides is how the self-test judges texts.
func SelfTestHides(set *Set, texts ...[]byte) (bool, error) {
	return hides(set, texts, func(b []byte) []byte { return b })
}

// SelfTestName is the name that its values have.
const SelfTestName = selfTestName
