package daemon

import (
	"fmt"
	"slices"
	"strings"

	"warder/internal/credential"
	"warder/internal/policy"
)

// fault is one variable that stands in the way of an act, and what it would take.
type fault struct {
	need policy.Need
	name string
	line int // in the file that it came from; 0 if it came from none
}

// faults are all of an act's. Their names are told to the caller, who wrote them, and never recorded.
type faults []fault

// maxFaults is how many bytes of them an error names; a message is cut at 4 KiB.
const maxFaults = 3 << 10

// names are the variables with a fault, each once, and the same as a set.
func (l faults) names() (names []string, set map[string]bool) {
	names, set = []string{}, map[string]bool{}
	for _, f := range l {
		if !set[f.name] {
			names = append(names, f.name)
		}
		set[f.name] = true
	}
	return names, set
}

// explain is a refusal that names every variable that stands in the way, each under its own reason.
func (l faults) explain(d policy.Decision) error {
	e := refusal(d)
	if len(l) == 0 {
		return e
	}
	var needs []policy.Need
	by := map[policy.Need][]fault{}
	for _, f := range l {
		if by[f.need] == nil {
			needs = append(needs, f.need)
		}
		by[f.need] = append(by[f.need], f)
	}
	// The reason that decided goes first.
	var text strings.Builder
	if at := slices.Index(needs, d.Need); at < 0 {
		text.WriteString(d.Reason + "; ")
	} else {
		needs = slices.Concat(needs[at:at+1], needs[:at], needs[at+1:])
	}
	left := 0
	for i, n := range needs {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(policy.Why(n) + ": ")
		left += list(&text, by[n])
	}
	if left > 0 {
		fmt.Fprintf(&text, "; and %d more, which a dry run lists", left)
	}
	e.Message = text.String()
	if l[0].line > 0 {
		e.Hint = "leave these lines out, or ask a person to import the file"
	}
	return e
}

// codeFor says what programs take from a variable of that name, for who asks; nothing if it is an ordinary one. An agent gets no
// spelling.
func codeFor(l *lookup, name string) credential.Takes {
	if l.isPerson() {
		return credential.TakenFrom(name)
	}
	return credential.TakenFromAny(name)
}

// unsafeFor says whether a name is one that steers programs, for who asks.
func unsafeFor(l *lookup, name string) bool { return codeFor(l, name) != "" }

// list writes names with their lines, and returns how many found no room.
func list(text *strings.Builder, all []fault) (left int) {
	for i, f := range all {
		if text.Len() > maxFaults {
			return len(all) - i
		}
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(f.name)
		if f.line > 0 {
			fmt.Fprintf(text, " (line %d)", f.line)
		}
	}
	return 0
}
