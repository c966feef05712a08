//go:build !linux && !darwin

package platform

import "os"

func endSignals() []os.Signal { return []os.Signal{os.Interrupt} }
