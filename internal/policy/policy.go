// Package policy decides: which effect a request has, by what the act takes and who asks. It is pure: it reads no file, no clock
// and no account, so that what it says can be said again.
//
// The rules are a table of this program, and [Decide] is the one place that reads it: rules that a user writes will join it there.
package policy

// Need is one thing that an act takes. An act is allowed if everything that it takes is.
type Need string

// What acts take. What is not open to an agent is not there for it, which is no matter of this table.
const (
	ToLook        Need = "look"          // to know what there is, without any value
	ToMask        Need = "mask"          // to have stored values hidden in an output
	ToAdd         Need = "add"           // to store what is new
	ToChange      Need = "change"        // to change or remove what is there
	ToChangeOwn   Need = "change_own"    // the same of what this very agent made
	ToSetLevel    Need = "set_level"     // to change the level of a project or a stage
	ToReplace     Need = "replace"       // to store over a name that is taken
	ToSetCodeName Need = "set_code_name" // to store something under the name of a variable that programs take code or trust from
	ToPassUse     Need = "pass_use"      // to give something a level above use
	ToRaise       Need = "raise"         // to open something that is there wider to agents
	ToAddHost     Need = "add_host"
	ToAddCommand  Need = "add_command"
	ToUnconceal   Need = "unconceal" // to say that a secret is none
	ToLink        Need = "link"      // to link an item to a project, which lends it the project's level
	ToReveal      Need = "reveal"    // to see values
	ToTrust       Need = "trust"     // to let a directory be a workspace
	ToDistrust    Need = "distrust"
	ToSetPassword Need = "set_password"
	ToMakeKit     Need = "make_kit"
	ToRepair      Need = "repair" // to overrule a warning about the store
	ToSeal        Need = "seal"   // to declare a break of the log
	ToAccept      Need = "accept" // to let count what widens in the user's files

	ToLend        Need = "lend"         // to give a program a value of level use or read
	ToLendAsked   Need = "lend_asked"   // of level ask
	ToLendClosed  Need = "lend_closed"  // of what is open to no agent
	ToLendOther   Need = "lend_other"   // to a program that is not on the item's list of commands
	ToDump        Need = "dump"         // to a program that only shows its environment
	ToPrint       Need = "print"        // to show a value on a person's own terminal that programs may have
	ToConfirmFile Need = "confirm_file" // by an env file whose references nobody has confirmed as they are
)

// Effect is what is decided. The order is that of strictness.
type Effect int

const (
	Allow Effect = iota
	Ask          // a person's presence
	Deny
)

// String is the word that the audit log holds.
func (e Effect) String() string {
	switch e {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	case Deny:
		return "deny"
	}
	return "deny"
}

// Code is the word by which whoever was refused is told why.
type Code string

// The codes of refusals.
const (
	Denied        Code = "denied"
	Exists        Code = "exists"
	NeedsApproval Code = "needs_approval"
	NotFound      Code = "not_found"
	UnsafeName    Code = "unsafe_name"
)

// row is a line of the table of who may do what.
type row struct {
	need   Need
	person Effect // for a person who has proved nothing yet
	agent  Effect // for an agent, and for whoever can't be told
	code   Code   // of the refusal
	reason string // why it is not simply allowed
	hint   string // what else there is; the code's own if empty
}

// rows say who may do what.
var rows = [...]row{
	{ToLook, Allow, Allow, "", "", ""},
	{ToMask, Allow, Allow, "", "", ""},
	{ToAdd, Allow, Allow, "", "", ""},
	{ToChange, Allow, Deny, Denied, "an agent changes only the items that it made itself", "ask a person to do it"},
	{ToChangeOwn, Allow, Allow, "", "", ""},
	{
		ToSetLevel, Allow, Deny, Denied, "the levels of projects and stages are a person's to change: an agent only lowers that of a stage that nobody else changed",
		"make another stage with that level: warder project stage PROJECT STAGE --level LEVEL; or ask a person",
	},
	{ToReplace, Allow, Deny, Exists, "there is something of that name already, and an agent stores nothing over it", "choose another name"},
	{
		ToSetCodeName, Allow, Deny, UnsafeName, "programs take code or trust from a variable of that name, and an agent stores nothing under one",
		"ask a person to do it, or choose another name",
	},
	{ToPassUse, Allow, Deny, Denied, "an agent gives nothing a level above use", "ask for level use or ask"},
	{ToRaise, Ask, Deny, Denied, "opening something wider to agents takes a person's presence", "ask a person to do it"},
	{ToAddHost, Ask, Deny, Denied, "letting a value go to another host takes a person's presence", "ask a person to do it"},
	{ToAddCommand, Ask, Deny, Denied, "letting another command use a value takes a person's presence", "ask a person to do it"},
	{ToUnconceal, Ask, Deny, Denied, "marking a secret as none takes a person's presence", "ask a person to do it"},
	{ToLink, Allow, Deny, Denied, "an agent links only the items that it made itself, where that opens nothing", "ask a person to link it"},
	{
		ToReveal, Ask, Deny, Denied, "seeing a value takes a person's presence",
		"use it without seeing it: warder run ITEM --env-var VAR -- COMMAND",
	},
	{ToTrust, Ask, Deny, Denied, "trusting a directory takes a person's presence", "ask a person to do it"},
	{ToDistrust, Allow, Allow, "", "", ""},
	{ToSetPassword, Ask, Deny, Denied, "the master password is a person's to change", "ask a person to do it: warder passwd"},
	{ToMakeKit, Ask, Deny, Denied, "a new recovery kit takes a person's presence", "ask a person to do it: warder passwd --new-kit"},
	{ToRepair, Ask, Deny, Denied, "overruling a warning takes a person's presence", "ask a person to do it: warder repair"},
	{ToLend, Allow, Allow, "", "", ""},
	{ToLendAsked, Ask, Deny, NeedsApproval, "each agent's first use of it has to be approved", "ask a person to run it, or to open it: warder item edit ITEM --level use"},
	{ToLendClosed, Ask, Deny, NotFound, "it is open to no agent", "ask a person to run it"},
	{ToLendOther, Allow, Deny, Denied, "the item is for other programs: its list of commands does not have this one", "ask a person to run it"},
	{ToDump, Allow, Deny, Denied, "the program only shows its environment", "name the program that needs the value"},
	{
		ToPrint, Allow, Deny, Denied, "an agent uses a value without seeing it",
		"use it without seeing it: warder run ITEM --env-var VAR -- COMMAND",
	},
	{ToConfirmFile, Ask, Deny, Denied, "nobody has confirmed the references in this env file as they are", "ask a person to run it once"},
	{ToSeal, Ask, Deny, Denied, "declaring a break of the log takes a person's presence", "ask a person to do it: warder audit seal"},
	{ToAccept, Ask, Deny, Denied, "accepting what widens takes a person's presence", "ask a person to do it: warder policy accept"},
}

// Question is what is to be decided.
type Question struct {
	Person     bool // a person asks who has proved nothing yet; all others are treated as agents
	Unattended bool // nobody has the password in mind, so nobody's presence can be proved
	Needs      []Need
}

// Decision is what was decided, and why.
type Decision struct {
	Effect Effect
	Need   Need   // whose line decided
	Code   Code   // of the refusal; the last three are empty for an act that is simply allowed
	Reason string // why it is not
	Hint   string // what else there is; the code's own if empty
	// Again says of what asks that presence which was proved for another such act a while ago is enough.
	Again bool
}

// servesAgain says whether one proof may serve for several acts with that need: those of lending to programs that the same person
// starts one after another, and none that shows a person what has changed since.
func servesAgain(n Need) bool { return n == ToLendAsked || n == ToLendClosed }

// Decide is the one place that says who may do what: the strictest of what the table says of each need. Where nobody has the
// password in mind there is no presence, so what takes it is denied. A need that the table does not know is denied too, and so is
// an act that takes nothing.
func Decide(q Question) Decision {
	d := Decision{Effect: Allow, Need: ToLook}
	again := true
	if len(q.Needs) == 0 {
		return of(row{ToLook, Deny, Deny, Denied, "nothing allows it", ""}, Deny)
	}
	for _, need := range q.Needs {
		r := rowOf(need)
		effect := r.agent
		if q.Person {
			effect = r.person
		}
		if effect == Ask && q.Unattended {
			effect = Deny
			r.reason = "nobody's presence can be proved to an unattended account"
			r.hint = "use the value without seeing it, or set up an account with a password of your own"
		}
		again = again && (effect != Ask || servesAgain(need))
		if effect > d.Effect || d.Effect == Allow && effect == Allow {
			d = of(r, effect)
		}
	}
	d.Again = d.Effect == Ask && again
	return d
}

// of is the decision by a line of the table.
func of(r row, e Effect) Decision {
	if e == Allow {
		return Decision{Effect: e, Need: r.need} // the rest is about refusing
	}
	return Decision{Effect: e, Need: r.need, Code: r.code, Reason: r.reason, Hint: r.hint}
}

// Why is what the table says against a need.
func Why(n Need) string { return rowOf(n).reason }

// rowOf finds the line of a need.
func rowOf(n Need) row {
	for _, r := range rows {
		if r.need == n {
			return r
		}
	}
	return row{n, Deny, Deny, Denied, "nothing allows it", ""}
}
