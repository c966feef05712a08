//go:build !race

package vault_test

// raceDetector says whether this test was built with it.
const raceDetector = false
