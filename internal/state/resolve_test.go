package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// resolve finds the places of user 1000 at /home/u in a given world: variables
// as NAME=VALUE and directories that are the user's own.
func resolve(env, ours []string) (Places, error) {
	variable := func(name string) string {
		for _, e := range env {
			if n, v, _ := strings.Cut(e, "="); n == name {
				return v
			}
		}
		return ""
	}
	return resolvePlaces(variable, "/home/u", 1000, func(path string) bool {
		for _, o := range ours {
			if o == path {
				return true
			}
		}
		return false
	})
}

// TestPlaces is design's list of places as a table.
func TestPlaces(t *testing.T) {
	const run = "/run/user/1000"
	for _, c := range []struct {
		name      string
		env, ours []string
		want      string // data, state, config, runtime with their origins
	}{
		{
			"defaults, no runtime directory", nil, nil, `
/home/u/.local/share/warder (default)
/home/u/.local/state/warder (default)
/home/u/.config/warder (default)
/home/u/.local/state/warder/run (default)`,
		},
		{
			"defaults with a runtime directory", nil, []string{run}, `
/home/u/.local/share/warder (default)
/home/u/.local/state/warder (default)
/home/u/.config/warder (default)
/run/user/1000/warder (default)`,
		},
		{
			"XDG",
			[]string{"XDG_DATA_HOME=/d", "XDG_STATE_HOME=/s", "XDG_CONFIG_HOME=/c/", "XDG_RUNTIME_DIR=/r"},
			[]string{run, "/r"},
			`
/d/warder (environment XDG_DATA_HOME)
/s/warder (environment XDG_STATE_HOME)
/c/warder (environment XDG_CONFIG_HOME)
/r/warder (environment XDG_RUNTIME_DIR)`,
		},
		{
			"relative XDG values are ignored",
			[]string{"XDG_DATA_HOME=d", "XDG_STATE_HOME=./s", "XDG_CONFIG_HOME=~/c", "XDG_RUNTIME_DIR=r"},
			[]string{"r", "/r"},
			`
/home/u/.local/share/warder (default)
/home/u/.local/state/warder (default)
/home/u/.config/warder (default)
/home/u/.local/state/warder/run (default)`,
		},
		{
			"a foreign runtime directory is ignored",
			[]string{"XDG_RUNTIME_DIR=/run/user/7", "XDG_STATE_HOME=/s"},
			nil, `
/home/u/.local/share/warder (default)
/s/warder (environment XDG_STATE_HOME)
/home/u/.config/warder (default)
/s/warder/run (environment XDG_STATE_HOME)`,
		},
		{
			"a foreign runtime directory, an own one there",
			[]string{"XDG_RUNTIME_DIR=/run/user/7"},
			[]string{run},
			`
/home/u/.local/share/warder (default)
/home/u/.local/state/warder (default)
/home/u/.config/warder (default)
/run/user/1000/warder (default)`,
		},
		{
			"WARDER_HOME beats all",
			[]string{"WARDER_HOME=/w", "XDG_DATA_HOME=/d", "XDG_STATE_HOME=/s", "XDG_CONFIG_HOME=/c", "XDG_RUNTIME_DIR=/r"},
			[]string{run, "/r"},
			`
/w/data (environment WARDER_HOME)
/w/state (environment WARDER_HOME)
/w/config (environment WARDER_HOME)
/w/run (environment WARDER_HOME)`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := resolve(c.env, c.ours)
			check(t, err)
			var got string
			for _, place := range []Place{p.Data, p.State, p.Config, p.Runtime} {
				got += fmt.Sprintf("\n%s (%s)", place.Path, place.From)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
			if want := p.Data.Path + "/account"; p.Account() != want {
				t.Errorf("account %s, want %s", p.Account(), want)
			}
		})
	}
}

func TestPlacesErrors(t *testing.T) {
	if _, err := resolve([]string{"WARDER_HOME=w"}, nil); err == nil || !strings.Contains(err.Error(), "WARDER_HOME") {
		t.Errorf("a relative WARDER_HOME: %v", err)
	}
	none := func(string) string { return "" }
	for _, home := range []string{"", "u", "."} {
		if _, err := resolvePlaces(none, home, 1000, func(string) bool { return false }); err == nil || !strings.Contains(err.Error(), "HOME") {
			t.Errorf("home %q: %v", home, err)
		}
	}
	// All of them named: no home is needed.
	all := func(name string) string { return "/x" + strings.TrimPrefix(name, "WARDER_HOME") }
	if _, err := resolvePlaces(all, "", 1000, func(string) bool { return false }); err != nil {
		t.Error(err)
	}
	// No user ids on this system: no look below /run/user.
	p, err := resolvePlaces(none, "/home/u", -1, func(string) bool { return true })
	if err != nil || p.UserRuntime != "" {
		t.Errorf("got %q, %v", p.UserRuntime, err)
	}
}

// homeFor is a WARDER_HOME whose socket path has n bytes.
func homeFor(n int) string {
	return "/" + strings.Repeat("x", n-len("//run/warder.sock"))
}

// TestC34_SocketLength: 103 bytes are taken as they are, 104 are not.
func TestC34_SocketLength(t *testing.T) {
	const run = "/run/user/1000"
	socket := func(length int, ours ...string) (string, error) {
		p, err := resolve([]string{"WARDER_HOME=" + homeFor(length)}, ours)
		check(t, err)
		return p.Socket()
	}
	for _, ours := range [][]string{nil, {run}} {
		got, err := socket(103, ours...)
		if err != nil || len(got) != 103 || !strings.HasSuffix(got, "/run/warder.sock") {
			t.Errorf("103 bytes: %q, %v", got, err)
		}
	}
	short, err := socket(104, run)
	if err != nil || len(short) != len("/run/user/1000/warder/01234567.sock") || !strings.HasPrefix(short, run+"/warder/") {
		t.Errorf("104 bytes with a runtime directory: %q, %v", short, err)
	}
	if again, err := socket(104, run); err != nil || again != short {
		t.Errorf("the short name is not stable: %q, %q, %v", short, again, err)
	}
	if other, err := socket(105, run); err != nil || other == short {
		t.Errorf("two accounts share %q, %v", other, err)
	}
	_, err = socket(104)
	if err == nil {
		t.Fatal("104 bytes without a runtime directory were taken")
	}
	for _, part := range []string{homeFor(104) + "/run/warder.sock", "103", "104", "WARDER_HOME"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not name %s", err, part)
		}
	}
}

// TestSocketHash is the published form of the short name: the first 8 hex
// digits of the long path's SHA-256.
func TestSocketHash(t *testing.T) {
	p := Places{Runtime: Place{Path: "/" + strings.Repeat("a", 100)}, UserRuntime: "/run/user/1"}
	got, err := p.Socket()
	check(t, err)
	// printf '/%s/warder.sock' "$(printf 'a%.0s' $(seq 100))" | sha256sum
	const want = "/run/user/1/warder/caa6d6a0.sock"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestSocketFitsAlways: whatever the places, a path that comes back can be bound.
func TestSocketFitsAlways(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		m := rapid.IntRange(0, 200).Draw(t, "m")
		p := Places{Runtime: Place{Path: "/" + strings.Repeat("r", n)}}
		if m > 0 {
			p.UserRuntime = "/" + strings.Repeat("u", m)
		}
		path, err := p.Socket()
		if err == nil && len(path) > MaxSocketPath {
			t.Fatalf("%d bytes: %s", len(path), path)
		}
		if err != nil && n+len("//warder.sock") <= MaxSocketPath {
			t.Fatal(err)
		}
	})
}
