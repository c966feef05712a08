package seal

import "crypto/sha256"

// MACLease authenticates what a daemon has written down of an open lease, for the
// daemon after it: who runs below the holder of a lease is judged as if it were
// not there, so nobody else may name one. Account and device are bound to it.
func MACLease(root RootKey, account, device ID, text []byte) (mac [sha256.Size]byte, err error) {
	message, err := localMessage(account, device, text)
	if err != nil {
		return mac, err
	}
	return macFile(root, labelLeaseMAC, labelLease, message)
}

// CheckLease returns ErrOpen unless mac is what MACLease gives for the same
// account, device and text.
func CheckLease(root RootKey, account, device ID, text, mac []byte) error {
	message, err := localMessage(account, device, text)
	if err != nil {
		return err
	}
	return checkFile(root, labelLeaseMAC, labelLease, message, mac)
}
