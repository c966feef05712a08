package api

// Values of fields never stand in these types: they cross as the values of a call, one for each field that has one, in the
// order of the fields.

// FieldIn is a field to store; its value is among the call's values.
type FieldIn struct {
	Section   string `json:"section,omitempty"`
	Name      string `json:"name"`
	Concealed bool   `json:"concealed"`
}

// Where an input has the Name of an item that is there, it may also be written VAULT/ITEM or warder://VAULT/ITEM, and with
// ItemShow and ItemCheck each of these with /FIELD or /SECTION/FIELD behind it.

// ItemAdd adds an item. It brings one value for each field, in order.
type ItemAdd struct {
	Vault    string    `json:"vault,omitempty"` // the default vault if empty
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Fields   []FieldIn `json:"fields"`
	Hosts    []string  `json:"hosts,omitempty"`
	Commands []Command `json:"commands,omitempty"`
	Tags     []string  `json:"tags,omitempty"`
	Level    string    `json:"level,omitempty"` // empty is unset
	NeverEnv bool      `json:"never_env,omitempty"`
}

// Command is a program that agents may run with an item: as it was written, and the absolute path that it means.
type Command struct {
	Name string `json:"name"`
	Path string `json:"path"`
}

// ItemAdded says what was stored.
type ItemAdded struct {
	Name     string   `json:"name"`
	Vault    string   `json:"vault"`
	Level    string   `json:"level"`
	Ref      string   `json:"ref"`  // of the first concealed field
	Undo     string   `json:"undo"` // takes the act back
	Warnings []string `json:"warnings"`
}

// ItemEdit changes an item. A nil member stays as it is.
type ItemEdit struct {
	Act
	Vault    string     `json:"vault,omitempty"`
	Name     string     `json:"name"`
	Rename   string     `json:"rename,omitempty"`
	Set      []FieldIn  `json:"set,omitempty"` // with one value each
	Unset    []string   `json:"unset,omitempty"`
	Hosts    *[]string  `json:"hosts,omitempty"`
	Commands *[]Command `json:"commands,omitempty"`
	Tags     *[]string  `json:"tags,omitempty"`
	Level    *string    `json:"level,omitempty"`
	NeverEnv *bool      `json:"never_env,omitempty"` // no program gets a value of it in a variable
}

// Changed says how to take a change back, and what to know about it.
type Changed struct {
	Vault    string   `json:"vault,omitempty"` // of an item that was changed
	Name     string   `json:"name,omitempty"`
	Undo     string   `json:"undo"` // for item.undo
	Warnings []string `json:"warnings"`
}

// ItemName names an item.
type ItemName struct {
	Act
	Vault string `json:"vault,omitempty"`
	Name  string `json:"name"`
}

// ItemShow asks for an item, and with Reveal for values.
type ItemShow struct {
	Act
	Vault  string `json:"vault,omitempty"`
	Name   string `json:"name"`
	Reveal bool   `json:"reveal,omitempty"`
	Field  string `json:"field,omitempty"` // with Reveal: this field alone, as "[section/]field"
}

// ItemShown is an item. Of the fields with Revealed set, the values come with the reply.
type ItemShown struct {
	ItemRow
	Created  string      `json:"created"`
	Modified string      `json:"modified"`
	By       string      `json:"by"` // "person", "agent" or "import"
	Client   string      `json:"client"`
	Commands []Command   `json:"commands"`
	NeverEnv bool        `json:"never_env"`
	Fields   []ItemField `json:"fields"`
	Field    string      `json:"field,omitempty"` // the one field that was asked for, if one was: it alone is in Fields
}

// ItemField is a field without its value.
type ItemField struct {
	Section   string `json:"section"`
	Name      string `json:"name"`
	Concealed bool   `json:"concealed"`
	Set       bool   `json:"set"` // it holds a value
	Ref       string `json:"ref"`
	Revealed  bool   `json:"revealed,omitempty"`
}

// ItemRow is an item in a list.
type ItemRow struct {
	Name  string   `json:"name"`
	Vault string   `json:"vault"`
	Type  string   `json:"type"`
	Level string   `json:"level"` // "unset", "none", "ask", "use" or "read"
	Tags  []string `json:"tags"`
	Hosts []string `json:"hosts"`
	State string   `json:"state"` // "ok", "missing" or "damaged"
	Open  bool     `json:"open"`  // to agents, at level ask or more
}

// ItemListIn chooses items.
type ItemListIn struct {
	Vault string `json:"vault,omitempty"` // all if empty
	Tag   string `json:"tag,omitempty"`
	Type  string `json:"type,omitempty"`
}

// ItemList is what the caller may see.
type ItemList struct {
	Items []ItemRow `json:"items"`
}

// ItemCheck asks whether a field holds a value; without a field, whether any concealed one does.
type ItemCheck struct {
	Vault string `json:"vault,omitempty"`
	Name  string `json:"name"`
	Field string `json:"field,omitempty"`
}

// ItemChecked is the answer.
type ItemChecked struct {
	Set bool `json:"set"`
}

// ItemUndo takes back an act by its tag.
type ItemUndo struct {
	Act
	Tag string `json:"tag"`
}

// ItemUndone counts what was taken back.
type ItemUndone struct {
	Count int `json:"count"`
}

// ItemHistory lists revisions, newest first.
type ItemHistory struct {
	Revisions []ItemRevision `json:"revisions"`
}

// ItemRevision is one kept revision.
type ItemRevision struct {
	Rev      string `json:"rev"`
	Modified string `json:"modified"`
	By       string `json:"by"`
	Client   string `json:"client"`
	Undo     string `json:"undo"`              // the tag that takes the act back; empty if that does not work any more
	NoUndo   string `json:"no_undo,omitempty"` // why not
}
