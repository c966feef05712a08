package seal_test

import (
	"fmt"
	"testing"

	"warder/internal/seal"
	"warder/internal/secret"
)

func BenchmarkWrapVaultKey(b *testing.B) {
	root, vk, place := must(seal.NewRootKey()), must(seal.NewVaultKey()), seal.VaultPlace{}
	for b.Loop() {
		must(seal.WrapVaultKey(root, vk, place))
	}
}

func BenchmarkNewItemKey(b *testing.B) {
	vk, place := must(seal.NewVaultKey()), seal.ItemPlace{}
	for b.Loop() {
		k, _, err := seal.NewItemKey(vk, place)
		if err != nil {
			b.Fatal(err)
		}
		k.Destroy()
	}
}

func BenchmarkOpenItemKey(b *testing.B) {
	vk, place := must(seal.NewVaultKey()), seal.ItemPlace{}
	_, box, err := seal.NewItemKey(vk, place)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		must(seal.OpenItemKey(vk, box[:], place)).Destroy()
	}
}

func BenchmarkItem(b *testing.B) {
	k, place, header := seal.FixedItemKey(b, count(1, 32)), seal.ItemPlace{}, make([]byte, 80)
	for _, size := range []int{1 << 10, 4 << 10} {
		plain := make([]byte, size)
		box := must(seal.SealItem(k, place, header, plain))
		b.Run(fmt.Sprintf("seal/%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				must(seal.SealItem(k, place, header, plain))
			}
		})
		b.Run(fmt.Sprintf("open/%d", size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				must(seal.OpenItem(k, place, header, box)).Destroy()
			}
		})
	}
}

// BenchmarkManifestShard takes a shard of an account with 10,000 items: 40
// entries of 65 bytes.
func BenchmarkManifestShard(b *testing.B) {
	vk, place, plain := must(seal.NewVaultKey()), seal.ManifestPlace{}, make([]byte, 40*65)
	box := must(seal.SealManifest(vk, place, plain))
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			must(seal.SealManifest(vk, place, plain))
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			must(seal.OpenManifest(vk, place, box))
		}
	})
}

func BenchmarkSignManifest(b *testing.B) {
	keys, file := must(seal.NewDeviceKeys()), make([]byte, 16<<10)
	sig := must(keys.SignManifest(file))
	b.Run("sign", func(b *testing.B) {
		for b.Loop() {
			must(keys.SignManifest(file))
		}
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if err := seal.VerifyManifest(keys.Public().Sign, file, sig[:]); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkOpenRootWithPassword(b *testing.B) {
	root, password := must(seal.NewRootKey()), must(secret.New([]byte("correct horse battery staple")))
	for name, kdf := range map[string]seal.KDF{"standard": seal.StandardKDF(), "floor": seal.FloorKDF()} {
		slot := seal.PasswordSlot{KDF: kdf}
		w := must(seal.WrapRootForPassword(root, password, secret.Value{}, slot))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must(seal.OpenRootWithPassword(w, password, secret.Value{}, slot)).Destroy()
			}
		})
	}
}
