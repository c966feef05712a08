package vault

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"time"

	"warder/internal/seal"
	"warder/internal/secret"
	"warder/internal/state"
)

// card is a device's public keys, vouched for by the account root key.
type card struct {
	device     seal.ID
	created    time.Time
	enrolledBy seal.ID
	public     seal.DevicePublic
	state      string
	extra      []rawMember

	hash seal.Hash // of the file
}

const cardActive = "active"

const pairHeaderLen = 16 + 16 // account and device

func pairHeader(account, device seal.ID) []byte {
	return append(slices.Clone(account[:]), device[:]...)
}

// encodeCard makes the file and fills in the hash.
func encodeCard(account seal.ID, root seal.RootKey, c *card) ([]byte, error) {
	text, err := encode(c.put)
	if err != nil {
		return nil, err
	}
	file := append(frame(magicCard, pairHeader(account, c.device)), text...)
	mac, err := seal.MACCard(root, file)
	if err != nil {
		return nil, err
	}
	file = append(file, mac[:]...)
	c.hash = seal.HashOf(file)
	return file, nil
}

func (c *card) put(e *encoder) {
	e.object(c.extra,
		timeMember("created", c.created),
		idMember("enrolled_by", c.enrolledBy),
		bytesMember("kem", c.public.KEM[:]),
		bytesMember("sign", c.public.Sign[:]),
		textMember("state", c.state),
	)
}

func openCard(account, device seal.ID, root seal.RootKey, file []byte) (*card, error) {
	f, err := unframe(magicCard, "card of device "+device.String(), pairHeaderLen, file)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(f.header, pairHeader(account, device)) || len(f.body) < macLen {
		return nil, seal.ErrOpen
	}
	at := len(file) - macLen
	if err := seal.CheckCard(root, file[:at], file[at:]); err != nil {
		return nil, err
	}
	c, err := decodeCard(f.body[:len(f.body)-macLen])
	if err == nil && c.state != cardActive {
		err = seal.ErrOpen
	}
	c.device, c.hash = device, seal.HashOf(file)
	return c, err
}

func decodeCard(text []byte) (*card, error) {
	c := &card{}
	err := decode(text, func(d *decoder) {
		d.object(func(key string) {
			switch key {
			case "created":
				c.created = readTime(d)
			case "enrolled_by":
				c.enrolledBy = readID(d)
			case "kem":
				readFill(d, c.public.KEM[:])
			case "sign":
				readFill(d, c.public.Sign[:])
			case "state":
				c.state = d.str()
			default:
				d.unknown(&c.extra, key)
			}
		})
	})
	return c, err
}

// device is this machine's identity in the account. Without keys it is not enrolled yet and can only read.
type device struct {
	id   seal.ID
	keys seal.DeviceKeys
}

func (d device) enrolled() bool { return !d.id.IsZero() }

// Files of the local device folder (F1.7).
const (
	secretFile   = "secret"
	keysFile     = "keys"
	seenFile     = "seen"
	creatingFile = "creating"
)

// readDeviceSecret reads the second secret, which lies outside the synced folder.
func readDeviceSecret(local tree) (ds secret.Value, err error) {
	err = local.in("device", func(d folder) error {
		text, err := d.Read(secretFile, limitSmall)
		if err != nil {
			return err
		}
		v, err := secret.New(text)
		if err != nil {
			return err
		}
		defer v.Destroy()
		ds, err = parseCode(v, deviceSecretLen)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return ds, ErrNoDeviceSecret
	}
	return ds, err
}

func writeDeviceSecret(local tree, ds secret.Value) error {
	text, err := codeText(ds)
	if err != nil {
		return err
	}
	defer text.Destroy()
	return local.make("device", func(d folder) error {
		line := make([]byte, 0, text.Len()+1)
		if err := text.Use(func(b []byte) { line = append(append(line, b...), '\n') }); err != nil {
			return err
		}
		defer secret.Wipe(line)
		return d.WriteNew(secretFile, line)
	})
}

// readDeviceID reads whose keys this machine holds, without opening them; zero if it has none or they are damaged.
func readDeviceID(local tree) (id seal.ID, err error) {
	err = local.in("device", func(d folder) error {
		file, err := d.Read(keysFile, limitLocal)
		if err != nil {
			return err
		}
		f, err := unframe(magicDeviceKeys, "device keys", pairHeaderLen, file)
		if err == nil {
			id = seal.ID(f.header[16:])
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, seal.ErrOpen) || errors.Is(err, state.ErrTooLarge) {
		return seal.ID{}, nil
	}
	return id, err
}

// readDevice opens this machine's own keys; a machine without them is not enrolled.
func readDevice(local tree, account seal.ID, root seal.RootKey, ds secret.Value) (dev device, err error) {
	err = local.in("device", func(d folder) error {
		file, err := d.Read(keysFile, limitLocal)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := unframe(magicDeviceKeys, "device keys", pairHeaderLen, file)
		if err != nil {
			return err
		}
		id := seal.ID(f.header[16:])
		if seal.ID(f.header[:16]) != account {
			return seal.ErrOpen
		}
		keys, err := seal.OpenDeviceKeys(root, ds, account, id, f.body)
		dev = device{id, keys}
		return err
	})
	return dev, err
}

func writeDevice(local tree, account seal.ID, root seal.RootKey, ds secret.Value, dev device) error {
	box, err := seal.SealDeviceKeys(root, ds, account, dev.id, dev.keys)
	if err != nil {
		return err
	}
	file := append(frame(magicDeviceKeys, pairHeader(account, dev.id)), box...)
	return local.make("device", func(d folder) error { return d.Replace(keysFile, file) })
}

func newDevice() (device, error) {
	keys, err := seal.NewDeviceKeys()
	return device{seal.NewID(), keys}, err
}
