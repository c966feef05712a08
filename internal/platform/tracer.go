package platform

import "strconv"

// Tracer is the process that traces this one, 0 if none does. One that had attached before [DropDumps] goes on to read this
// process's memory. Where the system does not tell it returns [ErrUnsupported].
func Tracer() (pid int, err error) { return tracer("self") }

// TracerOf is [Tracer] for another process.
func TracerOf(pid int) (tracerPID int, err error) { return tracer(strconv.Itoa(pid)) }
