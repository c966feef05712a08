//go:build !race

package daemon_test

// raceDetector says that the test binary has the race detector in it.
const raceDetector = false
