package seal_test

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"warder/internal/seal"
	"warder/internal/secret"
)

func TestS2_08_Costs(t *testing.T) {
	standard, floor := seal.StandardKDF(), seal.FloorKDF()
	if standard.Memory != 131072 || standard.Time != 3 || standard.Lanes != 4 {
		t.Errorf("standard cost is %d KiB, %d, %d", standard.Memory, standard.Time, standard.Lanes)
	}
	if floor.Memory != 19456 || floor.Time != 2 || floor.Lanes != 1 {
		t.Errorf("lowest cost is %d KiB, %d, %d", floor.Memory, floor.Time, floor.Lanes)
	}
	salts := map[[32]byte]bool{{}: true}
	for _, k := range []seal.KDF{standard, floor, seal.StandardKDF(), seal.FloorKDF()} {
		if salts[k.Salt] {
			t.Error("a salt came twice or is zero")
		}
		salts[k.Salt] = true
		if err := k.Check(); err != nil {
			t.Error(err)
		}
	}
	a, b := seal.NewRecoverySlot(id(1), 2), seal.NewRecoverySlot(id(1), 2)
	if a.Salt == b.Salt || a.Salt == [32]byte{} || a.Account != id(1) || a.Epoch != 2 {
		t.Errorf("recovery slots %v and %v", a, b)
	}
}

// outOfBounds are costs of which a single one, if it were tried, would panic,
// take all memory or run for hours: that the tests below end is the proof that
// no work is done.
func outOfBounds() map[string]seal.KDF {
	return map[string]seal.KDF{
		"memory below the floor":     {Memory: 19455, Time: 2, Lanes: 1},
		"no memory":                  {Memory: 0, Time: 2, Lanes: 1},
		"memory above the ceiling":   {Memory: 1<<20 + 1, Time: 2, Lanes: 1},
		"memory far above":           {Memory: math.MaxUint32, Time: 2, Lanes: 1},
		"passes below the floor":     {Memory: 19456, Time: 1, Lanes: 1},
		"no passes":                  {Memory: 19456, Time: 0, Lanes: 1},
		"passes above the ceiling":   {Memory: 19456, Time: 11, Lanes: 1},
		"passes far above":           {Memory: 1 << 20, Time: math.MaxUint32, Lanes: 1},
		"no lanes":                   {Memory: 19456, Time: 2, Lanes: 0},
		"lanes above the ceiling":    {Memory: 19456, Time: 2, Lanes: 17},
		"lanes far above":            {Memory: math.MaxUint32, Time: 2, Lanes: math.MaxUint8},
		"nothing set":                {},
		"everything at its greatest": {Memory: math.MaxUint32, Time: math.MaxUint32, Lanes: math.MaxUint8},
	}
}

func TestS2_08_CostBounds(t *testing.T) {
	for _, k := range []seal.KDF{
		{Memory: 19456, Time: 2, Lanes: 1},
		{Memory: 1 << 20, Time: 2, Lanes: 1},
		{Memory: 19456, Time: 10, Lanes: 1},
		{Memory: 19456, Time: 2, Lanes: 16},
		{Memory: 1 << 20, Time: 10, Lanes: 16},
	} {
		if err := k.Check(); err != nil {
			t.Errorf("%d KiB, %d, %d at a bound: %v", k.Memory, k.Time, k.Lanes, err)
		}
	}
	root, password := seal.FixedRootKey(t, count(1, 32)), value(t, []byte("a password"))
	for name, k := range outOfBounds() {
		if err := k.Check(); err == nil || strings.Contains(err.Error(), "cannot open") {
			t.Errorf("%s: check says %v", name, err)
		}
		slot := seal.PasswordSlot{Account: id(1), Epoch: 2, KDF: k}
		_, err := seal.OpenRootWithPassword(seal.WrappedRoot{}, password, secret.Value{}, slot)
		refused(t, name, err)
		if _, err := seal.WrapRootForPassword(root, password, secret.Value{}, slot); err == nil {
			t.Errorf("%s: wrapped", name)
		}
	}
}

func TestS2_08_PasswordsInEveryForm(t *testing.T) {
	root, ds := seal.FixedRootKey(t, count(1, 32)), value(t, count(9, 32))
	slot := seal.PasswordSlot{Account: id(1), Epoch: 2, KDF: seal.FloorKDF(), DeviceSecret: true}
	const password = "Zoë's ﬁrst Ångström, 한글 ½"
	w := must(seal.WrapRootForPassword(root, value(t, []byte(password)), ds, slot))
	for name, form := range map[string]norm.Form{"NFC": norm.NFC, "NFD": norm.NFD, "NFKC": norm.NFKC, "NFKD": norm.NFKD} {
		_, err := seal.OpenRootWithPassword(w, value(t, form.Bytes([]byte(password))), ds, slot)
		opened(t, "password in "+name, err)
	}
}

func TestS2_08_PasswordsThatAreRefused(t *testing.T) {
	root := seal.FixedRootKey(t, count(1, 32))
	slot := seal.PasswordSlot{Account: id(1), Epoch: 2, KDF: seal.FloorKDF()}
	for name, bad := range map[string][]byte{
		"empty": {}, "broken byte": []byte("pass\xffword"), "cut rune": []byte("passwor\xc3"),
		"surrogate": []byte("pass\xed\xa0\x80word"), "overlong": []byte("pass\xc0\xafword"), "too long": make([]byte, 65536),
	} {
		_, err := seal.WrapRootForPassword(root, value(t, bad), secret.Value{}, slot)
		if err == nil || strings.Contains(err.Error(), "pass\\x") {
			t.Errorf("%s: wrapped, or shown: %v", name, err)
		}
		_, err = seal.OpenRootWithPassword(seal.WrappedRoot{}, value(t, bad), secret.Value{}, slot)
		refused(t, name, err)
	}
	_, err := seal.WrapRootForPassword(root, value(t, []byte("a password")), value(t, count(9, 32)), slot)
	if err == nil {
		t.Error("a slot without device secret took one")
	}
	slot.DeviceSecret = true
	for name, ds := range map[string]secret.Value{"none": {}, "short": value(t, count(9, 31)), "long": value(t, count(9, 33))} {
		if _, err := seal.WrapRootForPassword(root, value(t, []byte("a password")), ds, slot); err == nil {
			t.Errorf("wrapped with device secret %s", name)
		}
		if _, err := seal.SealDeviceKeys(root, ds, id(1), id(4), must(seal.NewDeviceKeys())); err == nil && name != "none" {
			t.Errorf("sealed device keys with device secret %s", name)
		}
	}
	if _, err := seal.WrapRootForRecovery(root, value(t, count(7, 19)), seal.NewRecoverySlot(id(1), 2)); err == nil {
		t.Error("wrapped for a short recovery code")
	}
}

// TestNormalFormFitsItsBuffer goes through all of Unicode: were the growth larger
// than the buffer allows for, a copy of the password would stay behind.
func TestNormalFormFitsItsBuffer(t *testing.T) {
	longest := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		in := string(r)
		longest = max(longest, (len(norm.NFKD.String(in))+len(in)-1)/len(in))
	}
	if longest != seal.MaxGrowth {
		t.Errorf("NFKD grows %d times, the buffer is for %d", longest, seal.MaxGrowth)
	}
	// Marks in a row get joiners between them.
	marks := strings.Repeat("\u0344", 1000)
	if got := norm.NFKD.String(marks); len(got) > seal.MaxGrowth*len(marks) {
		t.Errorf("%d bytes of marks become %d", len(marks), len(got))
	}
}

func TestLentCopiesAreWiped(t *testing.T) {
	for _, password := range []string{"a", "correct horse", "ﷺ", strings.Repeat("\u0344", 100)} {
		var lent []byte
		if err := seal.UseNormal(value(t, []byte(password)), func(nfkd []byte) error {
			if !bytes.Equal(nfkd, norm.NFKD.Bytes([]byte(password))) {
				t.Errorf("%q in normal form is %q", password, nfkd)
			}
			lent = nfkd[:cap(nfkd)]
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(lent, make([]byte, len(lent))) || len(lent) != seal.MaxGrowth*len(password) {
			t.Errorf("normal form of %q is still there: %q", password, lent)
		}
	}
	var lent []byte
	if err := seal.UseDerived(count(1, 32), nil, []byte("label"), func(key []byte) error {
		lent = key
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(lent, make([]byte, 32)) {
		t.Errorf("derived key is still there: %x", lent)
	}
}
