package vault

import (
	"encoding/binary"
	"maps"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
)

// paddedSize is the smallest size of F1.5 that holds n bytes: what is left of a length in a file's size.
func paddedSize(n int) int {
	for _, s := range [4]int{256, 1 << 10, 4 << 10, 16 << 10} {
		if n <= s {
			return s
		}
	}
	s := 16 << 10
	for s < n {
		s += s / 4
	}
	return s
}

// encodeItem builds the padded plaintext in locked memory.
func encodeItem(it *Item) (secret.Value, error) {
	n := measure(it.put)
	if n > maxItemJSON {
		return secret.Value{}, &SizeError{What: string(it.Kind) + " " + it.Name, Have: n, Max: maxItemJSON}
	}
	return secret.Make(paddedSize(4+n), func(b []byte) error {
		binary.BigEndian.PutUint32(b, uint32(n)) // #nosec G115 -- at most maxItemJSON
		e := &encoder{out: b[4:4]}
		it.put(e)
		return e.err
	})
}

func (it *Item) put(e *encoder) {
	m := &it.Meta
	e.object(m.extra,
		originMember(m.Origin),
		mapMember("clients", m.grants(), func(e *encoder, l Level) { e.str(l.String()) }),
		listMember("commands", m.Commands, putCommand),
		timeMember("created", m.Created),
		listMember("delivery", m.Delivery, putText[Delivery]),
		timeMember("expires", m.Expires),
		listMember("fields", it.Fields, putField),
		listMember("history", m.link.history, putHash),
		listMember("hosts", m.Hosts, putHost),
		textMember("kind", string(m.Kind)),
		numMember("lamport", m.link.lamport),
		levelMember("level", m.Level),
		listMember("links", m.Links, func(e *encoder, id seal.ID) { e.str(id.String()) }),
		numMember("max_uses", m.MaxUses),
		timeMember("modified", m.Modified),
		textMember("name", m.Name),
		flagMember("never_env", m.NeverEnv),
		listMember("parents", m.link.parents, putHash),
		idMember("project", m.Project),
		listMember("tags", m.Tags, putText[string]),
		timeMember("trashed", m.Trashed),
		textMember("type", string(m.Type)),
		m.link.vec.member(),
		idMember("writer", m.link.writer),
	)
}

// grants are the clients with a level of their own.
func (m *Meta) grants() map[string]Level {
	set := maps.Clone(m.Clients)
	maps.DeleteFunc(set, func(_ string, l Level) bool { return l == LevelUnset })
	return set
}

func originMember(o Origin) member {
	if o == (Origin{}) {
		return member{}
	}
	return member{"origin", func(e *encoder) {
		e.object(nil, textMember("by", string(o.By)), textMember("client", o.Client), textMember("tag", o.Tag))
	}}
}

func putCommand(e *encoder, c Command) {
	e.object(c.extra, textMember("name", c.Name), textMember("path", c.Path))
}

func putHost(e *encoder, h Host) {
	e.object(h.extra, textMember("host", h.Host), listMember("methods", h.Methods, putText[string]), listMember("paths", h.Paths, putText[string]))
}

func putField(e *encoder, f Field) {
	value := member{}
	if f.Value.Len() > 0 {
		value = member{"value", func(e *encoder) { e.base64(f.Value) }}
	}
	e.object(f.extra,
		flagMember("concealed", f.Concealed),
		levelMember("level", f.Level),
		textMember("name", f.Name),
		textMember("nonsecret", string(f.NonSecret)),
		textMember("ref", f.Ref),
		numMember("score", int64(f.Score)),
		textMember("section", f.Section),
		timeMember("set", f.Set),
		textMember("type", f.Type),
		value,
	)
}

func timeMember(key string, t time.Time) member {
	if t.IsZero() {
		return member{}
	}
	return numMember(key, t.UnixMilli())
}

// readTime reads 0 as what it stands for: an absent time.
func readTime(d *decoder) time.Time {
	ms := d.num()
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// decodeItem reads a padded plaintext. Without values only the Meta is filled: the index needs no secret in memory.
func decodeItem(padded []byte, values bool) (*Item, error) {
	if len(padded) < 4 {
		return nil, errNotCanonical
	}
	length := binary.BigEndian.Uint32(padded)
	n := int(length)
	if length > maxItemJSON || 4+n > len(padded) || paddedSize(4+n) != len(padded) {
		return nil, errNotCanonical
	}
	for _, b := range padded[4+n:] {
		if b != 0 {
			return nil, errNotCanonical
		}
	}
	it := &Item{}
	it.State = StateOK
	err := decode(padded[4:4+n], func(d *decoder) { d.object(func(key string) { readItemMember(d, it, key, values) }) })
	if err == nil && (it.Kind == "" || it.Name == "" || it.link.lamport == 0 || len(it.link.vec) == 0 || it.link.writer.IsZero()) {
		err = errNotCanonical
	}
	if err != nil {
		it.Destroy()
		return nil, err
	}
	return it, nil
}

func readItemMember(d *decoder, it *Item, key string, values bool) {
	if readHistoryMember(d, &it.link, key) || readGrantMember(d, &it.Meta, key) {
		return
	}
	switch key {
	case "created":
		it.Created = readTime(d)
	case "expires":
		it.Expires = readTime(d)
	case "fields":
		readFields(d, it, values)
	case "kind":
		it.Kind = Kind(d.str())
	case "links":
		d.list(func() { it.Links = append(it.Links, readID(d)) })
	case "modified":
		it.Modified = readTime(d)
	case "name":
		it.Name = d.str()
	case "origin":
		it.Origin = readOrigin(d)
	case "project":
		it.Project = readID(d)
	case "tags":
		it.Tags = d.strs()
	case "trashed":
		it.Trashed = readTime(d)
	case "type":
		it.Type = Type(d.str())
	default:
		readKeepUnknown(d, &it.extra, key, values)
	}
}

// readHistoryMember reads the members that place a revision among others.
func readHistoryMember(d *decoder, r *revision, key string) bool {
	switch key {
	case "history":
		r.history = readHashes(d)
	case "lamport":
		r.lamport = d.num()
	case "parents":
		r.parents = readHashes(d)
	case "vector":
		r.vec = readVector(d)
	case "writer":
		r.writer = readID(d)
	default:
		return false
	}
	return true
}

// readGrantMember reads the members that say what may be done with an item.
func readGrantMember(d *decoder, m *Meta, key string) bool {
	switch key {
	case "clients":
		m.Clients = map[string]Level{}
		d.object(func(client string) { m.Clients[client] = readLevel(d) })
	case "commands":
		d.list(func() { m.Commands = append(m.Commands, readCommand(d)) })
	case "delivery":
		d.list(func() { m.Delivery = append(m.Delivery, Delivery(d.str())) })
	case "hosts":
		d.list(func() { m.Hosts = append(m.Hosts, readHost(d)) })
	case "level":
		m.Level = readLevel(d)
	case "max_uses":
		m.MaxUses = d.num()
	case "never_env":
		m.NeverEnv = d.flag()
	default:
		return false
	}
	return true
}

func readOrigin(d *decoder) (o Origin) {
	d.object(func(key string) {
		switch key {
		case "by":
			o.By = By(d.str())
		case "client":
			o.Client = d.str()
		case "tag":
			o.Tag = d.str()
		default:
			d.skip()
		}
	})
	return o
}

func readCommand(d *decoder) (c Command) {
	d.object(func(key string) {
		switch key {
		case "name":
			c.Name = d.str()
		case "path":
			c.Path = d.str()
		default:
			d.unknown(&c.extra, key)
		}
	})
	return c
}

func readHost(d *decoder) (h Host) {
	d.object(func(key string) {
		switch key {
		case "host":
			h.Host = d.str()
		case "methods":
			h.Methods = d.strs()
		case "paths":
			h.Paths = d.strs()
		default:
			d.unknown(&h.extra, key)
		}
	})
	return h
}

func readFields(d *decoder, it *Item, values bool) {
	if !values {
		d.skip()
		return
	}
	d.list(func() {
		// Appended before it is read, so that a failure half-way leaves the value where Destroy finds it.
		it.Fields = append(it.Fields, Field{})
		readField(d, &it.Fields[len(it.Fields)-1])
	})
}

func readField(d *decoder, f *Field) {
	d.object(func(key string) {
		switch key {
		case "concealed":
			f.Concealed = d.flag()
		case "level":
			f.Level = readLevel(d)
		case "name":
			f.Name = d.str()
		case "nonsecret":
			f.NonSecret = By(d.str())
		case "ref":
			f.Ref = d.str()
		case "score":
			f.Score = int(d.num())
		case "section":
			f.Section = d.str()
		case "set":
			f.Set = readTime(d)
		case "type":
			f.Type = d.str()
		case "value":
			f.Value = d.base64()
		default:
			d.unknown(&f.extra, key)
		}
	})
}

// readKeepUnknown keeps a member for writing back; the index, which writes nothing, drops it.
func readKeepUnknown(d *decoder, extra *[]rawMember, key string, values bool) {
	if !values {
		d.skip()
		return
	}
	d.unknown(extra, key)
}

// itemHeaderLen is the length of vault, item, epoch and wrap: what the header says in the clear is what the wraps and the box are bound to.
const itemHeaderLen = 16 + 16 + 8 + 60

// sealItem makes the file of one revision.
func sealItem(vk seal.VaultKey, place seal.ItemPlace, it *Item) ([]byte, error) {
	plain, err := encodeItem(it)
	if err != nil {
		return nil, err
	}
	defer plain.Destroy()
	ik, wrap, err := seal.NewItemKey(vk, place)
	if err != nil {
		return nil, err
	}
	defer ik.Destroy()
	header := make([]byte, 0, itemHeaderLen)
	header = append(header, place.Vault[:]...)
	header = append(header, place.Item[:]...)
	header = binary.BigEndian.AppendUint64(header, place.Epoch)
	header = append(header, wrap[:]...)
	file := frame(magicItem, header)
	var box []byte
	useErr := plain.Use(func(b []byte) { box, err = seal.SealItem(ik, place, file, b) })
	if err == nil {
		err = useErr
	}
	if err != nil {
		return nil, err
	}
	return append(file, box...), nil
}

// openItem opens the file of one revision of the given item.
func openItem(keys map[uint64]seal.VaultKey, vault, item seal.ID, file []byte, values bool) (*Item, error) {
	f, err := unframe(magicItem, "item "+item.String(), itemHeaderLen, file)
	if err != nil {
		return nil, err
	}
	h := fieldsOf(f.header, 16, 16, 8, 60)
	place := seal.ItemPlace{Vault: seal.ID(h[0]), Item: seal.ID(h[1]), Epoch: u64(h[2])}
	vk, ok := keys[place.Epoch]
	if !ok || place.Vault != vault || place.Item != item {
		return nil, seal.ErrOpen
	}
	ik, err := seal.OpenItemKey(vk, h[3], place)
	if err != nil {
		return nil, err
	}
	defer ik.Destroy()
	plain, err := seal.OpenItem(ik, place, f.clear, f.body)
	if err != nil {
		return nil, err
	}
	defer plain.Destroy()
	var it *Item
	useErr := plain.Use(func(b []byte) { it, err = decodeItem(b, values) })
	if err == nil {
		err = useErr
	}
	if err != nil {
		return nil, err
	}
	it.ID, it.link.rev = item, seal.HashOf(file)
	return it, nil
}
