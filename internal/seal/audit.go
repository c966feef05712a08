package seal

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"warder/internal/secret"
)

// Labels of the audit log, format F2.
const (
	labelAudit      = "warder/audit/v1"       // the subkey of the root key that wraps checkpoints
	labelWrapAudit  = "warder/wrap-audit/v1"  // bound to a checkpoint's wrap
	labelAuditStep  = "warder/audit-step/v1"  // from the key of one record to that of the next
	labelAuditState = "warder/audit-state/v1" // authenticates the key file
	labelAuditName  = "warder/audit-name/v1"  // the subkey of the root key that seals names, and the data bound to one
)

// AuditKey authenticates one record of the audit log. The next record's key is
// made from it and the step can't be taken back, so whoever finds today's key
// can't change yesterday's records.
type AuditKey struct{ key }

// NewAuditKey returns a fresh random key, for the first record of a log.
func NewAuditKey() (AuditKey, error) {
	k, err := newKey()
	return AuditKey{k}, err
}

// Next returns the key of the following record. k stays as it is: the past is
// safe from an intruder only once the caller has destroyed k.
func (k AuditKey) Next() (AuditKey, error) { return k.Skip(1) }

// Skip returns the key of the record that is n records further on.
func (k AuditKey) Skip(n uint64) (next AuditKey, err error) {
	err = k.evolve(func(at *[keySize]byte) {
		for range n {
			auditStep(at)
		}
	}, &next)
	return next, err
}

// Equal reports whether both keys are the same and there.
func (k AuditKey) Equal(o AuditKey) bool {
	return !k.IsZero() && !o.IsZero() && k.bytes.Equal(o.bytes)
}

// MACRecord authenticates the bytes of a record, as far as the place of the MAC.
// It has no label: a record is a JSON object, so its first byte is "{" and what
// the same key authenticates for other ends begins with a label instead.
func MACRecord(k AuditKey, record []byte) (mac [sha256.Size]byte, err error) {
	err = k.use(func(b []byte) error {
		mac = authenticate(b, record)
		return nil
	})
	if err != nil {
		return mac, fmt.Errorf("authenticating an audit record: %w", err)
	}
	return mac, nil
}

// MACedRecord is a record and the MAC that stands in it.
type MACedRecord struct {
	Record []byte // as far as the place of the MAC
	MAC    [sha256.Size]byte
}

// CheckRecords checks records in a row, k being the key of the first. It
// returns how many are right up to the first that is not, and the key of the
// record behind those: of the wrong one, or of the next to come.
func (k AuditKey) CheckRecords(records []MACedRecord) (good int, next AuditKey, err error) {
	err = k.evolve(func(at *[keySize]byte) {
		for _, r := range records {
			want := authenticate(at[:], r.Record)
			if !hmac.Equal(want[:], r.MAC[:]) {
				return
			}
			auditStep(at)
			good++
		}
	}, &next)
	return good, next, err
}

// evolve lets f change a copy of the key and puts the result into next.
func (k AuditKey) evolve(f func(at *[keySize]byte), next *AuditKey) error {
	return k.use(func(b []byte) error {
		at := [keySize]byte(b)
		f(&at)
		v, err := secret.New(at[:]) // wipes at
		if err != nil {
			return fmt.Errorf("keeping an audit key: %w", err)
		}
		*next = AuditKey{key{v}}
		return nil
	})
}

// auditStep is HKDF-Expand (RFC 5869) to 32 bytes, which is one HMAC over the
// info and the number of the block.
func auditStep(at *[keySize]byte) {
	*at = authenticate(at[:], []byte(labelAuditStep), []byte{1})
}

// AuditState is what the log's writer must not forget: the last record's number
// and hash, and the key of the record to come. The last record's own key is not
// in it, so nobody who reads the state can change that record.
type AuditState struct {
	Seq  uint64 // of the last record; 0 in an empty log
	Head Hash   // of the last record's line; zeros in an empty log
	Next AuditKey
}

const (
	auditStateMagic   = "WARDERAK"
	auditStateVersion = 1
	auditStateHeader  = 8 + sha256.Size // seq, head
	auditStatePrefix  = len(auditStateMagic) + 2 + 2
	auditStateSize    = auditStatePrefix + auditStateHeader + keySize + sha256.Size
)

// File lends write the bytes of the key file and wipes them after. The file
// holds the key in the clear: a locked daemon must be able to go on recording.
func (s AuditState) File(write func(file []byte) error) error {
	return s.Next.use(func(b []byte) error {
		file := make([]byte, 0, auditStateSize)
		defer func() { secret.Wipe(file[:cap(file)]) }()
		file = append(file, auditStateMagic...)
		file = binary.BigEndian.AppendUint16(file, auditStateVersion)
		file = binary.BigEndian.AppendUint16(file, auditStateHeader)
		file = binary.BigEndian.AppendUint64(file, s.Seq)
		file = append(file, s.Head[:]...)
		mac := authenticate(b, []byte(labelAuditState), file)
		file = append(file, b...)
		file = append(file, mac[:]...)
		return write(file)
	})
}

// OpenAuditState reads what File made and wipes it. A changed file is ErrOpen;
// one of another version is an error that names it, since a newer warder's file
// is no reason to doubt the log. The MAC in it is made with
// the key beside it: it finds damage, not an intruder.
func OpenAuditState(file []byte) (AuditState, error) {
	defer secret.Wipe(file)
	if len(file) < auditStatePrefix || !bytes.HasPrefix(file, []byte(auditStateMagic)) {
		return AuditState{}, ErrOpen
	}
	if v := binary.BigEndian.Uint16(file[len(auditStateMagic):]); v != auditStateVersion {
		return AuditState{}, fmt.Errorf("the audit log's key file has format %d, this warder reads %d", v, auditStateVersion)
	}
	if len(file) != auditStateSize || binary.BigEndian.Uint16(file[auditStatePrefix-2:]) != auditStateHeader {
		return AuditState{}, ErrOpen
	}
	header, body := file[auditStatePrefix:auditStatePrefix+auditStateHeader], file[auditStatePrefix+auditStateHeader:]
	want := authenticate(body[:keySize], []byte(labelAuditState), file[:auditStatePrefix+auditStateHeader])
	if !hmac.Equal(want[:], body[keySize:]) {
		return AuditState{}, ErrOpen
	}
	v, err := secret.New(body[:keySize])
	if err != nil {
		return AuditState{}, fmt.Errorf("keeping an audit key: %w", err)
	}
	return AuditState{Seq: binary.BigEndian.Uint64(header), Head: Hash(header[8:]), Next: AuditKey{key{v}}}, nil
}

// CheckpointPlace says which state of which account's log a checkpoint confirms.
type CheckpointPlace struct {
	Account ID
	Seq     uint64 // of the last record
	Head    Hash   // of the last record's line
	// Break says that this last record declares a break, so that only who has
	// the root key can declare one.
	Break bool
}

func (p CheckpointPlace) aad() ([]byte, error) {
	kind := byte(0)
	if p.Break {
		kind = 1
	}
	return encode(labelWrapAudit, p.Account[:], u64(p.Seq), p.Head[:], []byte{kind})
}

// SealCheckpoint wraps the key of the record to come under the root key: nonce
// 12, ciphertext 32, tag 16.
func SealCheckpoint(root RootKey, p CheckpointPlace, next AuditKey) ([WrappedKeySize]byte, error) {
	aad, err := p.aad()
	if err != nil {
		return [WrappedKeySize]byte{}, err
	}
	box, err := wrapKey(root.key, labelAudit, next.key, aad)
	if err != nil {
		return box, fmt.Errorf("sealing an audit checkpoint: %w", err)
	}
	return box, nil
}

// OpenCheckpoint opens what SealCheckpoint made for the same place, else
// ErrOpen.
func OpenCheckpoint(root RootKey, p CheckpointPlace, box []byte) (AuditKey, error) {
	aad, err := p.aad()
	if err != nil {
		return AuditKey{}, err
	}
	k, err := openKey(root.key, labelAudit, box, aad)
	return AuditKey{k}, err
}

// SealAuditName seals the name of an item that agents must not see, for a record
// of the log: nonce 24, ciphertext, tag 16. The caller pads it.
func SealAuditName(root RootKey, account ID, name []byte) ([]byte, error) {
	aad, err := encode(labelAuditName, account[:])
	if err != nil {
		return nil, err
	}
	box, err := sealUnder(root.key, labelAuditName, name, aad)
	if err != nil {
		return nil, fmt.Errorf("sealing a name: %w", err)
	}
	return box, nil
}

// OpenAuditName opens what SealAuditName made for the same account, else
// ErrOpen.
func OpenAuditName(root RootKey, account ID, box []byte) ([]byte, error) {
	aad, err := encode(labelAuditName, account[:])
	if err != nil {
		return nil, err
	}
	return openUnder(root.key, labelAuditName, box, aad)
}
