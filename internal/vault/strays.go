package vault

import (
	"fmt"
	"maps"
	"strings"

	"warder/internal/seal"
)

// strays tells of what lies in the account's folders and is not the account's: conflicted copies of a cloud drive, files that somebody
// put there. They are ignored; that they are there is said once a folder. (Items and shards that nothing lists are told one by one, since
// they can be adopted.)
type strays struct{ *core }

const objectFolder = "folder "

// find looks through all folders, and forgets what it said before.
func (c strays) find() error {
	maps.DeleteFunc(c.problems, func(object string, _ Finding) bool { return strings.HasPrefix(object, objectFolder) })
	keysets, err := scanKeysets(c.shared, c.account)
	if err != nil {
		return err
	}
	c.note("keysets", keysets.strays)
	if err := c.in("", isTopName); err != nil {
		return err
	}
	if err := c.in("devices", c.isCard); err != nil {
		return err
	}
	if err := c.in("vaults", isVaultFolder); err != nil {
		return err
	}
	names, err := c.list("vaults")
	if err != nil {
		return err
	}
	for _, name := range names {
		if isVaultFolder(name) {
			if err := c.inVault("vaults/" + strings.TrimSuffix(name, "/")); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c strays) inVault(path string) error {
	for below, known := range map[string]func(string) bool{"": isVaultName, "/man": isManifestName, "/items": isItemFolder} {
		if err := c.in(path+below, known); err != nil {
			return err
		}
	}
	return nil
}

// in looks through one folder, of whose names known knows the account's own.
func (c strays) in(path string, known func(name string) bool) error {
	names, err := c.list(path)
	if err != nil {
		return err
	}
	var none []string
	for _, name := range names {
		if !known(name) {
			none = append(none, name)
		}
	}
	c.note(path, none)
	return nil
}

// note says how many strays are in a folder. Their names are somebody else's choice, so the example is quoted.
func (c strays) note(path string, names []string) {
	count, example := 0, ""
	for _, name := range names {
		if isDriveName(name) {
			continue
		}
		if count++; count == 1 {
			example = name
		}
	}
	if count == 0 {
		return
	}
	where := "the folder " + path + " of the account"
	if path == "" {
		path, where = ".", "the account's folder"
	}
	text := fmt.Sprintf("%d files in %s are not the account's and are ignored, such as %+q", count, where, example)
	if count == 1 {
		text = fmt.Sprintf("a file in %s is not the account's and is ignored: %+q", where, example)
	}
	c.problems.set(said, FindOrphan, objectFolder+path, text)
}

// isDriveName says whether a name is of the kind that cloud drives, file managers and version control give their own files.
func isDriveName(name string) bool {
	switch strings.ToLower(strings.TrimSuffix(name, "/")) {
	case "desktop.ini", "thumbs.db", "icon\r":
		return true
	}
	return strings.HasPrefix(name, ".")
}

func isTopName(name string) bool {
	switch name {
	case "format", "keysets/", "devices/", "vaults/", "inbox/":
		return true
	}
	return false
}

// isCard knows the cards that the account made. One may lie there before the keyset that lists its device has come, or after the one that
// does not; until then it does not count.
func (c strays) isCard(name string) bool {
	id, err := seal.ParseID(name)
	if err != nil {
		return false
	}
	if _, listed := c.keyset.roster[id]; listed {
		return true // if it is not right, that is a finding of its own
	}
	err = c.shared.in("devices", func(d folder) error {
		file, err := d.Read(name, limitSmall)
		if err == nil {
			_, err = openCard(c.account, id, c.root, file)
		}
		return err
	})
	return err == nil || isNewer(err)
}

func isVaultFolder(name string) bool {
	digits, isFolder := strings.CutSuffix(name, "/")
	_, err := seal.ParseID(digits)
	return isFolder && err == nil
}

func isVaultName(name string) bool {
	switch name {
	case "items/", "man/", "blobs/":
		return true
	}
	_, ok := headerEpoch(name)
	return ok
}

// isManifestName knows roots and folders of shards.
func isManifestName(name string) bool {
	digits, _ := strings.CutSuffix(name, ".d/")
	_, err := seal.ParseID(digits)
	return err == nil
}

func isItemFolder(name string) bool {
	digits, isFolder := strings.CutSuffix(name, "/")
	_, ok := parseShardName(digits)
	return isFolder && ok
}

// isItemName knows the files of revisions.
func isItemName(name string) bool {
	item, rev, _ := strings.Cut(name, "-")
	_, err := seal.ParseID(item)
	return err == nil && isHex(rev, 16)
}

// holdsParts says whether a vault's folder holds manifests or items besides what our own last write left over.
func (s *shelf) holdsParts() (bool, error) {
	left := leftovers(s)
	holds := func(folder string, fits func(string) bool) (bool, error) {
		names, err := s.c.list(vaultPath(s.id, folder))
		for _, name := range names {
			if fits(name) && !left[folder+"/"+name] {
				return true, err
			}
		}
		return false, err
	}
	isRoot := func(name string) bool { return isManifestName(name) && !strings.HasSuffix(name, "/") }
	if found, err := holds("man", isRoot); found || err != nil {
		return found, err
	}
	folders, err := s.c.list(vaultPath(s.id, "items"))
	for _, name := range folders {
		if !isItemFolder(name) || err != nil {
			continue
		}
		var found bool
		if found, err = holds("items/"+strings.TrimSuffix(name, "/"), isItemName); found {
			return true, err
		}
	}
	return false, err
}
