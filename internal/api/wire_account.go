package api

import "encoding/json"

// StartCreate asks a fresh daemon to make the account.
type StartCreate struct {
	Unattended   bool   `json:"unattended,omitempty"`    // the daemon makes the password and keeps it
	DeviceSecret string `json:"device_secret,omitempty"` // where it is kept: "file" (the default) or "keyring"
}

// StartUnlock asks a fresh daemon to open the account and to take over from the daemon that runs.
type StartUnlock struct {
	DeviceSecret bool `json:"device_secret,omitempty"` // recovery: the last value is the device secret of the kit
}

// Started says that the daemon serves.
type Started struct {
	PID          int    `json:"pid"`
	Socket       string `json:"socket"`
	Account      string `json:"account,omitempty"`       // its id
	PasswordFile string `json:"password_file,omitempty"` // of an unattended account
	StateCode    string `json:"state_code,omitempty"`    // for the recovery kit
	// Locked is why an unattended account did not open with the daemon, and Hint what helps; empty if it did.
	Locked string `json:"locked,omitempty"`
	Hint   string `json:"hint,omitempty"`
}

// Status is the state of the daemon and of what it holds.
type Status struct {
	Daemon        DaemonStatus  `json:"daemon"`
	Account       AccountStatus `json:"account"`
	Findings      []Finding     `json:"findings"`
	Audit         AuditStatus   `json:"audit"`
	Memory        string        `json:"memory"` // "memfd_secret", "mlock" or "none"
	PolicyPending int           `json:"policy_pending"`
	GuardDegraded int           `json:"guard_degraded"`
	Warnings      []string      `json:"warnings"` // of settings and tables: one sentence each
}

// DaemonStatus says which daemon answers.
type DaemonStatus struct {
	Running    bool           `json:"running"`
	PID        int            `json:"pid"`
	Version    string         `json:"version"`
	SHA256     string         `json:"sha256"`      // of its program file
	StartedBy  string         `json:"started_by"`  // verdict on who started it: "agent", "person" or "unknown"
	SameBinary bool           `json:"same_binary"` // its program file is the one that install.json records
	Started    string         `json:"started"`     // RFC 3339
	Chain      []ChainProcess `json:"chain"`       // who started it, the starter first
}

// AccountStatus says whether the account is open.
type AccountStatus struct {
	State      string `json:"state"` // "none", "locked" or "unlocked"
	ID         string `json:"id"`
	Unattended bool   `json:"unattended"`
	LocksAt    string `json:"locks_at"` // RFC 3339; empty unless unlocked by a person
	// What the account opens with, beside a password that is typed: nothing is looked for elsewhere, and nothing but the daemon's
	// memory holds keys while it is open.
	DeviceSecretFile string `json:"device_secret_file,omitempty"`
	PasswordFile     string `json:"password_file,omitempty"` // of an unattended account
	// Why an unattended account did not open with the daemon, and what helps; empty if it did.
	Why  string `json:"why,omitempty"`
	Hint string `json:"hint,omitempty"`
	// Who ran setup: a verdict, and the client's name. The client knows it from the record.
	SetUpBy string `json:"set_up_by,omitempty"`
}

// Finding is one thing that is wrong with the store.
type Finding struct {
	Kind   string `json:"kind"`
	Object string `json:"object"`
	Text   string `json:"text"`
}

// AuditStatus is what is known of the log without reading it.
type AuditStatus struct {
	Seq uint64 `json:"seq"`
	// First is the oldest record that is kept: those before it were dropped. 0 is none.
	First uint64 `json:"first,omitempty"`
	OK    bool   `json:"ok"` // nothing is known to be wrong with it, and it can be written
	// FirstBad is what was found wrong, by this daemon or an earlier one, until it is declared. Only verifying finds all.
	FirstBad *AuditBad `json:"first_bad,omitempty"`
	Fault    string    `json:"fault,omitempty"` // why nothing can be recorded, so that nothing is lent
	Hint     string    `json:"hint,omitempty"`  // what to do about that or the damage
	// Signed is the record up to which the account had signed a log that was taken away, where this one began anew.
	Signed  uint64 `json:"signed,omitempty"`
	Checked string `json:"checked,omitempty"` // RFC 3339: when this daemon last verified all of it
}

// ChainProcess is one process of a chain, as evidence: package caller's Process.
type ChainProcess struct {
	PID   int    `json:"pid"`
	PPID  int    `json:"ppid"`
	UID   uint32 `json:"uid"`
	Exe   string `json:"exe"`
	Argv0 string `json:"argv0"`
	Role  string `json:"role"`
	Why   string `json:"why"`
}

// Whoami is the verdict on the caller.
type Whoami struct {
	Verdict  string         `json:"verdict"`
	Client   string         `json:"client"`
	Depth    int            `json:"depth"`
	Masked   bool           `json:"masked"`
	Presence bool           `json:"presence"`
	Evidence []ChainProcess `json:"evidence"`
	Why      string         `json:"why"`
}

// Replace asks the running daemon to end, because a fresh one of the recorded program takes over.
type Replace struct {
	Reason string `json:"reason"` // "unlock", "restart"
}

// Prove asks for a proof of presence: that a person who was shown a text wants the act of that hash done.
type Prove struct {
	Hash      string `json:"hash"`
	Challenge string `json:"challenge"`
	Shown     string `json:"shown"` // the message that asked for it, as it came
}

// Proved goes with a proof of presence to whoever asked for it, and nowhere else.
type Proved struct{ Receipt }

// Receipt is a word that is sealed into a proof of presence: what repeats it has opened the proof, so it is the daemon.
type Receipt struct {
	Receipt string `json:"receipt"`
}

// Passwd changes the master password. The new one comes inside of the proof of presence.
type Passwd struct{ Act }

// KitInfo is the part of a recovery kit that is no secret.
type KitInfo struct {
	Receipt
	Account   string `json:"account"`
	StateCode string `json:"state_code"`
}

// RepairList is what is wrong and what could be put right.
type RepairList struct {
	Findings []Finding `json:"findings"`
	Orphans  []Orphan  `json:"orphans"`
}

// Orphan is an intact item file that nothing lists.
type Orphan struct {
	ID       string `json:"id"` // of the item
	Vault    string `json:"vault"`
	Kind     string `json:"kind"`
	Name     string `json:"name"`
	Modified string `json:"modified"`
}

// RepairAct puts one thing right. It overrules a warning.
type RepairAct struct {
	Act
	Do string `json:"do"`           // "accept-restore", "new-device", "adopt" or "forget"
	ID string `json:"id,omitempty"` // of the orphan or item
}

// Repaired says what a repair did.
type Repaired struct {
	Mended []string `json:"mended"` // items that got the content of an older revision
	Lost   []string `json:"lost"`   // items of which nothing can be read: forget ends them
}

// TrustDir names a directory that may be a workspace.
type TrustDir struct {
	Act
	Dir string `json:"dir"` // absolute
}

// TrustList lists the trusted directories.
type TrustList struct {
	Dirs []string `json:"dirs"`
}

// AuditTail asks for the last records, and with Follow for those to come.
type AuditTail struct {
	N      int  `json:"n"`
	Follow bool `json:"follow,omitempty"`
}

// AuditShow asks for the records of an intent, or for the one whose number ID is.
type AuditShow struct {
	ID string `json:"id"`
}

// AuditRecord is one record of a stream, as the log holds it; names of items that agents must not see are opened for a person.
type AuditRecord = json.RawMessage

// AuditReport says whether the log is whole.
type AuditReport struct {
	OK       bool            `json:"ok"`
	Events   uint64          `json:"events"`
	First    uint64          `json:"first,omitempty"` // as in AuditStatus
	Segments int             `json:"segments"`
	Full     bool            `json:"full"`             // each record was proved with the account's key
	Proved   uint64          `json:"proved,omitempty"` // from this record on it was; 0: the account is locked
	FirstBad *AuditBad       `json:"first_bad,omitempty"`
	Found    *AuditBad       `json:"found,omitempty"`  // what was found before and not declared, though it may be gone by now
	Hint     string          `json:"hint,omitempty"`   // how to go on, where that is not: warder audit seal
	Signed   uint64          `json:"signed,omitempty"` // as in AuditStatus
	Breaks   []AuditDeclared `json:"breaks,omitempty"`
}

// AuditBad is the first thing that is wrong with the log.
type AuditBad struct {
	Seq   uint64 `json:"seq"`
	Cause string `json:"cause"`
	Text  string `json:"text"`
}

// AuditDeclared is damage that a person declared.
type AuditDeclared struct {
	Seq  uint64 `json:"seq"`
	Text string `json:"text"`
}

// AuditSealed says where the log was broken and goes on.
type AuditSealed struct {
	Seq  uint64 `json:"seq"`
	Text string `json:"text"`
}
