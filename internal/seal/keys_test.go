package seal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

func TestFreshKeysAndNoncesDiffer(t *testing.T) {
	item := seal.ItemPlace{Vault: id(2), Item: id(3), Epoch: 3}
	vk := must(seal.NewVaultKey())
	seen := map[string]string{string(make([]byte, 32)): "zeros"}
	fresh := func(name string, b []byte) {
		if other, ok := seen[string(b)]; ok {
			t.Errorf("%s is the same as %s", name, other)
		}
		seen[string(b)] = name
	}
	for range 50 {
		fresh("root key", must(seal.NewRootKey()).Bytes(t))
		fresh("vault key", must(seal.NewVaultKey()).Bytes(t))
		keys := must(seal.NewDeviceKeys())
		fresh("signing key", keys.Bytes(t)[:32])
		fresh("hand-over key", keys.Bytes(t)[32:])
		k, box, err := seal.NewItemKey(vk, item)
		if err != nil {
			t.Fatal(err)
		}
		fresh("item key", k.Bytes(t))
		fresh("nonce of a key", box[:12])
		fresh("nonce of an item", must(seal.SealItem(k, item, nil, nil))[:24])
		fresh("nonce of a manifest", must(seal.SealManifest(vk, seal.ManifestPlace{}, nil))[:24])
	}
}

// useAll calls every function that takes a key.
func useAll(t *testing.T, root seal.RootKey, vk seal.VaultKey, ik seal.ItemKey, keys seal.DeviceKeys) map[string]error {
	password, code := value(t, []byte("a password")), value(t, count(7, 20))
	passwordSlot, recoverySlot := seal.PasswordSlot{KDF: seal.FloorKDF()}, seal.RecoverySlot{}
	box, content, mac, none := make([]byte, seal.WrappedKeySize), make([]byte, 104), make([]byte, 32), secret.Value{}
	errs := map[string]error{}
	_, errs["WrapRootForPassword"] = seal.WrapRootForPassword(root, password, none, passwordSlot)
	_, errs["WrapRootForRecovery"] = seal.WrapRootForRecovery(root, code, recoverySlot)
	_, errs["WrapVaultKey root"] = seal.WrapVaultKey(root, must(seal.NewVaultKey()), seal.VaultPlace{})
	_, errs["WrapVaultKey vault"] = seal.WrapVaultKey(must(seal.NewRootKey()), vk, seal.VaultPlace{})
	_, errs["OpenVaultKey"] = seal.OpenVaultKey(root, box, seal.VaultPlace{})
	_, _, errs["NewItemKey"] = seal.NewItemKey(vk, seal.ItemPlace{})
	_, errs["OpenItemKey"] = seal.OpenItemKey(vk, box, seal.ItemPlace{})
	_, errs["SealItem"] = seal.SealItem(ik, seal.ItemPlace{}, nil, nil)
	_, errs["OpenItem"] = seal.OpenItem(ik, seal.ItemPlace{}, nil, content)
	_, errs["SealManifest"] = seal.SealManifest(vk, seal.ManifestPlace{}, nil)
	_, errs["OpenManifest"] = seal.OpenManifest(vk, seal.ManifestPlace{}, content)
	_, errs["SealSeen"] = seal.SealSeen(root, id(1), id(4), nil)
	_, errs["OpenSeen"] = seal.OpenSeen(root, id(1), id(4), content)
	_, errs["SealDeviceKeys root"] = seal.SealDeviceKeys(root, none, id(1), id(4), must(seal.NewDeviceKeys()))
	_, errs["SealDeviceKeys keys"] = seal.SealDeviceKeys(must(seal.NewRootKey()), none, id(1), id(4), keys)
	_, errs["OpenDeviceKeys"] = seal.OpenDeviceKeys(root, none, id(1), id(4), content)
	_, errs["SignManifest"] = keys.SignManifest(nil)
	_, errs["MACKeyset"] = seal.MACKeyset(root, nil)
	errs["CheckKeyset"] = seal.CheckKeyset(root, nil, mac)
	_, errs["MACCard"] = seal.MACCard(root, nil)
	errs["CheckCard"] = seal.CheckCard(root, nil, mac)
	_, errs["Fingerprint"] = seal.Fingerprint(vk, password)
	return errs
}

// A destroyed or missing key is a fault of this process. Were it reported as
// ErrOpen, a daemon that locks while it reads would accuse the store.
func TestKeysThatAreGone(t *testing.T) {
	for name, err := range useAll(t, seal.RootKey{}, seal.VaultKey{}, seal.ItemKey{}, seal.DeviceKeys{}) {
		if err == nil || errors.Is(err, seal.ErrOpen) {
			t.Errorf("%s without a key: %v", name, err)
		}
	}
	root, vk, keys := must(seal.NewRootKey()), must(seal.NewVaultKey()), must(seal.NewDeviceKeys())
	ik, _, err := seal.NewItemKey(vk, seal.ItemPlace{})
	if err != nil {
		t.Fatal(err)
	}
	root.Destroy()
	vk.Destroy()
	ik.Destroy()
	keys.Destroy()
	for name, err := range useAll(t, root, vk, ik, keys) {
		if !errors.Is(err, secret.ErrDestroyed) {
			t.Errorf("%s with a destroyed key: %v", name, err)
		}
	}
	if root.IsZero() || !(seal.RootKey{}).IsZero() {
		t.Error("a destroyed key is not one that was never set")
	}
	seal.RootKey{}.Destroy() // nothing to do, and no panic
}

func TestDestroyedSecretsAreNotCalledTampering(t *testing.T) {
	root := must(seal.NewRootKey())
	gone := value(t, count(9, 32))
	gone.Destroy()
	slot := seal.PasswordSlot{KDF: seal.FloorKDF(), DeviceSecret: true}
	_, err := seal.OpenRootWithPassword(seal.WrappedRoot{}, value(t, []byte("a password")), gone, slot)
	if !errors.Is(err, secret.ErrDestroyed) {
		t.Errorf("destroyed device secret: %v", err)
	}
	// It must not become "no device secret" either.
	if _, err := seal.SealDeviceKeys(root, gone, id(1), id(4), must(seal.NewDeviceKeys())); !errors.Is(err, secret.ErrDestroyed) {
		t.Errorf("sealed under a destroyed device secret: %v", err)
	}
}

func TestNothingPrintsAKey(t *testing.T) {
	b := must(seal.NewDeviceKeys()).Bytes(t) // random: no token in the repository, no chance match
	root, vk, ik := seal.FixedRootKey(t, b[:32]), seal.FixedVaultKey(t, b[:32]), seal.FixedItemKey(t, b[:32])
	keys := seal.FixedDeviceKeys(t, b)
	for _, k := range []any{root, vk, ik, keys} {
		for _, verb := range "vsqxXdtbocUeEfFgG" {
			for _, flags := range []string{"", "+", "#", " ", "0", "-", "+#", "9.3"} {
				if got := fmt.Sprintf("%"+flags+string(verb), k); got != secret.Placeholder {
					t.Errorf("%%%s%c of %T prints %q", flags, verb, k, got)
				}
			}
		}
	}
	type holder struct {
		Root   seal.RootKey
		hidden seal.DeviceKeys
		Keys   []seal.VaultKey
		Map    map[string]seal.ItemKey
		Any    any
	}
	h := holder{root, keys, []seal.VaultKey{vk}, map[string]seal.ItemKey{"k": ik}, keys}
	for _, k := range []any{root, vk, ik, keys, &root, &vk, &ik, &keys, h, &h, []any{h}} {
		for _, verb := range "vsqxXdtbocUeEfFgGpTw" {
			for _, flags := range []string{"", "+", "#"} {
				noTrace(t, fmt.Sprintf("%%%s%c of %T", flags, verb, k), fmt.Sprintf("%"+flags+string(verb), k), b)
			}
		}
		noTrace(t, "Errorf", fmt.Errorf("using %v", k).Error(), b)
		for name, out := range marshalled(k) {
			noTrace(t, fmt.Sprintf("%s of %T", name, k), out, b)
		}
	}
}

// marshalled is k as every encoder of the standard library shows it; an encoder
// that refuses shows its error.
func marshalled(k any) map[string]string {
	out := map[string]string{}
	encoded := func(name string, data []byte, err error) { out[name] = fmt.Sprint(string(data), err) }
	data, err := json.Marshal(k)
	encoded("json", data, err)
	data, err = xml.Marshal(k)
	encoded("xml", data, err)
	var buf bytes.Buffer
	err = gob.NewEncoder(&buf).Encode(k)
	encoded("gob", buf.Bytes(), err)
	for name, h := range map[string]slog.Handler{"slog text": slog.NewTextHandler(&buf, nil), "slog json": slog.NewJSONHandler(&buf, nil)} {
		buf.Reset()
		slog.New(h).Info("using", "key", k, slog.Group("group", "key", k))
		encoded(name, buf.Bytes(), nil)
	}
	return out
}

// noTrace fails the test if out shows a part of the key.
func noTrace(t *testing.T, what, out string, key []byte) {
	t.Helper()
	if form, found := trace(out, key); found {
		t.Fatalf("%s shows a key as %q: %q", what, form, out)
	}
}

// trace looks for four of the key's bytes in a row, in any usual form.
func trace(out string, key []byte) (form string, found bool) {
	for i := range len(key) - 4 {
		part := key[i : i+4]
		list := strings.Trim(fmt.Sprint(part), "[]")
		for _, form := range []string{
			string(part), hex.EncodeToString(part), strings.ToUpper(hex.EncodeToString(part)), list, strings.ReplaceAll(list, " ", ","),
			base64.RawStdEncoding.EncodeToString(part)[:5], strings.Trim(fmt.Sprintf("%#v", part), "[]byte{}"),
		} {
			if strings.Contains(out, form) {
				return form, true
			}
		}
	}
	return "", false
}

func TestTraceFindsAPrintedKey(t *testing.T) {
	b := must(seal.NewRootKey()).Bytes(t)
	text := must(json.Marshal(b))
	for _, out := range []string{
		string(b), fmt.Sprintf("%x", b), fmt.Sprintf("%X", b), fmt.Sprint(b), fmt.Sprintf("%#v", b), string(text),
		strings.ReplaceAll(fmt.Sprint(b), " ", ","), base64.StdEncoding.EncodeToString(b),
	} {
		if _, found := trace(out, b); !found {
			t.Errorf("a printed key is not found in %q", out)
		}
	}
}

func TestOneKeyServesManyAtOnce(t *testing.T) {
	vk, item := must(seal.NewVaultKey()), seal.ItemPlace{Vault: id(2), Item: id(3)}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			plain := count(byte(i), 100)
			for range 20 {
				k, box, err := seal.NewItemKey(vk, item)
				if err != nil {
					t.Error(err)
					return
				}
				k2 := must(seal.OpenItemKey(vk, box[:], item))
				got := must(seal.OpenItem(k2, item, nil, must(seal.SealItem(k, item, nil, plain))))
				sameKey(t, reveal(t, got), plain)
				for _, d := range []interface{ Destroy() }{k, k2, got} {
					d.Destroy()
				}
			}
		})
	}
	all.Wait()
}

func TestOpenedContentIsLockedAndComplete(t *testing.T) {
	item := seal.ItemPlace{Vault: id(2), Item: id(3)}
	k := seal.FixedItemKey(t, count(1, 32))
	for _, size := range []int{0, 1, 15, 16, 17, 63, 64, 65, 1024, 4096, 65536, 1 << 20, secret.MaxSize} {
		plain := bytes.Repeat([]byte{0x5a}, size)
		header := bytes.Repeat([]byte{1}, min(size, 65535))
		box := must(seal.SealItem(k, item, header, plain))
		if len(box) != size+40 {
			t.Errorf("%d bytes are sealed to %d", size, len(box))
		}
		v, err := seal.OpenItem(k, item, header, box)
		opened(t, fmt.Sprintf("item of %d bytes", size), err)
		if got := reveal(t, v); !bytes.Equal(got, plain) {
			t.Errorf("item of %d bytes came back as %d", size, len(got))
		}
		v.Destroy()
	}
	if _, err := seal.SealItem(k, item, make([]byte, 65536), nil); err == nil || errors.Is(err, seal.ErrOpen) {
		t.Errorf("header of 65536 bytes: %v", err)
	}
	_, err := seal.OpenItem(k, item, make([]byte, 65536), make([]byte, 100))
	refused(t, "header of 65536 bytes", err)
	if _, err := seal.SealItem(k, item, nil, make([]byte, secret.MaxSize+1)); err == nil || errors.Is(err, seal.ErrOpen) {
		t.Errorf("content over the limit: %v", err)
	}
	_, err = seal.OpenItem(k, item, nil, make([]byte, secret.MaxSize+41))
	refused(t, "box over the limit", err)
}
