package platform

import "fmt"

func tracer(process string) (int, error) {
	path := "/proc/" + process + "/status"
	status, err := readFile(path, make([]byte, maxStatus))
	if err != nil {
		return 0, err
	}
	pids, err := statusNumbers(status, "TracerPid:")
	if err != nil || len(pids) == 0 {
		return 0, fmt.Errorf("reading %s: %w", path, errNotProc)
	}
	return int(pids[0]), nil
}
