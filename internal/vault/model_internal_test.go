package vault

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"warder/internal/seal"
	"warder/internal/secret"
)

// This file draws the things that F1 knows, with all that they may hold.

// same compares what was written with what was read.
func same() cmp.Options {
	return cmp.Options{
		cmp.Exporter(func(reflect.Type) bool { return true }),
		cmp.Comparer(func(a, b secret.Value) bool { return a.Equal(b) }),
		cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) }),
		cmpopts.EquateEmpty(),
	}
}

// tester is what *testing.T and *rapid.T have in common here.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// must is v, or the end of the test.
func must[T any](t tester, v T, err error) T {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func drawID(t *rapid.T, label string) (id seal.ID) {
	copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, label))
	id[15] |= 1 // never the zero id, which stands for none
	return id
}

func drawHash(t *rapid.T, label string) (h seal.Hash) {
	copy(h[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
	h[31] |= 1
	return h
}

func hashGen() *rapid.Generator[seal.Hash] {
	return rapid.Custom(func(t *rapid.T) seal.Hash { return drawHash(t, "hash") })
}

func idGen() *rapid.Generator[seal.ID] {
	return rapid.Custom(func(t *rapid.T) seal.ID { return drawID(t, "id") })
}

// drawTime draws a time as F1 holds it; the zero Time among them.
func drawTime(t *rapid.T, label string) time.Time {
	ms := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(-maxInt, maxInt)).Draw(t, label)
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func seqGen() *rapid.Generator[uint64] { return rapid.Uint64Range(1, maxInt) }

func drawVector(t *rapid.T, least int) vector {
	var v vector
	for id, n := range rapid.MapOfN(idGen(), seqGen(), least, 4).Draw(t, "vector") {
		v = v.set(id, n)
	}
	return v
}

// drawExtra draws members that this version does not know.
func drawExtra(t *rapid.T) []rawMember {
	var extra []rawMember
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"", "Z", "future", "kee", "keep", "name2", "zz", "é", "\n"}), 0, 3, rapid.ID).Draw(t, "extra")
	for _, key := range slices.Sorted(slices.Values(keys)) {
		extra = append(extra, rawMember{key, encodeNode(nodeGen(3).Draw(t, "raw"))})
	}
	return extra
}

func levelGen() *rapid.Generator[Level] {
	return rapid.Custom(func(t *rapid.T) Level { return Level(rapid.IntRange(int(LevelUnset), int(LevelRead)).Draw(t, "level")) })
}

func grantGen() *rapid.Generator[Level] {
	return rapid.Custom(func(t *rapid.T) Level { return Level(rapid.IntRange(int(LevelNone), int(LevelRead)).Draw(t, "level")) })
}

func byGen() *rapid.Generator[By] { return rapid.SampledFrom([]By{"", ByPerson, ByAgent, ByImport}) }

// drawValue draws a value of any bytes; the caller destroys it.
func drawValue(t *rapid.T) secret.Value {
	b := rapid.OneOf(
		rapid.SliceOfN(rapid.Byte(), 0, 40),
		rapid.SampledFrom([][]byte{nil, {0}, {0, 0, 0}, []byte("a\x00b"), {0xff, 0xfe}, []byte("line\nline\r\n")}),
	).Draw(t, "value")
	if b == nil {
		return secret.Value{}
	}
	v, err := secret.New(slices.Clone(b))
	return must(t, v, err)
}

func drawField(t *rapid.T) Field {
	return Field{
		Section: textGen().Draw(t, "section"), Name: textGen().Draw(t, "name"), Type: textGen().Draw(t, "type"),
		Concealed: rapid.Bool().Draw(t, "concealed"), NonSecret: byGen().Draw(t, "nonsecret"), Level: levelGen().Draw(t, "level"),
		Ref: textGen().Draw(t, "ref"), Score: rapid.IntRange(0, 4).Draw(t, "score"), Set: drawTime(t, "set"),
		Value: drawValue(t), extra: drawExtra(t),
	}
}

func drawRevision(t *rapid.T) revision {
	return revision{
		lamport: rapid.Int64Range(1, maxInt).Draw(t, "lamport"), vec: drawVector(t, 1), writer: drawID(t, "writer"),
		parents: rapid.SliceOfN(hashGen(), 0, 3).Draw(t, "parents"), history: rapid.SliceOfN(hashGen(), 0, 10).Draw(t, "history"),
	}
}

func drawMeta(t *rapid.T) Meta {
	m := Meta{
		Kind: rapid.SampledFrom([]Kind{KindItem, KindProject, KindStage, KindVault, "future"}).Draw(t, "kind"),
		Name: textGen().Filter(func(s string) bool { return s != "" }).Draw(t, "name"),
		Type: rapid.SampledFrom(append(Types(), "", "future")).Draw(t, "type"), Tags: rapid.SliceOfN(textGen(), 0, 3).Draw(t, "tags"),
		Level: levelGen().Draw(t, "level"), Clients: rapid.MapOfN(textGen(), grantGen(), 0, 3).Draw(t, "clients"),
		NeverEnv: rapid.Bool().Draw(t, "never_env"), MaxUses: rapid.Int64Range(0, maxInt).Draw(t, "max_uses"),
		Expires: drawTime(t, "expires"), Created: drawTime(t, "created"), Modified: drawTime(t, "modified"), Trashed: drawTime(t, "trashed"),
		Origin:  Origin{By: byGen().Draw(t, "by"), Client: textGen().Draw(t, "client"), Tag: textGen().Draw(t, "tag")},
		Project: rapid.OneOf(rapid.Just(seal.ID{}), idGen()).Draw(t, "project"), Links: rapid.SliceOfN(idGen(), 0, 3).Draw(t, "links"),
		State: StateOK, link: drawRevision(t), extra: drawExtra(t),
	}
	for range rapid.IntRange(0, 3).Draw(t, "hosts") {
		m.Hosts = append(m.Hosts, Host{
			Host: textGen().Draw(t, "host"), Methods: rapid.SliceOfN(textGen(), 0, 2).Draw(t, "methods"),
			Paths: rapid.SliceOfN(textGen(), 0, 2).Draw(t, "paths"), extra: drawExtra(t),
		})
	}
	for range rapid.IntRange(0, 3).Draw(t, "commands") {
		m.Commands = append(m.Commands, Command{Name: textGen().Draw(t, "name"), Path: textGen().Draw(t, "path"), extra: drawExtra(t)})
	}
	ways := []Delivery{DeliverBroker, DeliverEnv, DeliverFile, DeliverStdin, DeliverAgentSocket}
	m.Delivery = rapid.SliceOfNDistinct(rapid.SampledFrom(ways), 0, len(ways), rapid.ID).Draw(t, "delivery")
	return m
}

// drawItem draws an item with everything that F1 gives it. The caller destroys it.
func drawItem(t *rapid.T) *Item {
	it := &Item{Meta: drawMeta(t)}
	for range rapid.IntRange(0, 4).Draw(t, "fields") {
		it.Fields = append(it.Fields, drawField(t))
	}
	return it
}

func drawEntry(t *rapid.T) entry {
	e := entry{vec: drawVector(t, 1), extra: drawExtra(t)}
	if rapid.Bool().Draw(t, "dead") {
		e.dead = time.UnixMilli(rapid.Int64Range(1, maxInt).Draw(t, "time")).UTC()
	} else {
		e.rev = drawHash(t, "rev")
	}
	return e
}

// drawEntries draws the entries of one shard.
func drawEntries(t *rapid.T, n uint8) map[seal.ID]entry {
	entries := map[seal.ID]entry{}
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		id := drawID(t, "item")
		id[0] = n
		entries[id] = drawEntry(t)
	}
	return entries
}

func drawMark(t *rapid.T) mark { return mark{seqGen().Draw(t, "seq"), drawHash(t, "hash")} }

func drawRoot(t *rapid.T) *root {
	r := &root{
		seq: seqGen().Draw(t, "seq"), prev: rapid.OneOf(rapid.Just(seal.Hash{}), hashGen()).Draw(t, "prev"),
		keyset: drawMark(t), vk: seqGen().Draw(t, "vk"), time: drawTime(t, "time"), extra: drawExtra(t),
		seen:   rapid.MapOfN(idGen(), rapid.Uint64Range(0, maxInt), 0, 3).Draw(t, "seen"),
		vaults: rapid.MapOfN(idGen(), rapid.Uint64Range(0, maxInt), 0, 3).Draw(t, "vaults"),
		shards: rapid.MapOfN(rapid.Byte(), hashGen(), 0, 4).Draw(t, "shards"),
	}
	if rapid.Bool().Draw(t, "audit") {
		r.audit = drawMark(t)
	}
	return r
}

func drawSeen(t *rapid.T) seen {
	s := newSeen()
	s.keyset, s.extra = drawMark(t), drawExtra(t)
	for range rapid.IntRange(0, 4).Draw(t, "roots") {
		s.setRoot(drawID(t, "vault"), drawID(t, "device"), drawMark(t))
	}
	for range rapid.IntRange(0, 3).Draw(t, "since") {
		s.since[textGen().Draw(t, "finding")] = drawTime(t, "since")
	}
	paths := rapid.SliceOfN(textGen(), 0, 3)
	if rapid.Bool().Draw(t, "next") {
		s.next = &pendingWrite{vault: drawID(t, "vault"), mark: drawMark(t), files: paths.Draw(t, "files"), gone: paths.Draw(t, "gone")}
	}
	if rapid.Bool().Draw(t, "gone") {
		s.gone = &staleFiles{vault: drawID(t, "vault"), files: paths.Draw(t, "files")}
	}
	return s
}

func drawSlot(t *rapid.T) slot {
	s := slot{kind: recoverySlot, epoch: seqGen().Draw(t, "epoch"), extra: drawExtra(t)}
	salt := drawHash(t, "salt")
	if rapid.Bool().Draw(t, "password") {
		s.kind, s.ds = passwordSlot, rapid.Bool().Draw(t, "ds")
		s.kdf = seal.KDF{
			Memory: rapid.Uint32Min(1).Draw(t, "memory"), Time: rapid.Uint32Min(1).Draw(t, "time"), Lanes: rapid.Uint8Min(1).Draw(t, "lanes"),
			Salt: salt,
		}
	} else {
		s.salt = salt
	}
	copy(s.wrapped.Box[:], rapid.SliceOfN(rapid.Byte(), seal.WrappedKeySize, seal.WrappedKeySize).Draw(t, "box"))
	s.wrapped.Commit = drawHash(t, "commit")
	return s
}

func drawKeyset(t *rapid.T) *keyset {
	k := &keyset{
		epoch: seqGen().Draw(t, "epoch"), created: drawTime(t, "created"), prev: rapid.OneOf(rapid.Just(seal.Hash{}), hashGen()).Draw(t, "prev"),
		roster: maps.Clone(rapid.MapOfN(idGen(), hashGen(), 0, 3).Draw(t, "roster")), extra: drawExtra(t),
	}
	for range rapid.IntRange(0, 3).Draw(t, "slots") {
		k.slots = append(k.slots, drawSlot(t))
	}
	return k
}

func drawCard(t *rapid.T) *card {
	c := &card{
		device: drawID(t, "device"), created: drawTime(t, "created"), enrolledBy: drawID(t, "enrolled_by"),
		state: cardActive, extra: drawExtra(t),
	}
	c.public.Sign = drawHash(t, "sign")
	copy(c.public.KEM[:], rapid.SliceOfN(rapid.Byte(), 64, 64).Draw(t, "kem"))
	return c
}

// newRootKey makes a root key that is wiped at the end of the test.
func newRootKey(t testing.TB) seal.RootKey {
	t.Helper()
	root, err := seal.NewRootKey()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(root.Destroy)
	return root
}
