package daemon

import (
	"errors"

	"warder/internal/api"
	"warder/internal/platform"
)

// clean makes this process one that inherited nothing. The environment can't be shed within a process: the runtime, the
// resolver and others have read it. So a process that has another than the user's own is begun anew; the rest is put right in
// place. A daemon in the foreground stays in its session, whose end and interrupt key end it in order; it reads nothing from
// its terminal.
func clean(o Options) error {
	if !platform.HasCleanEnviron() {
		if o.Again {
			return errors.New("this process was begun anew with a clean environment and has another")
		}
		o.Again = true
		return platform.Reexec(o.Args())
	}
	if o.StartFD == 0 {
		return platform.Isolate()
	}
	if err := platform.LeadSession(); err != nil {
		return api.Errorf(api.Usage, "--start-fd is for daemons that warder starts by itself").WithCause(err)
	}
	return platform.Isolate(o.StartFD)
}
