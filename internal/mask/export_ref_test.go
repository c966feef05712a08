package mask

import "warder/internal/secret"

// AddPattern adds one spelling, which is all of its value. If it folds, it is looked for folded over lines too.
func AddPattern(s *Set, name string, b []byte, folds bool) error {
	v, err := secret.New(append([]byte(nil), b...))
	if err != nil {
		return err
	}
	defer v.Destroy()
	_ = folds // no patterns fold yet
	return s.Add(name, v, ValueOptions{Exact: true})
}

// Folds reports whether spellings of a form are looked for folded over lines too.
func Folds(form string) bool { return form == "base64" || form == "basic auth" }
