package seal_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/hkdf"

	"warder/internal/seal"
	"warder/internal/secret"
)

const auditGoldenFile = "audit-v1.json"

// auditKey is an audit key of known bytes: the key file is the way in.
func auditKey(t testing.TB, b []byte) seal.AuditKey {
	t.Helper()
	st, err := seal.OpenAuditState(f2State(fields{"seq": u64(0), "head": make([]byte, 32), "key": hexBytes(b)}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Next.Destroy)
	return st.Next
}

// F2's constructions a second time, from the text of the format.

func f2Step(key []byte) []byte {
	out := make([]byte, 32)
	must(io.ReadFull(hkdf.Expand(sha256.New, key, []byte("warder/audit-step/v1")), out))
	return out
}

func f2State(in fields) hexBytes {
	header := join([]byte("WARDERAK\x00\x01\x00\x28"), in["seq"], in["head"])
	return join(header, in["key"], f1MAC(in["key"], join([]byte("warder/audit-state/v1"), header)))
}

func f2Row(in fields) fields {
	out, key := fields{}, []byte(in["key"])
	for _, n := range []string{"1", "2", "3"} {
		out["mac_"+n] = f1MAC(key, in["record"])
		key = f2Step(key)
		out["key_"+n] = key
	}
	return out
}

func f2Checkpoint(in fields) fields {
	key := f1Derive(in["root_key"], nil, []byte("warder/audit/v1"))
	aad := f1Encode("warder/wrap-audit/v1", in["account"], in["seq"], in["head"], in["break"])
	return fields{"key": key, "aad": aad, "box": referenceWrap(key, in["nonce"], in["audit_key"], aad)}
}

func f2Name(in fields) fields {
	key := f1Derive(in["root_key"], nil, []byte("warder/audit-name/v1"))
	aad := f1Encode("warder/audit-name/v1", in["account"])
	return fields{"key": key, "aad": aad, "box": f1Seal(key, in["nonce"], in["name"], aad)}
}

func auditGolden() []golden {
	root, account, head := hexBytes(count(0x40, 32)), hexBytes(count(0x00, 16)), hexBytes(count(0xa0, 32))
	checkpoint := func(name string, broken byte) golden {
		return golden{Name: name, Function: "checkpoint", In: fields{
			"root_key": root, "account": account, "seq": u64(0x0102030405), "head": head, "break": {broken},
			"audit_key": hexBytes(count(0x60, 32)), "nonce": hexBytes(count(0xf0, 12)),
		}}
	}
	return []golden{
		{Name: "three records", Function: "row", In: fields{"key": hexBytes(count(0x60, 32)), "record": hexBytes(`{"v":1,"seq":7,"prev":"00"`)}},
		{Name: "key file", Function: "state", In: fields{"seq": u64(0x0102030405), "head": head, "key": hexBytes(count(0x60, 32))}},
		checkpoint("checkpoint", 0),
		checkpoint("checkpoint of a break", 1),
		{Name: "name", Function: "name", In: fields{
			"root_key": root, "account": account, "name": hexBytes("a name, padded"), "nonce": hexBytes(count(0xd0, 24)),
		}},
	}
}

func auditConstructions() map[string]construction {
	return map[string]construction{
		"row":        {sealRow, f2Row},
		"state":      {sealState, func(in fields) fields { return fields{"file": f2State(in)} }},
		"checkpoint": {sealCheckpoint, f2Checkpoint},
		"name":       {sealName, f2Name},
	}
}

func sealRow(t *testing.T, in fields) fields {
	out, k := fields{}, auditKey(t, in["key"])
	for _, n := range []string{"1", "2", "3"} {
		mac := must(seal.MACRecord(k, in["record"]))
		k = must(k.Next())
		out["mac_"+n], out["key_"+n] = mac[:], k.Bytes(t)
	}
	sameKey(t, must(auditKey(t, in["key"]).Skip(3)).Bytes(t), k.Bytes(t))
	return out
}

func sealState(t *testing.T, in fields) (out fields) {
	st := seal.AuditState{Seq: in.number("seq"), Head: seal.Hash(in["head"]), Next: auditKey(t, in["key"])}
	opened(t, "key file", st.File(func(file []byte) error {
		out = fields{"file": bytes.Clone(file)}
		return nil
	}))
	again := must(seal.OpenAuditState(bytes.Clone(out["file"])))
	if again.Seq != st.Seq || again.Head != st.Head || !again.Next.Equal(st.Next) {
		t.Errorf("the key file came back as %d %v", again.Seq, again.Head)
	}
	return out
}

func sealCheckpoint(t *testing.T, in fields) (out fields) {
	root, k := seal.FixedRootKey(t, in["root_key"]), auditKey(t, in["audit_key"])
	place := seal.CheckpointPlace{Account: in.id("account"), Seq: in.number("seq"), Head: seal.Hash(in["head"]), Break: in["break"][0] == 1}
	withNonce(in, func() {
		box := must(seal.SealCheckpoint(root, place, k))
		sameKey(t, must(seal.OpenCheckpoint(root, place, box[:])).Bytes(t), in["audit_key"])
		out = fields{"box": box[:], "key": root.Subkey(t, "warder/audit/v1")}
	})
	return out
}

func sealName(t *testing.T, in fields) (out fields) {
	root := seal.FixedRootKey(t, in["root_key"])
	withNonce(in, func() {
		box := must(seal.SealAuditName(root, in.id("account"), in["name"]))
		sameKey(t, must(seal.OpenAuditName(root, in.id("account"), box)), in["name"])
		out = fields{"box": box, "key": root.Subkey(t, "warder/audit-name/v1")}
	})
	return out
}

// TestF2_GoldenVectors pins the bytes of format F2, as TestF1_GoldenVectors those
// of F1.
func TestF2_GoldenVectors(t *testing.T) {
	vectors := auditGolden()
	for i, v := range vectors {
		c := auditConstructions()[v.Function]
		vectors[i].Out = c.reference(v.In)
		for name, got := range c.seal(t, v.In) {
			if want := vectors[i].Out[name]; !bytes.Equal(got, want) {
				t.Errorf("%s: %s is %x, the second implementation says %x", v.Name, name, []byte(got), []byte(want))
			}
		}
	}
	if *update && !t.Failed() {
		data := must(json.MarshalIndent(struct {
			Source   string   `json:"source"`
			Encoding string   `json:"encoding"`
			Vectors  []golden `json:"vectors"`
		}{"warder's own, for format F2 version 1", "as in warder-v1.json", vectors}, "", "  "))
		if err := os.WriteFile("testdata/vectors/"+auditGoldenFile, append(data, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readVectors[golden](t, auditGoldenFile), vectors); diff != "" {
		t.Errorf("the bytes of F2 changed (-file +now):\n%s", diff)
	}
}

// TestF2_LabelsAreApart extends the rule of labels.go to those of audit.go.
func TestF2_LabelsAreApart(t *testing.T) {
	all := labels(t)
	file, err := parser.ParseFile(token.NewFileSet(), "audit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := len(all)
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "label") {
			all = append(all, must(strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)))
		}
		return true
	})
	if len(all) < before+5 {
		t.Fatalf("only %d labels in audit.go", len(all)-before)
	}
	for i, a := range all {
		for k, b := range all {
			if i != k && strings.HasPrefix(b, a) {
				t.Errorf("%q begins with %q", b, a)
			}
		}
	}
}

func TestS2_09_EveryFieldOfACheckpointIsBound(t *testing.T) {
	root, k := seal.FixedRootKey(t, count(1, 32)), auditKey(t, count(3, 32))
	place := seal.CheckpointPlace{Account: id(1), Seq: 5, Head: seal.Hash(count(7, 32))}
	box := must(seal.SealCheckpoint(root, place, k))
	open := func(p seal.CheckpointPlace) error {
		_, err := seal.OpenCheckpoint(root, p, box[:])
		return err
	}
	bound(t, "checkpoint", place, open)
	eachBit(box[:], func(bit int, changed []byte) {
		_, err := seal.OpenCheckpoint(root, place, changed)
		refused(t, fmt.Sprintf("checkpoint with bit %d turned", bit), err)
	})
	_, err := seal.OpenCheckpoint(seal.FixedRootKey(t, count(2, 32)), place, box[:])
	refused(t, "checkpoint of another root key", err)

	name := must(seal.SealAuditName(root, id(1), []byte("name")))
	_, err = seal.OpenAuditName(root, id(2), name)
	refused(t, "name of another account", err)
	_, err = seal.OpenAuditName(root, id(1), box[:])
	refused(t, "checkpoint as a name", err)
	eachBit(name, func(bit int, changed []byte) {
		_, err := seal.OpenAuditName(root, id(1), changed)
		refused(t, fmt.Sprintf("name with bit %d turned", bit), err)
	})

	// The same bytes as a root key's and as an audit key: only labels keep the
	// vault's wraps and the log's apart.
	vault := must(seal.WrapVaultKey(root, seal.FixedVaultKey(t, count(3, 32)), seal.VaultPlace{Account: id(1)}))
	_, err = seal.OpenCheckpoint(root, place, vault[:])
	refused(t, "vault key as a checkpoint", err)
	_, err = seal.OpenVaultKey(root, box[:], seal.VaultPlace{Account: id(1)})
	refused(t, "checkpoint as a vault key", err)
}

func TestAuditStateFindsDamage(t *testing.T) {
	file := f2State(fields{"seq": u64(9), "head": count(5, 32), "key": count(3, 32)})
	_, err := seal.OpenAuditState(bytes.Clone(file))
	opened(t, "key file", err)
	eachBit(file, func(bit int, changed []byte) {
		_, err := seal.OpenAuditState(changed)
		if versions := bit/8 == 8 || bit/8 == 9; versions {
			if err == nil || errors.Is(err, seal.ErrOpen) || !strings.Contains(err.Error(), "format") {
				t.Errorf("another version: %v", err)
			}
			return
		}
		refused(t, fmt.Sprintf("key file with bit %d turned", bit), err)
	})
	for n := range len(file) {
		_, err := seal.OpenAuditState(bytes.Clone(file[:n]))
		refused(t, fmt.Sprintf("key file cut to %d bytes", n), err)
	}
	_, err = seal.OpenAuditState(join(file, []byte{0}))
	refused(t, "key file with a byte behind", err)

	read := bytes.Clone(file)
	must(seal.OpenAuditState(read))
	if !bytes.Equal(read, make([]byte, len(read))) {
		t.Error("what was read stays in memory")
	}
	var lent []byte
	st := seal.AuditState{Next: auditKey(t, count(3, 32))}
	opened(t, "key file", st.File(func(b []byte) error { lent = b; return nil }))
	if !bytes.Equal(lent, make([]byte, len(lent))) {
		t.Error("what was written stays in memory")
	}
	failed := errors.New("no room")
	if err := st.File(func([]byte) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a write that failed: %v", err)
	}
}

func TestCheckRecords(t *testing.T) {
	k := auditKey(t, count(3, 32))
	var records []seal.MACedRecord
	keys := [][]byte{k.Bytes(t)}
	for i, at := 0, k; i < 5; i++ {
		text := fmt.Appendf(nil, "record %d", i)
		records = append(records, seal.MACedRecord{Record: text, MAC: must(seal.MACRecord(at, text))})
		at = must(at.Next())
		keys = append(keys, at.Bytes(t))
	}
	for wrong := range 6 {
		some := append([]seal.MACedRecord(nil), records...)
		if wrong < 5 {
			some[wrong].MAC[31] ^= 1
		}
		good, next, err := k.CheckRecords(some)
		if err != nil || good != wrong {
			t.Fatalf("record %d is wrong: %d right, %v", wrong, good, err)
		}
		sameKey(t, next.Bytes(t), keys[wrong])
	}
	some := []seal.MACedRecord{records[1], records[0]}
	if good, _, _ := k.CheckRecords(some); good != 0 {
		t.Errorf("exchanged records: %d right", good)
	}
	if good, next, err := k.CheckRecords(nil); good != 0 || err != nil || !next.Equal(k) {
		t.Errorf("no records: %d, %v", good, err)
	}
}

func TestAuditKeysThatAreGone(t *testing.T) {
	root, k := must(seal.NewRootKey()), must(seal.NewAuditKey())
	defer root.Destroy()
	other := must(seal.NewAuditKey())
	if k.Equal(other) || !k.Equal(k) || k.Equal(seal.AuditKey{}) || (seal.AuditKey{}).Equal(seal.AuditKey{}) {
		t.Error("equality of keys")
	}
	uses := func(k seal.AuditKey) map[string]error {
		errs := map[string]error{}
		_, errs["Next"] = k.Next()
		_, errs["MACRecord"] = seal.MACRecord(k, nil)
		_, _, errs["CheckRecords"] = k.CheckRecords(nil)
		_, errs["SealCheckpoint"] = seal.SealCheckpoint(root, seal.CheckpointPlace{}, k)
		errs["File"] = seal.AuditState{Next: k}.File(func([]byte) error { return nil })
		return errs
	}
	for name, err := range uses(seal.AuditKey{}) {
		if err == nil || errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s without a key: %v", name, err)
		}
	}
	k.Destroy()
	for name, err := range uses(k) {
		if !errors.Is(err, secret.ErrDestroyed) {
			t.Errorf("%s with a destroyed key: %v", name, err)
		}
	}
	if k.Equal(k) {
		t.Error("a destroyed key equals something")
	}
	if got := fmt.Sprintf("%v %x %+v", other, other, seal.AuditState{Next: other}); strings.Contains(got, fmt.Sprintf("%x", other.Bytes(t)[:4])) {
		t.Errorf("printed: %s", got)
	}
}

func FuzzOpenAuditState(f *testing.F) {
	file := f2State(fields{"seq": u64(9), "head": count(5, 32), "key": count(3, 32)})
	f.Add([]byte(file))
	f.Fuzz(func(t *testing.T, b []byte) {
		kept := bytes.Clone(b)
		st, err := seal.OpenAuditState(b)
		if err != nil {
			return
		}
		defer st.Next.Destroy()
		opened(t, "writing again", st.File(func(again []byte) error {
			if !bytes.Equal(again, kept) {
				t.Errorf("%x is written again as %x", kept, again)
			}
			return nil
		}))
	})
}
