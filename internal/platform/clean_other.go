//go:build !linux && !darwin

package platform

import (
	"io/fs"
	"os"
	"time"
)

func lookUpUser(int) user { return user{} }

// systemEnviron is what programs of the system can't do without.
func systemEnviron() []string { return []string{"SYSTEMROOT=" + os.Getenv("SYSTEMROOT")} }

func reexec(_, _ []string) error { return ErrUnsupported }

func isolate([]int) error { return ErrUnsupported }

func leadSession() error { return ErrUnsupported }

func redirectStreams(*os.File) error { return ErrUnsupported }

func procProgram(int) (fs.FileInfo, error) { return nil, ErrUnsupported }

func programPath() (string, error) { return os.Executable() }

func openProcProgram(int) (*os.File, error) { return nil, ErrUnsupported }

func fileIdentity(fs.FileInfo) (string, bool) { return "", false }

func ownProgramFile() (*os.File, error) { return openExecutable() }

func sinceBoot() (time.Duration, error) { return 0, ErrUnsupported }
