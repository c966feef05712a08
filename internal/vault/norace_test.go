//go:build !race

package vault

// RaceDetector says whether this test was built with it.
const RaceDetector = false
