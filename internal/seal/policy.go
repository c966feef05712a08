package seal

import "crypto/sha256"

// MACPolicy authenticates what a person has accepted of the user's files on one
// device of an account. The device is bound to it: what was accepted on one is
// not so on another.
func MACPolicy(root RootKey, account, device ID, text []byte) (mac [sha256.Size]byte, err error) {
	message, err := localMessage(account, device, text)
	if err != nil {
		return mac, err
	}
	return macFile(root, labelPolicyMAC, labelPolicy, message)
}

// CheckPolicy returns ErrOpen unless mac is what MACPolicy gives for the same
// account, device and text.
func CheckPolicy(root RootKey, account, device ID, text, mac []byte) error {
	message, err := localMessage(account, device, text)
	if err != nil {
		return err
	}
	return checkFile(root, labelPolicyMAC, labelPolicy, message, mac)
}

// localMessage is what authenticates a file of one device: the two ids, each behind its length, and then the text, which
// has no length of its own: nothing follows it.
func localMessage(account, device ID, text []byte) ([]byte, error) {
	place, err := encode("", account[:], device[:])
	return append(place, text...), err
}
