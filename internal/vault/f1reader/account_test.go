package f1reader

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// account is an opened account directory.
type account struct {
	disk     disk
	id       id
	ark      []byte
	keyset   *keyset
	ruling   mark // of the keyset
	cards    map[id]*card
	vaults   map[id]*vault
	findings []finding
	strays   int             // names that do not fit
	strayed  map[string]bool // folders with such names
	headless map[id]bool     // vaults without a header that hold something
}

// finding is a line of F1.9.
type finding struct{ kind, where string }

// find records a finding.
func (a *account) find(kind, format string, args ...any) {
	a.findings = append(a.findings, finding{kind, fmt.Sprintf(format, args...)})
}

// stray records a name that does not fit: one finding a folder.
func (a *account) stray(folder, name string) {
	if isDrives(name) {
		return
	}
	if a.strays++; !a.strayed[folder] {
		a.strayed[folder] = true
		a.find("orphan", "names in %s, such as %q", folder, name)
	}
}

// tampered records that something is not as it was written. What cannot be read
// at all, and a version that is not known, stay errors.
func (a *account) tampered(where string, err error) error {
	var version versionError
	if errors.As(err, &version) {
		return err
	}
	a.find("tampered", "%s: %v", where, err)
	return nil
}

// openAccount opens an account directory and reads all that it holds.
func openAccount(d disk, c credentials) (*account, error) {
	a := &account{disk: d, cards: map[id]*card{}, vaults: map[id]*vault{}, strayed: map[string]bool{}, headless: map[id]bool{}}
	for _, step := range []func() error{
		a.readTop, a.readFormat, func() error { return a.openKeysets(c) }, a.readCards, a.readVaults,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// readTop checks the names in the account directory itself.
func (a *account) readTop() error {
	names, err := a.disk.list(".")
	for _, name := range names {
		if !slices.Contains([]string{"format", "keysets", "devices", "vaults", "inbox"}, name) {
			a.stray(".", name)
		}
	}
	return err
}

// readFormat reads the format file.
func (a *account) readFormat() error {
	file, err := a.disk.read("format", formatKind.limit)
	if err != nil {
		return err
	}
	p, err := formatKind.split(file)
	if err != nil {
		return err
	}
	if len(p.body) > 0 {
		return errors.New("format with a body")
	}
	a.id = p.head.id()
	return nil
}

// candidate is a keyset's file.
type candidate struct {
	name string
	file []byte
	mark mark
	set  *keyset // nil where it cannot be read
}

// maxCandidates is how many keysets are tried: each costs a key derivation.
const maxCandidates = 3

// openKeysets finds the keyset in force and opens the account root key.
func (a *account) openKeysets(c credentials) error {
	candidates, err := a.readKeysets()
	if err != nil {
		return err
	}
	err = errOpen
	for i, k := range candidates[:min(len(candidates), maxCandidates)] {
		if k.set == nil {
			continue
		}
		ark, unlockErr := k.set.unlock(c)
		if unlockErr != nil {
			if i == 0 {
				err = unlockErr
			}
			continue
		}
		if !keysetAuthentic(k.file, ark) {
			continue
		}
		if slices.ContainsFunc(candidates[:i], func(newer candidate) bool { return keysetAuthentic(newer.file, ark) }) {
			return errOpen // an old password
		}
		a.ark, a.keyset, a.ruling = ark, k.set, k.mark
		for _, other := range candidates {
			if !keysetAuthentic(other.file, ark) {
				a.find("tampered", "%s", other.name)
			}
		}
		return nil
	}
	return err
}

// readKeysets reads the keysets, the ruling one first. One of a version that is
// not known is passed over while there is another.
func (a *account) readKeysets() ([]candidate, error) {
	names, err := a.disk.list("keysets")
	if err != nil {
		return nil, err
	}
	var candidates []candidate
	var version error
	for _, name := range names {
		if _, _, fits := nameParts(name, 16, 8); !fits {
			a.stray("keysets", name)
			continue
		}
		file, err := a.disk.read("keysets/"+name, keysetKind.limit)
		if err != nil {
			return nil, err
		}
		k, err := a.candidate("keysets/"+name, file)
		switch {
		case err == nil:
			candidates = append(candidates, k)
		case errors.As(err, new(versionError)):
			version = err
		default:
			a.stray("keysets", name)
		}
	}
	if len(candidates) == 0 && version != nil {
		return nil, version
	}
	slices.SortFunc(candidates, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.mark.n, x.mark.n), bytes.Compare(x.mark.hash[:], y.mark.hash[:]))
	})
	return candidates, nil
}

// candidate checks that a keyset's file is where it belongs. One whose body
// cannot be read still is a candidate: it may be authentic.
func (a *account) candidate(name string, file []byte) (candidate, error) {
	p, err := keysetKind.split(file)
	if err != nil {
		return candidate{}, err
	}
	of, epoch := p.head.id(), p.head.u64()
	k := candidate{name: name, file: file, mark: mark{epoch, hashOf(file)}}
	if of != a.id || k.mark.name() != name {
		return candidate{}, errors.New("keyset that belongs elsewhere")
	}
	if set, err := parseKeyset(file); err == nil {
		k.set = set
	}
	return k, nil
}

// readCards reads the cards that the roster names.
func (a *account) readCards() error {
	names, err := a.disk.list("devices")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !a.isCard(name) {
			a.stray("devices", name)
		}
	}
	for _, device := range slices.SortedFunc(maps.Keys(a.keyset.roster), compareIDs) {
		if err := a.readCard(device); err != nil {
			return err
		}
	}
	return nil
}

// isCard reports whether a name in devices is in the roster, or of a card that
// the account made.
func (a *account) isCard(name string) bool {
	device, err := parseID(name)
	if err != nil {
		return false
	}
	if _, listed := a.keyset.roster[device]; listed {
		return true
	}
	file, err := a.disk.read("devices/"+name, cardKind.limit)
	if err != nil {
		return false
	}
	c, err := readCard(file, a.ark)
	return err == nil && c.account == a.id && c.device == device
}

// readCard reads a card of the roster.
func (a *account) readCard(device id) error {
	file, err := a.disk.read("devices/"+device.String(), cardKind.limit)
	if errors.Is(err, fs.ErrNotExist) {
		a.find("behind", "card of %s", device)
		return nil
	}
	if err != nil {
		return err
	}
	c, err := readCard(file, a.ark)
	if err == nil && (c.account != a.id || c.device != device || c.hash != a.keyset.roster[device]) {
		err = errors.New("card that is not the roster's")
	}
	if err != nil {
		return a.tampered("card of "+device.String(), err)
	}
	a.cards[device] = c
	return nil
}

// readVaults reads all vaults.
func (a *account) readVaults() error {
	names, err := a.disk.list("vaults")
	if err != nil {
		return err
	}
	for _, name := range names {
		v, err := parseID(name)
		if err != nil {
			a.stray("vaults", name)
			continue
		}
		if err := a.readVault(v); err != nil {
			return fmt.Errorf("reading vault %s: %w", v, err)
		}
	}
	return nil
}

// compareIDs orders ids.
func compareIDs(x, y id) int { return bytes.Compare(x[:], y[:]) }
