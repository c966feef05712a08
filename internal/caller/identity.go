package caller

// Verdict says what asks.
type Verdict string

const (
	// Agent is an AI agent, or something that runs below one.
	Agent Verdict = "agent"
	// Person is somebody at a terminal, unproven: presence is proved elsewhere,
	// for one act.
	Person Verdict = "person"
	// Unknown is everything else (cron, units, orphans) and treated as Agent.
	Unknown Verdict = "unknown"
)

// Role is what a process in the chain is.
type Role string

const (
	RoleAgent       Role = "agent"       // an AI agent of the tables
	RoleShell       Role = "shell"       // where a person types commands
	RoleTerminal    Role = "terminal"    // an emulator, or the part of an IDE that has terminals
	RoleMultiplexer Role = "multiplexer" // tmux and its kind: anybody may type into it
	RoleAutomation  Role = "automation"  // types or runs by itself: script, expect, cron
	RoleLogin       Role = "login"       // sshd, login, su, sudo: somebody authenticated
	RoleContainer   Role = "container"   // the machinery of containers
	RoleOther       Role = "other"       // neither helps nor hurts, unless Why says so
)

// Process is one process of the chain, as evidence. Its texts come from that
// process and are cleaned of control characters; they may still lie.
type Process struct {
	PID   int    `json:"pid"`
	PPID  int    `json:"ppid"`
	UID   uint32 `json:"uid"`   // effective user
	Exe   string `json:"exe"`   // program file; empty for processes of other users
	Argv0 string `json:"argv0"` // at most 256 bytes
	Role  Role   `json:"role"`
	Why   string `json:"why"`
}

// Instance names one process for as long as the machine runs. Grants bind to it.
type Instance struct {
	BootID string `json:"boot_id"`
	PID    int    `json:"pid"`
	Start  uint64 `json:"start"` // clock ticks since boot
	// Inode is the number of the process in pidfs, which no other process gets.
	// It is 0 on kernels without (before 6.9): there only the start time, with
	// its grain of 10 ms, tells two holders of a pid apart.
	Inode uint64 `json:"inode"`
}

// Identity is the judgement on a caller.
type Identity struct {
	Verdict Verdict `json:"verdict"`
	// Client is the name of the nearest agent, as in "claude", if it is known.
	Client string `json:"client"`
	// Depth is 1 for an agent, 2 and more for an agent that another one
	// started, 0 for a person or where nobody can say.
	Depth int `json:"depth"`
	// Masked says that output has to be masked: it is false for a person with
	// neither multiplexer nor automation in the chain alone.
	Masked bool `json:"masked"`
	// Presence is always false here: a proof of presence sets it, for one act.
	Presence bool `json:"presence"`
	// Evidence is the chain, the caller first.
	Evidence []Process `json:"evidence"`
	// Why is the reason of the verdict in one line.
	Why string `json:"why"`

	// Instance is the nearest agent; where marks alone speak of one, the topmost
	// process with such a mark; the caller itself where the verdict is unknown;
	// and zero for a person.
	Instance Instance `json:"-"`
	// Leader is the leader of the caller's session if it is the caller or above
	// it, else zero. A proof of presence may serve `run` again below the same one.
	Leader Instance `json:"-"`
}
