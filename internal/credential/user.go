package credential

import (
	"warder/internal/secret"
	"warder/internal/vault"
)

// userNames are the names, folded, of fields that hold the name of whom a secret is for.
func userNames() []string { return []string{"username", "user name", "user", "login", "email"} }

// UserOf is the name of the user whom an item's secrets are for, as programs send it along with them; zero where no field says it. It is the
// item's own.
func UserOf(it *vault.Item) secret.Value {
	if it.Kind != vault.KindItem {
		return secret.Value{}
	}
	for _, name := range userNames() {
		for i := range it.Fields {
			if f := &it.Fields[i]; vault.FoldName(f.Name) == name && f.Value.Len() > 0 {
				return f.Value
			}
		}
	}
	return secret.Value{}
}
