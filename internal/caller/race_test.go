//go:build race

package caller_test

const raceDetector = true
