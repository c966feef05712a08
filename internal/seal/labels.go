package seal

// Labels keep one use of a key or of a construction apart from every other.
// They are part of F1 and never change; a new meaning gets a new label. None
// is a prefix of another, those of F2 in audit.go included, so the bytes that
// follow one can't turn it into a different one.

// Labels of the keys made from a password, a recovery code or a device secret.
const (
	labelUnlock     = "warder/unlock/v1"
	labelRecover    = "warder/recover/v1"
	labelDeviceKeys = "warder/device-keys/v1" // also the data bound to the sealed device keys
)

// Labels of the subkeys of an account's root key.
const (
	labelVaultWrap  = "warder/vault-wrap/v1"
	labelKeysetMAC  = "warder/keyset-mac/v1"
	labelDeviceCert = "warder/device-cert/v1"
	labelSeen       = "warder/seen/v1"     // also the data bound to the sealed seen state
	labelPresence   = "warder/presence/v1" // also the data bound to a proof of presence; in no file
	labelPolicyMAC  = "warder/policy-mac/v1"
	labelLeaseMAC   = "warder/lease-mac/v1"
)

// Labels of the subkeys of a vault key.
const (
	labelItemWrap    = "warder/item-wrap/v1"
	labelManifest    = "warder/manifest/v1" // also the data bound to a manifest part
	labelFingerprint = "warder/fingerprint/v1"
)

// Labels of what is bound to a box, authenticated or signed.
const (
	labelWrapRoot         = "warder/wrap-ark/v1"
	labelWrapRootRecovery = "warder/wrap-ark-rec/v1"
	labelCommit           = "warder/commit/v1"
	labelWrapVaultKey     = "warder/wrap-vk/v1"
	labelWrapItemKey      = "warder/wrap-item/v1"
	labelItem             = "warder/item/v1"
	labelManifestSign     = "warder/manifest-sign/v1"
	labelKeyset           = "warder/keyset/v1"
	labelCard             = "warder/device-card/v1"
	labelFingerprintValue = "warder/fp/v1"
	labelPolicy           = "warder/policy/v1"
	labelLease            = "warder/lease/v1"
)
