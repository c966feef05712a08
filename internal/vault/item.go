package vault

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
)

// Kind is what a stored item is for.
type Kind string

const (
	KindItem    Kind = "item"    // a credential
	KindProject Kind = "project" // a named set of stages with linked items
	KindStage   Kind = "stage"   // the variables of one environment of a project
	KindVault   Kind = "vault"   // the vault's own name; its id is the vault's id
)

// Type is what kind of credential an item is. It guides defaults and display; nothing is decided by it.
type Type string

// Types in the order in which help shows them.
const (
	TypeLogin       Type = "login"
	TypePassword    Type = "password"
	TypeAPIToken    Type = "api-token"
	TypeSSHKey      Type = "ssh-key"
	TypeDatabase    Type = "database"
	TypeCertificate Type = "certificate"
	TypeNote        Type = "note"
	TypeCard        Type = "card"
	TypeIdentity    Type = "identity"
	TypeOther       Type = "other"
)

// Types lists every type.
func Types() []Type {
	return []Type{
		TypeLogin, TypePassword, TypeAPIToken, TypeSSHKey, TypeDatabase, TypeCertificate, TypeNote, TypeCard, TypeIdentity, TypeOther,
	}
}

// Delivery is a way in which a value may reach a child process.
type Delivery string

const (
	DeliverBroker      Delivery = "broker"       // a placeholder, swapped for the value at egress
	DeliverEnv         Delivery = "env"          // an environment variable
	DeliverFile        Delivery = "file"         // a private file or descriptor
	DeliverStdin       Delivery = "stdin"        // standard input
	DeliverAgentSocket Delivery = "agent-socket" // an ssh agent's socket
)

// Deliveries lists every way.
func Deliveries() []Delivery {
	return []Delivery{DeliverBroker, DeliverEnv, DeliverFile, DeliverStdin, DeliverAgentSocket}
}

// Host is where an item's value may be sent. Empty methods or paths mean any.
type Host struct {
	Host    string
	Methods []string
	Paths   []string
	extra   []rawMember
}

// Command is a program that agents may run with an item.
type Command struct {
	Name  string // as the person wrote it
	Path  string // the absolute path it resolved to when it was set: PATH can't change what it means
	extra []rawMember
}

// By is who made a revision.
type By string

const (
	ByPerson By = "person"
	ByAgent  By = "agent"
	ByImport By = "import"
)

// known says whether b is one of these, or nobody.
func (b By) known() bool { return b == "" || b == ByPerson || b == ByAgent || b == ByImport }

// Origin says where a revision comes from.
type Origin struct {
	By     By
	Client string // the agent client's name, for ByAgent
	Tag    string // joins the revisions of one act, so that one undo takes them all back
}

// ItemState says how the revision at hand was read.
type ItemState string

const (
	StateOK      ItemState = "ok"
	StateMissing ItemState = "missing" // the current revision's file is not there; an older one may be served
	StateDamaged ItemState = "damaged" // the current revision's file was changed; an older one may be served
)

// Meta is all of an item but its fields. The vault keeps it in memory while unlocked; it holds no value.
type Meta struct {
	ID       seal.ID
	Kind     Kind
	Name     string
	Type     Type
	Tags     []string
	Level    Level            // for all agents
	Clients  map[string]Level // per agent client
	Hosts    []Host
	Commands []Command
	Delivery []Delivery // allowed ways; empty means any
	NeverEnv bool
	MaxUses  int64 // 0 means no limit
	Expires  time.Time
	Origin   Origin
	Created  time.Time
	Modified time.Time
	Trashed  time.Time // zero unless in the trash
	Project  seal.ID   // of a stage
	Links    []seal.ID // of a project
	State    ItemState
	Conflict bool // two devices changed it apart; the later one is shown, the other is in the history
	link     revision
	extra    []rawMember
}

// revision is an item's place in its own history.
type revision struct {
	rev     seal.Hash // of the file; zero until written
	lamport int64
	vec     vector
	writer  seal.ID
	parents []seal.Hash
	history []seal.Hash
}

// Rev is the hash of the revision this was read from; zero for an item that was never saved.
func (m *Meta) Rev() seal.Hash { return m.link.rev }

// Parents are the revisions that this one followed: several if it brought together what devices had changed apart, none if it is the
// first.
func (m *Meta) Parents() []seal.Hash { return slices.Clone(m.link.parents) }

// Field is one value of an item, or one variable of a stage.
type Field struct {
	Section   string
	Name      string
	Type      string // "text", "url", "email", "totp", "multiline"…: display only; empty is text
	Concealed bool   // a secret: masked, never shown unasked
	NonSecret By     // who declared a value to be no secret; only a person's word counts (C-29)
	Level     Level  // of a stage's variable
	Ref       string // of a stage's variable: the reference it stands for instead of a value
	Score     int    // strength 0–4 of a concealed value when it was set
	Set       time.Time
	Value     secret.Value
	extra     []rawMember
}

// Item is an opened item. Its values are in locked memory until Destroy.
type Item struct {
	Meta
	Fields []Field
}

// Field finds a field by its name and section without regard to case, or nil.
func (it *Item) Field(section, name string) *Field {
	s, n := FoldName(section), FoldName(name)
	for i := range it.Fields {
		if f := &it.Fields[i]; FoldName(f.Section) == s && FoldName(f.Name) == n {
			return f
		}
	}
	return nil
}

// judgeValues notes time and strength of the values that were put since the item was opened.
func (it *Item) judgeValues(now time.Time) error {
	for i := range it.Fields {
		f := &it.Fields[i]
		if !f.Set.IsZero() || f.Value.IsZero() {
			continue
		}
		err := f.Value.Use(func(b []byte) {
			if f.Concealed {
				f.Score = secret.Strength(b)
			}
		})
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
		f.Set = now
	}
	return nil
}

// Destroy wipes the values.
func (it *Item) Destroy() {
	for i := range it.Fields {
		it.Fields[i].Value.Destroy()
		wipeMembers(it.Fields[i].extra)
	}
	wipeMembers(it.extra)
}

// wipeMembers clears members kept for a later version: they may hold values this version can't recognise.
func wipeMembers(extra []rawMember) {
	for _, m := range extra {
		secret.Wipe(m.raw)
	}
}

// What an item or a stage can hold, in bytes: MaxFieldValue in one field or variable, MaxItem in all together, with what F1 writes
// around them.
const (
	MaxFieldValue = maxFieldValue
	MaxItem       = maxItemJSON
)

// Limits of F1.5, in bytes.
const (
	maxFieldValue = 65535
	maxItemJSON   = 1 << 20
)

// check refuses an item that F1 does not allow, before anything of it is written.
func (it *Item) check() error {
	if it.Kind == "" {
		return errors.New("an item needs a kind")
	}
	if err := CheckName(string(it.Kind)+" name", it.Name); err != nil {
		return err
	}
	if err := it.Meta.check(); err != nil {
		return fmt.Errorf("%s %q: %w", it.Kind, it.Name, err)
	}
	seen := make(map[[2]string]bool, len(it.Fields))
	for i := range it.Fields {
		f := &it.Fields[i]
		if err := f.check(); err != nil {
			return fmt.Errorf("%s %q: %w", it.Kind, it.Name, err)
		}
		key := [2]string{FoldName(f.Section), FoldName(f.Name)}
		if it.Kind == KindStage {
			key = [2]string{"", f.Name} // variables differ by case
		}
		if seen[key] {
			return fmt.Errorf("%s %q: field %q stands twice", it.Kind, it.Name, f.Name)
		}
		seen[key] = true
	}
	size := &encoder{counting: true}
	if it.put(size); size.err != nil {
		return fmt.Errorf("%s %q: %w", it.Kind, it.Name, size.err)
	}
	return nil
}

func (m *Meta) check() error {
	switch {
	case m.Kind == KindStage && m.Project.IsZero():
		return errors.New("a stage needs a project")
	case m.Kind != KindStage && !m.Project.IsZero():
		return errors.New("only a stage is of a project")
	case m.Kind == KindVault && !m.Trashed.IsZero():
		return errors.New("a vault's own item can't be put into the trash")
	case m.MaxUses < 0:
		return errors.New("a limit of uses can't be below 0")
	case !m.Expires.IsZero() && m.Expires.UnixMilli() == 0:
		return errors.New("the start of 1970 can't be a time of expiry: in the store it stands for none")
	}
	for _, l := range m.Clients {
		if err := l.check(); err != nil {
			return err
		}
	}
	return m.Level.check()
}

func (f *Field) check() error {
	if err := CheckName("field name", f.Name); err != nil {
		return err
	}
	if f.Section != "" {
		if err := CheckName("section name", f.Section); err != nil {
			return err
		}
	}
	if err := f.Level.check(); err != nil {
		return fmt.Errorf("field %q: %w", f.Name, err)
	}
	if n := f.Value.Len(); n > maxFieldValue {
		return &SizeError{What: fmt.Sprintf("field %q", f.Name), Have: n, Max: maxFieldValue}
	}
	return nil
}

// SizeError says that something is larger than F1 allows.
type SizeError struct {
	What      string
	Have, Max int // bytes
}

// Error names the thing and both sizes.
func (e *SizeError) Error() string {
	return fmt.Sprintf("%s has %d bytes, the limit is %d", e.What, e.Have, e.Max)
}
