package gate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"warder/internal/approval"
	"warder/internal/policy"
)

// Refusal is the error of an act that policy denies.
type Refusal struct{ policy.Decision }

func (r *Refusal) Error() string { return r.Reason }

// Decide says what policy says of an act of this session that takes these needs, without doing anything about it. It is for what
// tells beforehand how an act would fare.
func (g *Gate) Decide(s Session, needs []policy.Need) policy.Decision {
	return policy.Decide(policy.Question{Person: s.IsPerson(), Unattended: g.cfg.Unattended, Needs: needs})
}

// decide decides, and lets presence be proved where policy wants it.
func (g *Gate) decide(in *Intent, a *Act) (d policy.Decision, proved bool, err error) {
	d = g.Decide(in.Session, a.Needs)
	leader := leaderOf(in.Session)
	switch {
	case d.Effect == policy.Deny:
		return d, false, &Refusal{d}
	case d.Effect == policy.Ask && d.Again && in.Proof == nil && g.presence.Recent(leader):
		d.Effect, d.Reason = policy.Allow, "presence was proved in this session, for another of its kind"
		return d, false, nil
	case d.Effect == policy.Allow && in.Proof == nil:
		return d, false, nil
	}
	asked := d.Effect == policy.Ask
	d, err = g.prove(in, a, d)
	proved = err == nil && asked
	if proved && d.Again {
		g.presence.Remember(leader)
	}
	return d, proved, err
}

// leaderOf names the session leader of a person for whom one proof may serve again; "" where it may not, as anything may type
// into a multiplexer or is typed by automation, and what agents start is theirs.
func leaderOf(s Session) string {
	l := s.Who.Leader
	if !s.IsPerson() || s.Who.Masked || l.PID == 0 {
		return ""
	}
	return fmt.Sprintf("%s/%d/%d/%d", l.BootID, l.PID, l.Start, l.Inode)
}

// prove wants a person's presence for the act as it is planned now. A proof for anything else counts for nothing: the person is
// asked again, and told what it would do by now.
func (g *Gate) prove(in *Intent, a *Act, d policy.Decision) (policy.Decision, error) {
	hash := a.hash(in)
	timely, fits := false, false
	if in.Proof != nil {
		act, _ := in.Proof.Claims()
		timely, fits = g.presence.Take(in.Proof), act == hash
		if !fits {
			d.Effect, d.Reason = policy.Ask, "it does something else than what was shown"
		}
	}
	switch {
	case d.Effect == policy.Allow:
		return d, nil // it turned out to need no proof
	case !fits:
		return d, g.presence.Ask(hash, a.Shown)
	case !timely:
		d.Reason = "the proof of presence came too late, or again"
		return d, g.presence.Ask(hash, a.Shown)
	}
	_, challenge := in.Proof.Claims()
	if err := in.Proof.Open(approval.Question{Act: hash, Challenge: challenge, Shown: a.Shown}); err != nil {
		d.Effect, d.Reason = policy.Deny, "presence was not proved"
		return d, err
	}
	d.Effect, d.Reason = policy.Allow, "presence was proved with the master password"
	return d, nil
}

// hash is that of an act as it is planned: of the tool, the request as the tool understood it, what a person reads of it, which
// names what the tool found behind the request's names, and what it takes. It needs no secret: it is only ever compared with
// itself.
func (a *Act) hash(in *Intent) string {
	h := sha256.New()
	parts := []string{in.Tool, string(a.Canonical), a.Shown}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(a.Needs))) {
		parts = append(parts, string(n))
	}
	for _, part := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return hex.EncodeToString(h.Sum(nil))
}
