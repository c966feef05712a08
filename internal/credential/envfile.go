package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"warder/internal/policy"
	"warder/internal/vault"
)

// fromFile takes what the references of an env file name. Whoever may write the file could have it name any item, so a person
// has to have confirmed what it says now, and what it sets itself that programs take code or trust from.
func (s *Set) fromFile() error {
	known, err := s.confirmed.Confirmed(s.in.File)
	if err != nil {
		return err
	}
	if s.in.isToConfirm() && known != s.in.fileHash() {
		s.needs, s.confirms = append(s.needs, policy.ToConfirmFile), true
	}
	var there []string
	for _, ref := range s.in.Refs {
		there = append(there, ref.Var)
		if ref.Ref == "" {
			continue
		}
		if len(s.in.Only) > 0 && !slices.Contains(s.in.Only, ref.Var) {
			continue
		}
		if !IsVariable(ref.Var) {
			return invalid("%q can't be the name of a variable", ref.Var)
		}
		from, path, err := s.find.Reference("", ref.Ref)
		if err != nil {
			return err
		}
		if err := s.addFrom(ref.Var, from, path); err != nil {
			return err
		}
	}
	return allThere(s, there)
}

// isToConfirm says whether a person has to confirm the env file: where it names values, or steers programs.
func (in *Request) isToConfirm() bool {
	return slices.ContainsFunc(in.Refs, func(r Ref) bool { return r.Ref != "" || r.steers() })
}

// steers says whether programs take code or trust from a variable that an env file sets itself.
func (r Ref) steers() bool { return r.Ref == "" && TakenFrom(AsVariable(r.Var)) != "" }

// fileHash is that of the names and references of the env file, in their order, and of what it sets itself that programs take code or
// trust from.
func (in *Request) fileHash() string {
	h := sha256.New()
	for _, r := range in.Refs {
		sum := ""
		if r.steers() {
			sum = r.Sum
		}
		_, _ = fmt.Fprintf(h, "%d:%s%d:%s%d:%s", len(r.Var), r.Var, len(r.Ref), r.Ref, len(sum), sum)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fileText is the env file and what it names, for a person.
func (in *Request) fileText() []string {
	list := []string{in.File}
	for _, ref := range in.Refs {
		switch {
		case ref.Ref != "":
			list = append(list, strings.TrimPrefix(ref.Ref, vault.RefScheme))
		case ref.steers():
			list = append(list, ref.Var+" as it sets it")
		}
	}
	return list
}
