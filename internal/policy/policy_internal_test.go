package policy

import (
	"slices"
	"testing"
)

// TestTableIsWhole: each need has one line, and what an agent may do a person may do at least as easily.
func TestTableIsWhole(t *testing.T) {
	seen := map[Need]bool{}
	for _, r := range rows {
		switch {
		case seen[r.need]:
			t.Errorf("%s has two lines", r.need)
		case r.agent < r.person:
			t.Errorf("%s: an agent may do more than a person", r.need)
		case r.agent == Ask:
			t.Errorf("%s: an agent is asked for presence", r.need)
		case r.agent == Deny && (r.code == "" || r.reason == ""):
			t.Errorf("%s: a refusal without a code and a reason", r.need)
		}
		seen[r.need] = true
	}
}

// TestDecide: the strictest counts, and what the table does not know is denied.
func TestDecide(t *testing.T) {
	for _, row := range []struct {
		name   string
		q      Question
		effect Effect
		need   Need
	}{
		{"an agent", Question{Needs: []Need{ToLook, ToReveal}}, Deny, ToReveal},
		{"a person", Question{Person: true, Needs: []Need{ToLook, ToReveal}}, Ask, ToReveal},
		{"nothing", Question{Person: true}, Deny, ToLook},
		{"an unknown need", Question{Person: true, Needs: []Need{"unheard"}}, Deny, "unheard"},
		{"an unknown one behind another", Question{Person: true, Needs: []Need{ToLook, "unheard"}}, Deny, "unheard"},
		{"the strictest", Question{Person: true, Needs: []Need{ToChange, ToRaise, ToLook}}, Ask, ToRaise},
		{"allowed by the last", Question{Needs: []Need{ToLook, ToLend}}, Allow, ToLend},
		{"unattended", Question{Person: true, Unattended: true, Needs: []Need{ToReveal}}, Deny, ToReveal},
		{"unattended lends", Question{Person: true, Unattended: true, Needs: []Need{ToLend}}, Allow, ToLend},
	} {
		d := Decide(row.q)
		if d.Effect != row.effect || d.Need != row.need {
			t.Errorf("%s: %+v", row.name, d)
		}
		if refused := d.Effect != Allow; (d.Code != "") != refused || (d.Reason != "") != refused {
			t.Errorf("%s: what is told of it: %+v", row.name, d)
		}
	}
}

// TestAgain: a proof serves again for lending alone, never for what shows a person what has changed.
func TestAgain(t *testing.T) {
	for _, r := range rows {
		d := Decide(Question{Person: true, Needs: []Need{r.need}})
		if want := slices.Contains([]Need{ToLendAsked, ToLendClosed}, r.need); d.Again != want {
			t.Errorf("%s: %v", r.need, d.Again)
		}
	}
	for want, needs := range map[bool][]Need{
		true: {ToLook, ToLendAsked, ToLendClosed, ToDump}, false: {ToLendAsked, ToConfirmFile},
	} {
		if d := Decide(Question{Person: true, Needs: needs}); d.Again != want {
			t.Errorf("%q: %v", needs, d.Again)
		}
	}
	if Decide(Question{Needs: []Need{ToLendAsked}}).Again || Decide(Question{Person: true, Unattended: true, Needs: []Need{ToLendAsked}}).Again {
		t.Error("a denial is overcome by an older proof")
	}
}

func TestEffect(t *testing.T) {
	for e, want := range map[Effect]string{Allow: "allow", Ask: "ask", Deny: "deny", 9: "deny"} {
		if e.String() != want {
			t.Errorf("%d is %q", e, e)
		}
	}
}
