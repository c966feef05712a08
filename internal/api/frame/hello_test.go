package frame_test

import (
	"cmp"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"warder/internal/api/frame"
)

// TestCompareOrdersBuilds holds a list from old to new. Builds in one row are as new as each other.
func TestCompareOrdersBuilds(t *testing.T) {
	h := func(protocol int, version string) frame.Hello {
		return frame.Hello{Protocol: protocol, Version: version}
	}
	rows := [][]frame.Hello{
		{h(1, "v0.9.12")},
		{h(1, "v1.0.0-alpha")},
		{h(1, "v1.0.0-alpha.1")},
		{h(1, "v1.0.0-alpha.beta")},
		{h(1, "v1.0.0-beta.2")},
		{h(1, "v1.0.0-beta.11")},
		{h(1, "v1.0.0-rc.1.0.20260101120000-0123456789ab")},
		{h(1, "v1.0.0-rc.1.0.20260102120000-0123456789ab"), h(1, "v1.0.0-rc.1.0.20260102120000-0123456789ab+dirty")},
		{h(1, "v1.0.0"), h(1, "v1.0.0+linux")},
		{h(1, "v1.0.1-0.20260101000000-000000000000")},
		{h(1, "v1.10.0")},
		{h(2, "v0.1.0")},
		{h(3, "devel")},
	}
	type placed struct {
		frame.Hello
		row int
	}
	var all []placed
	for i, row := range rows {
		for _, h := range row {
			all = append(all, placed{h, i})
		}
	}
	for _, a := range all {
		for _, b := range all {
			if got, want := a.Compare(b.Hello), cmp.Compare(a.row, b.row); got != want {
				t.Errorf("%v to %v: %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestBuildsWithoutAnOrderAreEqual(t *testing.T) {
	for _, odd := range []string{"devel", "v1", "v1.2", "1.2.3", "v1.2.x", "v1.2.-3", "v+1.2.3", "v1.2.3.4", "unknown"} {
		a, b := frame.Hello{Protocol: 1, Version: odd}, frame.Hello{Protocol: 1, Version: "v1.0.0"}
		if a.Compare(b) != 0 || b.Compare(a) != 0 {
			t.Errorf("%q is ordered", odd)
		}
	}
}

// TestCompareIsAnOrder draws versions and wants what an order promises.
func TestCompareIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) frame.Hello {
			return frame.Hello{Protocol: 1, Version: rapid.StringMatching(`v[01]\.[0-2]\.[0-2](-[0-2a-c](\.[0-2a-c]{1,2}){0,2})?`).Draw(t, name)}
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		if a.Compare(a) != 0 || a.Compare(b) != -b.Compare(a) {
			t.Fatalf("%s and %s", a.Version, b.Version)
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Fatalf("%s, %s, %s", a.Version, b.Version, c.Version)
		}
	})
}

func TestHelloCheck(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	good := []frame.Hello{{1, "v1.2.3", ""}, {255, "devel", sum}, {1, strings.Repeat("v", 128), ""}}
	bad := []frame.Hello{
		{0, "v1", ""},
		{256, "v1", ""},
		{-1, "v1", ""},
		{1, "", ""},
		{1, "two words", ""},
		{1, "v1\n", ""},
		{1, "v\x1b[2J", ""},
		{1, "vé", ""},
		{1, strings.Repeat("v", 129), ""},
		{1, "v1", sum[1:]},
		{1, "v1", strings.ToUpper(sum)},
		{1, "v1", strings.Repeat("xy", 32)},
	}
	for _, h := range good {
		if err := h.Check(); err != nil {
			t.Errorf("%v: %v", h, err)
		}
	}
	for _, h := range bad {
		if h.Check() == nil {
			t.Errorf("%v passed", h)
		}
	}
}

// TestU_159_OtherVersions dials daemons of other builds: who is newer learns that he may replace, who is older that he
// must not, and nobody sends a request by mistake.
func TestU_159_OtherVersions(t *testing.T) {
	own := frame.Hello{Protocol: frame.Protocol, Version: "v1.2.0"}
	for name, c := range map[string]struct {
		server   frame.Hello
		anyBuild bool
		want     frame.Code
		newer    bool // this client
	}{
		"the same":                  {server: own},
		"another build of it":       {server: frame.Hello{Protocol: 1, Version: "v1.2.0", SHA256: strings.Repeat("ab", 32)}},
		"one without a version":     {server: frame.Hello{Protocol: 1, Version: "devel"}},
		"an older one":              {server: frame.Hello{Protocol: 1, Version: "v1.1.9"}, want: frame.Version, newer: true},
		"a newer one":               {server: frame.Hello{Protocol: 1, Version: "v1.3.0"}, want: frame.Version},
		"an older one, any will do": {server: frame.Hello{Protocol: 1, Version: "v1.1.9"}, anyBuild: true},
		"a newer one, any will do":  {server: frame.Hello{Protocol: 1, Version: "v1.3.0"}, anyBuild: true},
		"a newer protocol":          {server: frame.Hello{Protocol: 2, Version: "v1.2.0"}, anyBuild: true, want: frame.Version},
	} {
		t.Run(name, func(t *testing.T) {
			l, path := listen(t)
			heard := make(chan error, 1)
			go func() {
				nc, err := l.Accept()
				if err != nil {
					heard <- err
					return
				}
				defer nc.Close()
				server, err := greetAs(nc, c.server)
				if err == nil {
					_, err = server.ReadRequest()
				}
				heard <- err
			}()
			client, err := frame.Dialer{Path: path, Self: own, AnyBuild: c.anyBuild}.Dial(t.Context())
			if codeOf(err) != c.want || (err == nil) != (c.want == "") {
				t.Fatalf("got %v", err)
			}
			var other *frame.VersionError
			if errors.As(err, &other) != (c.want != "") {
				t.Fatalf("got %#v", err)
			}
			if other != nil && (other.ClientIsNewer() != c.newer || other.Server != c.server || other.ServerPID == 0) {
				t.Errorf("got %+v", other)
			}
			if client != nil {
				if client.Server() != c.server {
					t.Errorf("the server is taken for %v", client.Server())
				}
				client.Close()
			}
			if err := <-heard; err == nil {
				t.Error("the server heard a request")
			}
		})
	}
}

// greetAs is Accept of another build.
func greetAs(nc net.Conn, as frame.Hello) (*frame.ServerConn, error) {
	if _, err := nc.Read(make([]byte, 1)); err != nil {
		return nil, err
	}
	return frame.Accept(nc, as, nil)
}

// TestOldClientOfANewProtocol meets a server that speaks a later one: it must be able to read why it is refused.
func TestOldClientOfANewProtocol(t *testing.T) {
	here, there := sockets(t)
	accepted := make(chan error, 1)
	go func() {
		defer there.Close()
		_, err := greetAs(there, frame.Hello{Protocol: 7, Version: "v9.0.0"})
		accepted <- err
	}()
	client, err := frame.Handshake(t.Context(), here, self())
	if err != nil {
		t.Fatal("a hello of another protocol can't be read: ", err)
	}
	if _, _, err := client.Call(t.Context(), "op", nil, nil); codeOf(err) != frame.Version && codeOf(err) != frame.Unreachable {
		t.Errorf("got %v", err)
	}
	var other *frame.VersionError
	if err := <-accepted; !errors.As(err, &other) || other.ClientIsNewer() {
		t.Errorf("the server: %v", err)
	}
}

func TestGreetingIsTheSameForEver(t *testing.T) {
	got, err := frame.Greeting(frame.Hello{Protocol: 1, Version: "v1.0.0", SHA256: strings.Repeat("0", 64)})
	if err != nil {
		t.Fatal(err)
	}
	text := `{"protocol":1,"version":"v1.0.0","sha256":"` + strings.Repeat("0", 64) + `"}`
	want := slices.Concat([]byte{0, 'W', 'F', 1, 6, 0, 0, 0, byte(len(text))}, []byte(text))
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
