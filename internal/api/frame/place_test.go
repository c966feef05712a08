package frame_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"warder/internal/api/frame"
	"warder/internal/testkit"
)

func TestS2_38_SocketPath(t *testing.T) {
	long := func(n int) string { return "/" + strings.Repeat("d", n-len("/.sock")) + ".sock" }
	for path, want := range map[string]string{
		"/run/user/1000/warder/warder.sock": "",
		long(frame.MaxPath):                 "",
		long(frame.MaxPath + 1):             "has 104 bytes",
		"run/warder.sock":                   "absolute",
		"":                                  "absolute",
		"/run/../warder.sock":               "shortest",
		"/run//warder.sock":                 "shortest",
		"@warder.sock":                      "absolute",
		"/run/a\x00.sock":                   "shortest",
		"/run/warder":                       "end in .sock",
	} {
		err := frame.CheckPath(path)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// TestC34_LongestPathWorks opens a socket whose path has exactly as many bytes as are allowed.
func TestC34_LongestPathWorks(t *testing.T) {
	dir := folder(t)
	path := filepath.Join(dir, strings.Repeat("s", frame.MaxPath-len(dir)-len("/.sock"))+".sock")
	l := listenAt(t, path)
	defer l.Close()
	if err := frame.CheckPath(path); err != nil || len(path) != frame.MaxPath {
		t.Fatalf("%d bytes: %v", len(path), err)
	}
	nc, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
}

// TestS2_05_WhatStandsInThePlace dials past everything that may stand where the socket belongs.
func TestS2_05_WhatStandsInThePlace(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	for name, c := range map[string]struct {
		put  func(t *testing.T, path string)
		want string // in the message
	}{
		"a file":        {func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }, "is a regular file"},
		"a folder":      {func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "is a folder"},
		"a link":        {func(t *testing.T, path string) { linkTo(t, path, "other.sock") }, "is a symbolic link"},
		"a loose mode":  {func(t *testing.T, path string) { listenAt(t, path); must(t, os.Chmod(path, 0o666)) }, "loose mode 0666, want 0600"},
		"a group's":     {func(t *testing.T, path string) { listenAt(t, path); must(t, os.Chmod(path, 0o620)) }, "loose mode 0620"},
		"a loose dir":   {func(t *testing.T, path string) { must(t, os.Chmod(filepath.Dir(path), 0o711)) }, "loose mode 0711, want 0700"},
		"a linked dir":  {linkDir, "is a symbolic link"},
		"a dir of file": {fileForDir, "is a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder(t), "run", "warder.sock")
			must(t, os.Mkdir(filepath.Dir(path), 0o700))
			c.put(t, path)
			_, err := frame.Dialer{Path: path, Self: self()}.Dial(t.Context())
			var place *frame.PlaceError
			if codeOf(err) != frame.Unreachable || !errors.As(err, &place) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v", err)
			}
			if place.Repair == "" || errors.Is(err, frame.ErrNotRunning) {
				t.Errorf("got %+v", place)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// linkTo puts a link to a good socket at path.
func linkTo(t *testing.T, path, name string) {
	other := filepath.Join(filepath.Dir(path), name)
	listenAt(t, other)
	must(t, os.Symlink(other, path))
}

// linkDir puts a link to a good folder with a good socket in place of path's.
func linkDir(t *testing.T, path string) {
	dir := filepath.Dir(path)
	must(t, os.Rename(dir, dir+"2"))
	must(t, os.Symlink(dir+"2", dir))
	listenAt(t, path)
}

func fileForDir(t *testing.T, path string) {
	dir := filepath.Dir(path)
	must(t, os.Remove(dir))
	must(t, os.WriteFile(dir, nil, 0o600))
}

// TestU_156_AnotherOwner judges as if this process were another user, and names both.
func TestU_156_AnotherOwner(t *testing.T) {
	if testkit.AsUser(t) {
		return
	}
	_, path := listen(t)
	for what, kind := range map[string]fs.FileMode{path: fs.ModeSocket, filepath.Dir(path): fs.ModeDir} {
		if err := frame.CheckAs(what, kind, testkit.UID+1); err == nil || !strings.Contains(err.Error(), "owned by uid") {
			t.Errorf("%s: %v", what, err)
		}
		if err := frame.CheckAs(what, kind, uint32(os.Geteuid())); err != nil {
			t.Error(err)
		}
	}
}

func TestRepairsArePasteable(t *testing.T) {
	dir := filepath.Join(folder(t), "it's; here")
	must(t, os.Mkdir(dir, 0o700))
	must(t, os.Chmod(dir, 0o755))
	var place *frame.PlaceError
	if err := frame.CheckDir(dir); !errors.As(err, &place) || place.Repair != "chmod 700 '"+strings.ReplaceAll(dir, "'", `'\''`)+"'" {
		t.Errorf("got %+v", place)
	}
}
