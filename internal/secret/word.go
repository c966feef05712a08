package secret

// IsWord says whether a value is nothing but one word of the list that Strength knows, in whatever case. It is quick, and looks at the
// list where it stands.
func IsWord(b []byte) bool {
	if len(b) == 0 || len(b) > judged {
		return false
	}
	list := wordTree(packedWords)
	t := list.root()
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
		next, _, ok := list.grow(t, c)
		if !ok {
			return false
		}
		t = next
	}
	return t.rank > 0
}
