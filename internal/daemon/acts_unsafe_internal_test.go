package daemon

import (
	"testing"

	"warder/internal/api"
)

// TestUnsafeNamesInOtherLetters: an agent can't give an item or a field a name that only some mapping of letters makes one that steers
// programs: other cases, and what a code page makes of wide, styled and accented letters.
func TestUnsafeNamesInOtherLetters(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{
		"NODE_OPTıONS", "GıT_SSH_COMMAND", "GİT_SSH_COMMAND", "BA\u017fH_ENV", "ｐａｔｈ", "𝐋𝐃_PRELOAD", "LDéPRELOAD",
		"PÁTH", "node öptions", "Ld-Preload",
	} {
		add := api.ItemAdd{Name: name, Type: "api-token", Fields: []api.FieldIn{{Name: "token", Concealed: true}}}
		s.refused(s.do(agent(), api.OpItemAdd, add, token), api.UnsafeName)
		add.Name, add.Fields[0].Name = "x", name
		s.refused(s.do(agent(), api.OpItemAdd, add, token), api.UnsafeName)
	}
}
