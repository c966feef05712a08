package api

import (
	"errors"

	"warder/internal/api/frame"
)

// Error is an error as it crosses the socket. It is declared where the hook's path can read it without net/http.
type Error = frame.Error

// Code names a kind of error.
type Code = frame.Code

// The codes. Never renamed: scripts and agents branch on them.
const (
	Usage           = frame.Usage
	Denied          = Code("denied")
	ApprovalRefused = Code("approval_refused")
	ApprovalTimeout = Code("approval_timeout")
	NeedsApproval   = Code("needs_approval")
	Unreachable     = frame.Unreachable
	Sandboxed       = frame.Sandboxed
	Version         = frame.Version
	Locked          = Code("locked")
	NotFound        = Code("not_found")
	Integrity       = Code("integrity")
	WrongPassword   = Code("wrong_password")
	NoAccount       = Code("no_account")
	UnsafeName      = Code("unsafe_name")
	TooLarge        = frame.TooLarge
	Exists          = Code("exists")
	Internal        = Code("internal")
)

// Exit statuses of a process that ends with an error. Never renumbered. "warder run" exits with 125 for all of them.
const (
	ExitFailed      = 1
	ExitUsage       = 2
	ExitDenied      = 3
	ExitUnapproved  = 4
	ExitUnreachable = 5
	ExitLocked      = 6
	ExitNotFound    = 7
	ExitIntegrity   = 8
)

// Result is what a model is told about a call that ended with an error: the status of its observation.
type Result string

// The results of errors.
const (
	ResultError         Result = "error"          // it did not work; the same call may work later or otherwise
	ResultDenied        Result = "denied"         // it was decided that it may not be done
	ResultNeedsApproval Result = "needs_approval" // a person has to say yes first
)

// Row says what one code means.
type Row struct {
	Code   Code
	Exit   int    // exit status
	Result Result // status of an MCP observation
	Hint   string // the next step, where an error has none of its own
	Doc    string // one sentence for docs/cli.md
}

// table holds every code once, in the order of the exit statuses.
var table = [...]Row{
	{
		WrongPassword, ExitFailed, ResultError, "type it again; if it is lost: warder unlock --recovery",
		"The master password, the PIN or the recovery code is not the right one.",
	},
	{
		NoAccount, ExitFailed, ResultError, "make one: warder setup",
		"There is no account on this device yet.",
	},
	{
		TooLarge, ExitFailed, ResultError, "make it smaller, or split it; docs/formats.md F5 has the limits",
		"An input, a value or an answer is over its limit. Nothing was done.",
	},
	{
		Exists, ExitFailed, ResultError, "choose another name, or change the one that is there: warder item edit",
		"There is one of that name already, and it was not changed.",
	},
	{
		Internal, ExitFailed, ResultError, "try again; the daemon's log has the cause: warder doctor",
		"Something went wrong that the caller did not cause.",
	},
	{
		Usage, ExitUsage, ResultError, "see how it is used: warder help",
		"The command line, the request or its input can't be understood. Nothing was done.",
	},
	{
		UnsafeName, ExitUsage, ResultError, "choose a variable that no program takes code or trust from",
		"The name of a variable or an item could make programs run foreign code, such as LD_PRELOAD, and was refused.",
	},
	{
		Denied, ExitDenied, ResultDenied, "see which rule decided: warder policy explain",
		"A rule, a level or the lack of presence forbids it. The message names what refused.",
	},
	{
		ApprovalRefused, ExitUnapproved, ResultDenied, "a person said no: do not ask the same again",
		"A person was asked and refused.",
	},
	{
		ApprovalTimeout, ExitUnapproved, ResultDenied, "ask again when somebody is there to answer: warder approve list",
		"A person was asked and did not answer in time.",
	},
	{
		NeedsApproval, ExitUnapproved, ResultNeedsApproval, "a person has to answer: warder approve list",
		"A person has to approve it first. It was not done.",
	},
	{
		Unreachable, ExitUnreachable, ResultError, "see whether it runs: warder status",
		"The daemon does not run, does not answer, or what answers in its place is not to be trusted.",
	},
	{
		Sandboxed, ExitUnreachable, ResultError, "allow the daemon's socket in the sandbox's settings, or run it outside",
		"A sandbox keeps this process from the daemon's socket.",
	},
	{
		Version, ExitUnreachable, ResultError, "replace the older one: warder daemon restart",
		"This executable and the running daemon are of different versions.",
	},
	{
		Locked, ExitLocked, ResultError, "a person has to unlock it: warder unlock",
		"The account is locked, and this caller can't be asked for the password.",
	},
	{
		NotFound, ExitNotFound, ResultError, "see what there is: warder item list",
		"There is nothing of that name, or nothing that this caller may know of.",
	},
	{
		Integrity, ExitIntegrity, ResultError, "see what was found and how to go on: warder status, warder audit verify",
		"Stored data was changed, lost or rolled back by something other than warder.",
	},
}

// Rows returns the table of all codes, for the documents that are made from it.
func Rows() []Row { return append([]Row(nil), table[:]...) }

// RowOf returns what code means. A code that this build does not know, which a newer daemon may send, is treated as
// Internal.
func RowOf(code Code) Row {
	unknown := Row{Code: code}
	for _, r := range table {
		if r.Code == code {
			return r
		}
		if r.Code == Internal {
			unknown.Exit, unknown.Result, unknown.Hint, unknown.Doc = r.Exit, r.Result, r.Hint, r.Doc
		}
	}
	return unknown
}

// Errorf makes an error with a code. Its hint is the code's own until [Error.WithHint] gives a better one.
func Errorf(code Code, format string, args ...any) *Error {
	return frame.Errorf(code, format, args...).WithHint(RowOf(code).Hint)
}

// AsError returns the Error in err, with a hint. An err without one is Internal, and its text is the message: this is for
// the end of a command, not for what crosses the socket.
func AsError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		return Errorf(Internal, "%v", err).WithCause(err)
	}
	if e.Hint == "" {
		return e.WithHint(RowOf(e.Code).Hint)
	}
	return e
}
