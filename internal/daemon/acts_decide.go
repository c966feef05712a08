package daemon

import (
	"warder/internal/api"
	"warder/internal/caller"
)

// need is one thing that an act takes. An act is allowed if everything that it takes is.
type need string

// What acts take. What is not open to an agent is not there for it, which is no matter of this table (acts_find.go).
const (
	toLook        need = "look"          // to know what there is, without any value
	toAdd         need = "add"           // to store what is new
	toChange      need = "change"        // to change or remove what is there
	toChangeOwn   need = "change_own"    // the same of what this very agent made
	toSetLevel    need = "set_level"     // to change the level of a project or a stage
	toReplace     need = "replace"       // to store over a name that is taken
	toSetCodeName need = "set_code_name" // to store something under the name of a variable that programs take code or trust from
	toPassUse     need = "pass_use"      // to give something a level above use
	toRaise       need = "raise"         // to open something that is there wider to agents
	toAddHost     need = "add_host"
	toAddCommand  need = "add_command"
	toUnconceal   need = "unconceal" // to say that a secret is none
	toLink        need = "link"      // to link an item to a project, which lends it the project's level
	toReveal      need = "reveal"    // to see values
	toTrust       need = "trust"     // to let a directory be a workspace
	toDistrust    need = "distrust"
	toSetPassword need = "set_password"
	toMakeKit     need = "make_kit"
	toRepair      need = "repair" // to overrule a warning about the store
	toSeal        need = "seal"   // to declare a break of the log
	toAccept      need = "accept" // to let count what widens in the user's files

	toLend        need = "lend"         // to give a program a value of level use or read
	toLendAsked   need = "lend_asked"   // of level ask
	toLendClosed  need = "lend_closed"  // of what is open to no agent
	toLendOther   need = "lend_other"   // to a program that is not on the item's list of commands
	toDump        need = "dump"         // to a program that only shows its environment
	toPrint       need = "print"        // to show a value on a person's own terminal that programs may have
	toConfirmFile need = "confirm_file" // by an env file whose references nobody has confirmed as they are
)

// effect is what is decided. The order is that of strictness.
type effect int

const (
	allow effect = iota
	ask          // a person's presence
	deny
)

// String is the word that the audit log holds.
func (e effect) String() string {
	switch e {
	case allow:
		return "allow"
	case ask:
		return "ask"
	case deny:
		return "deny"
	}
	return "deny"
}

// mayDo is a row of the table of who may do what.
type mayDo struct {
	need   need
	person effect   // for a person who has proved nothing yet
	agent  effect   // for an agent, and for whoever can't be told
	code   api.Code // of the refusal
	reason string   // why it is not simply allowed
	hint   string   // what else there is; the code's own if empty
}

// table says who may do what.
var table = [...]mayDo{
	{toLook, allow, allow, "", "", ""},
	{toAdd, allow, allow, "", "", ""},
	{toChange, allow, deny, api.Denied, "an agent changes only the items that it made itself", "ask a person to do it"},
	{toChangeOwn, allow, allow, "", "", ""},
	{
		toSetLevel, allow, deny, api.Denied, "the levels of projects and stages are a person's to change: an agent only lowers that of a stage that nobody else changed",
		"make another stage with that level: warder project stage PROJECT STAGE --level LEVEL; or ask a person",
	},
	{toReplace, allow, deny, api.Exists, "there is something of that name already, and an agent stores nothing over it", "choose another name"},
	{
		toSetCodeName, allow, deny, api.UnsafeName, "programs take code or trust from a variable of that name, and an agent stores nothing under one",
		"ask a person to do it, or choose another name",
	},
	{toPassUse, allow, deny, api.Denied, "an agent gives nothing a level above use", "ask for level use or ask"},
	{toRaise, ask, deny, api.Denied, "opening something wider to agents takes a person's presence", "ask a person to do it"},
	{toAddHost, ask, deny, api.Denied, "letting a value go to another host takes a person's presence", "ask a person to do it"},
	{toAddCommand, ask, deny, api.Denied, "letting another command use a value takes a person's presence", "ask a person to do it"},
	{toUnconceal, ask, deny, api.Denied, "marking a secret as none takes a person's presence", "ask a person to do it"},
	{toLink, allow, deny, api.Denied, "an agent links only the items that it made itself, where that opens nothing", "ask a person to link it"},
	{
		toReveal, ask, deny, api.Denied, "seeing a value takes a person's presence",
		"use it without seeing it: warder run ITEM --env-var VAR -- COMMAND",
	},
	{toTrust, ask, deny, api.Denied, "trusting a directory takes a person's presence", "ask a person to do it"},
	{toDistrust, allow, allow, "", "", ""},
	{toSetPassword, ask, deny, api.Denied, "the master password is a person's to change", "ask a person to do it: warder passwd"},
	{toMakeKit, ask, deny, api.Denied, "a new recovery kit takes a person's presence", "ask a person to do it: warder passwd --new-kit"},
	{toRepair, ask, deny, api.Denied, "overruling a warning takes a person's presence", "ask a person to do it: warder repair"},
	{toLend, allow, allow, "", "", ""},
	{toLendAsked, ask, deny, api.NeedsApproval, "each agent's first use of it has to be approved", "ask a person to run it, or to open it: warder item edit ITEM --level use"},
	{toLendClosed, ask, deny, api.NotFound, "it is open to no agent", "ask a person to run it"},
	{toLendOther, allow, deny, api.Denied, "the item is for other programs: its list of commands does not have this one", "ask a person to run it"},
	{toDump, allow, deny, api.Denied, "the program only shows its environment", "name the program that needs the value"},
	{
		toPrint, allow, deny, api.Denied, "an agent uses a value without seeing it",
		"use it without seeing it: warder run ITEM --env-var VAR -- COMMAND",
	},
	{toConfirmFile, ask, deny, api.Denied, "nobody has confirmed the references in this env file as they are", "ask a person to run it once"},
	{toSeal, ask, deny, api.Denied, "declaring a break of the log takes a person's presence", "ask a person to do it: warder audit seal"},
	{toAccept, ask, deny, api.Denied, "accepting what widens takes a person's presence", "ask a person to do it: warder policy accept"},
}

// decision is what was decided, and why.
type decision struct {
	effect effect
	mayDo  // the row that decided
}

// decide is the one place that says who may do what: the strictest of what the table says of each need. Where nobody has the
// password in mind there is no presence, so what takes it is denied. A need that the table does not know is denied too.
func decide(who caller.Verdict, unattended bool, needs []need) decision {
	d := decision{effect: allow, mayDo: mayDo{need: toLook}}
	for _, n := range needs {
		row := rowOf(n)
		e := row.agent
		if who == caller.Person {
			e = row.person
		}
		if e == ask && unattended {
			e = deny
			row.reason = "nobody's presence can be proved to an unattended account"
			row.hint = "use the value without seeing it, or set up an account with a password of your own"
		}
		if e > d.effect || d.effect == allow && e == allow {
			d = decision{e, row}
		}
	}
	switch {
	case len(needs) == 0:
		d.effect = deny
	case d.effect == allow:
		d.code, d.reason, d.hint = "", "", "" // they are about refusing
	}
	return d
}

// rowOf finds the row of a need.
func rowOf(n need) mayDo {
	for _, row := range table {
		if row.need == n {
			return row
		}
	}
	return mayDo{n, deny, deny, api.Denied, "nothing allows it", ""}
}

// refusal is the error that tells of a denial.
func (d decision) refusal() *api.Error {
	e := api.Errorf(d.code, "%s", d.reason)
	if d.hint != "" {
		e = e.WithHint(d.hint)
	}
	return e
}
