//go:build !linux

package platform

func readProcStat(int) (ProcStat, error) { return ProcStat{}, ErrUnsupported }

func readProcInfo(int) (ProcessInfo, error) { return ProcessInfo{}, ErrUnsupported }

func readProcExe(int) (string, error) { return "", ErrUnsupported }

func readProcCmdline(int) ([]string, error) { return nil, ErrUnsupported }

func readProcEnviron(int, []byte, func([]byte) bool) error { return ErrUnsupported }

func readProcCgroup(int) (string, error) { return "", ErrUnsupported }

func samePidNamespace(int) (bool, error) { return false, ErrUnsupported }

func procIsOwn() (bool, error) { return false, ErrUnsupported }

func bootID() (string, error) { return "", ErrUnsupported }
