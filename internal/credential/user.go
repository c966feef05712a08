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

// userOf is a user's name that goes along with a set's values.
type userOf struct {
	item *vault.Item
	name secret.Value
}

// addUser is the number, from 1 on, of the name that goes along with a field of an opened item; 0 if none does.
func addUser(s *Set, it opened, f *vault.Field) (int, error) {
	for i, u := range s.users {
		if u.item == it.Item {
			return i + 1, nil
		}
	}
	name := UserOf(it.Item)
	if name.IsZero() || name.Equal(f.Value) {
		return 0, nil
	}
	name, err := name.Clone()
	if err != nil {
		return 0, err
	}
	s.users = append(s.users, userOf{it.Item, name})
	return len(s.users), nil
}

// Users is how many names of users go along with the values of a set.
func Users(s *Set) int { return len(s.users) }
