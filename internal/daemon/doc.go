// Package daemon is the process that holds the unlocked account: it opens everything, joins it, serves it and ends it in
// order. One daemon runs per user and state directory.
//
// # What it answers for
//
//   - It trusts nothing that it inherits. Places come as flags and are judged as they are opened; environment, session,
//     working directory, umask and descriptors are made anew before anything else happens.
//   - A password reaches it over the connection that it inherited from the client that started it, never over the socket
//     that anybody can put himself in the place of. So unlocking is starting: a fresh daemon opens the account and then takes
//     the place of the one that runs. Keys never pass from one to the other.
//   - A person's presence is proved by a process of its own, the prover, which is given the password the same way; the daemon
//     gets a proof that only it can open, for one act.
//   - Only a program that is the one recorded in install.json may take the place of a running daemon.
//   - An account that a person opened is locked again after lock.idle without an act of a person, after lock.max in all,
//     before the machine sleeps and when the session is locked. Time asleep counts.
//   - What happens to the daemon itself is in the audit log: start, end, unlocking, locking and their reasons, a program that
//     held the socket's place, a refused replacement.
//   - It ends in order: no new calls, the calls that run, a checkpoint, the keys, the log, the lock.
//
// # What it refuses to do
//
// It unlocks nothing that it has locked: that takes a fresh process with clean memory. It takes no setting that widens the
// defaults before a person accepted it.
//
// # Limits
//
// A process of the same user can end the daemon, replace the recorded program and the record, and read the password file of
// an unattended account (L2). A daemon under a user id of its own is what helps.
//
// # Files
//
//	run.go       Options, Run: from a process that was started to a daemon that has ended
//	clean.go     shedding what the process inherited
//	birth.go     the steps of a start, in their order
//	start.go     the request over the inherited connection
//	prove.go     Prove: the prover, from its start to its one answer
//	patience.go  a short wait after a wrong password is waited out
//	account.go   opener: opening, creating and recovering the account
//	replace.go   claim: taking the place of a daemon; who may
//	lockfile.go  the lock, and who holds it
//	daemon.go    Daemon: what is open, how it is closed, the operations
//	admit.go     client: who is on the other end of a connection
//	keep.go      keeper: the unlocked account, handing it out, locking it
//	clock.go     time that counts sleep
//	watch.go     what happens by itself; logind.go hears of sleep and of the session's lock
//	settings.go  wishes: what the user's files say, and what of it counts
//	agents.go    the agents that a user adds
//	status.go    answers: status, whoami, lock, stop
//	auditops.go  audit.verify, audit.seal
//	lifecycle.go journal: the daemon's own events in the audit log
//	logfile.go   the daemon's log for operators
//	program.go   which file this process runs
//	acts*.go     what callers do with items, projects, trust and the log; acts_prove.go opens proofs of presence
package daemon
