package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/vault"
)

// TestStateInsideTheAccountByALink: the device secret must not come into the folder that is synced by a detour either.
func TestStateInsideTheAccountByALink(t *testing.T) {
	for name, places := range map[string]func(real, link string) (account, state string){
		"the account's place is a link": func(real, link string) (string, string) { return link + "/account", real + "/account/state" },
		"the state's place is a link":   func(real, link string) (string, string) { return real + "/account", link + "/account/a/state" },
		"the same folder":               func(real, link string) (string, string) { return real + "/account", link + "/account" },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			place, link := filepath.Join(dir, "place"), filepath.Join(dir, "link")
			must(t, os.Mkdir(place, 0o700))
			if err := os.Symlink("place", link); err != nil {
				t.Skip("links can't be made here: ", err)
			}
			cfg := config(dir)
			cfg.AccountDir, cfg.StateDir = places(place, link)
			for range 2 { // while the account's folder is not there, and while it is
				if _, _, err := vault.Create(cfg, value(t, password)); err == nil || !strings.Contains(err.Error(), "inside the account directory") {
					t.Errorf("it says %v", err)
				}
				must(t, os.MkdirAll(filepath.Join(place, "account"), 0o700))
			}
			if list := files(t, place); len(list) > 0 {
				t.Errorf("it made %q", list)
			}
		})
	}
}
