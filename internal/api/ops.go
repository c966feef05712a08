package api

// The operations of the daemon. An operation that a rule may refuse or that needs presence embeds [Act] in its input.
const (
	OpStatus = "status" // nothing → Status
	OpWhoami = "whoami" // nothing → Whoami
	OpLock   = "lock"   // nothing → nothing

	OpDaemonStop    = "daemon.stop"    // nothing → nothing; the daemon ends in order after the reply
	OpDaemonReplace = "daemon.replace" // Replace → nothing; the caller is a fresh daemon that waits for the lock

	OpItemAdd     = "item.add"     // ItemAdd, a value per field → ItemAdded
	OpItemEdit    = "item.edit"    // ItemEdit, a value per field of Set → Changed
	OpItemRemove  = "item.rm"      // ItemName → Changed
	OpItemShow    = "item.show"    // ItemShow → ItemShown; with Reveal a value per revealed field, in their order
	OpItemList    = "item.list"    // ItemListIn → ItemList
	OpItemCheck   = "item.check"   // ItemCheck → ItemChecked
	OpItemUndo    = "item.undo"    // ItemUndo → ItemUndone
	OpItemHistory = "item.history" // ItemName → ItemHistory; also of an item that was removed

	OpProjectList  = "project.list"  // nothing → ProjectList
	OpProjectShow  = "project.show"  // ProjectShowIn → ProjectShown
	OpProjectStage = "project.stage" // StageIn: make a stage or change its level → Changed
	OpProjectSet   = "project.set"   // StageSet, a value per variable without a reference → StageChanged
	OpProjectUnset = "project.unset" // StageUnset → StageChanged
	OpProjectLink  = "project.link"  // ProjectLink → Changed

	OpImport = "import" // Import, the file as values, one after the other → Imported
	OpExport = "export" // Export → Exported, the text as values, one after the other

	OpRead      = "read"       // Read → RunLease; the value as of a run
	OpRun       = "run"        // RunBegin → RunPermit
	OpRunValues = "run.values" // RunLease → nothing; the next values of the permit, each once
	OpRunEnd    = "run.end"    // RunEnd → nothing

	OpMask = "mask" // MaskBegin → MaskBegun, then pieces of texts and what may be shown of them → Masked

	OpTrustList   = "trust.list"   // nothing → TrustList
	OpTrustAdd    = "trust.add"    // TrustDir → TrustDir, the directory without links
	OpTrustRemove = "trust.rm"     // TrustDir → TrustDir, the directory that was trusted
	OpAuditTail   = "audit.tail"   // AuditTail → stream of audit records as F2 writes them
	OpAuditShow   = "audit.show"   // AuditShow → stream of audit records
	OpAuditVerify = "audit.verify" // nothing → AuditReport
	OpAuditSeal   = "audit.seal"   // Act → AuditSealed

	OpPolicyPending = "policy.pending" // nothing → PolicyPending
	OpPolicyAccept  = "policy.accept"  // PolicyAccept → PolicyAccepted

	OpPasswd     = "passwd"      // Passwd → Receipt; the proof carries the new password
	OpNewKit     = "passwd.kit"  // Act → KitInfo; device secret and recovery code as two values
	OpRepairList = "repair.list" // nothing → RepairList
	OpRepair     = "repair"      // RepairAct → Repaired
)

// The operations of a daemon that was just started, over the connection that it inherits: one request, and its reply
// comes when the socket listens. A password never goes any other way.
const (
	OpStart        = "start"         // nothing → Started; opens an unattended account, leaves any other locked
	OpStartUnlock  = "start.unlock"  // StartUnlock, the password → Started
	OpStartCreate  = "start.create"  // StartCreate, the password unless unattended → Started; device secret and recovery code as two values
	OpStartRecover = "start.recover" // StartUnlock, the recovery code, the new password and, if asked for, the device secret → Started; as create
)

// OpStartProve is the one operation of a process that was started to make a proof of presence, over the connection that it
// inherits: Prove, the password, and what the proof shall carry, if anything → Proved, the proof.
const OpStartProve = "start.prove"

// Act is what the input of an operation that needs presence embeds.
//
// Without a proof the daemon answers such an operation with [NeedsApproval], what the act does as the message, the hash of
// the act, and a challenge. A client that has a person before it shows that text, reads the master password from the terminal
// that it opens itself, and gives all of this to a process of the recorded program that it starts for that ([OpStartProve]).
// What comes back is the proof: bytes that only the daemon of the same account can open, and only for that act, that text,
// that challenge and this client. It sends the same input again with Presence, Hash and Challenge set and the proof as the
// last of the values. So the password is never said to whatever answers at the socket.
//
// The daemon plans the act anew. If that is another one by now, because a name has come to stand for something else, it
// answers NeedsApproval again, with the new text, hash and challenge: so one proof serves one act, once, and the very one that
// was shown. It does the same for a challenge that it does not know, or not any more.
type Act struct {
	Presence  bool   `json:"presence,omitempty"`
	Hash      string `json:"hash,omitempty"`
	Challenge string `json:"challenge,omitempty"`
}

// Prove says that the proof of presence for the act of that hash, made with that challenge, goes with the input.
func (a *Act) Prove(hash, challenge string) { a.Presence, a.Hash, a.Challenge = true, hash, challenge }
