//go:build !linux && !darwin

package platform

import "os"

func startChild(string, []string, ChildOptions) (int, error) { return 0, ErrUnsupported }

func waitChild(int) (ChildState, error) { return ChildState{}, ErrUnsupported }

func pollChild(int) (ChildState, bool, error) { return ChildState{}, false, ErrUnsupported }

func stopOurselves() error { return ErrUnsupported }

func signalProcess(int, int) error { return ErrUnsupported }

func processGroup() int { return 0 }

func foregroundGroup(*os.File) (int, error) { return 0, ErrUnsupported }

func setForegroundGroup(*os.File, int) error { return ErrUnsupported }

func dieWithParent() error { return ErrUnsupported }

func memoryFile(string) (*os.File, error) { return nil, ErrUnsupported }

func keepOpen(*os.File) (int, error) { return 0, ErrUnsupported }

func growPipe(*os.File, int) error { return ErrUnsupported }

func moveTo(*os.File, int) error { return ErrUnsupported }

func execute(string, []string, []string) error { return ErrUnsupported }

func isOrphan() bool { return true }

func awaitInput(*os.File, *os.File) (bool, error) { return false, ErrUnsupported }

func closeOnExec(*os.File) error { return ErrUnsupported }

func isReaderGone(error) bool { return false }
