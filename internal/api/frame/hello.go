package frame

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Hello is what an end says about itself. It is a claim: it helps honest programs of different age to find out, and
// is evidence of nothing. Its form, like that of the preface and of an error, is the same in every protocol, so that
// any two builds can tell each other who is newer.
type Hello struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"`          // of the build: "v1.2.3", "devel"
	SHA256   string `json:"sha256,omitempty"` // of the executable, 64 hex digits; "" where it was not worth the time
}

const maxVersion = 128

// Check says what is wrong with a Hello.
func (h Hello) Check() error {
	if h.Protocol < 1 || h.Protocol > 255 {
		return fmt.Errorf("protocol %d is not 1 to 255", h.Protocol)
	}
	printable := strings.IndexFunc(h.Version, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
	if h.Version == "" || len(h.Version) > maxVersion || !printable {
		return fmt.Errorf("version is not 1 to %d printable characters", maxVersion)
	}
	if h.SHA256 == "" {
		return nil
	}
	if sum, err := hex.DecodeString(h.SHA256); err != nil || len(sum) != 32 || strings.ToLower(h.SHA256) != h.SHA256 {
		return fmt.Errorf("sha256 is not 64 hex digits")
	}
	return nil
}

// Compare returns +1 if h is a newer build than other, -1 if it is older, and 0 if neither: it is the same, or the two
// can't be ordered, as builds without a version can't.
func (h Hello) Compare(other Hello) int {
	if c := cmp.Compare(h.Protocol, other.Protocol); c != 0 {
		return c
	}
	return compareVersions(h.Version, other.Version)
}

// VersionError says that client and daemon are of different versions, and which one has to go.
type VersionError struct {
	Client, Server Hello
	ServerPID      int // 0 where the system does not tell
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("this warder is %s (protocol %d) and the daemon is %s (protocol %d)",
		e.Client.Version, e.Client.Protocol, e.Server.Version, e.Server.Protocol)
}

// ClientIsNewer reports whether the daemon is the one to be replaced. If not, this client has to go.
func (e *VersionError) ClientIsNewer() bool { return e.Client.Compare(e.Server) > 0 }

// asError is e for the user.
func (e *VersionError) asError() *Error {
	hint := "run the warder that the daemon was started from, or update this one"
	if e.ClientIsNewer() {
		hint = "replace the daemon: warder daemon restart"
	}
	return Errorf(Version, "%s", e.Error()).WithHint(hint).WithCause(e)
}

// greeting is the preface and the hello frame of h.
func greeting(h Hello) ([]byte, error) {
	if err := h.Check(); err != nil {
		return nil, fmt.Errorf("saying hello: %w", err)
	}
	body, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("saying hello: %w", err)
	}
	return appendFrame([]byte{Mark, 'W', 'F', byte(h.Protocol)}, kindHello, body), nil
}

// readGreeting reads what greeting made, from the byte number skip of the preface on.
func (w *wire) readGreeting(skip int) (Hello, error) {
	preface := [prefaceSize]byte{Mark}
	if err := readAll(w.nc, preface[skip:]); err != nil {
		return Hello{}, err
	}
	if [3]byte(preface[:3]) != [3]byte{Mark, 'W', 'F'} {
		return Hello{}, fmt.Errorf("reading the preface: %w", ErrMalformed)
	}
	k, n, err := w.readHeader(0)
	if err == nil {
		err = expect(k, n, kindHello, maxHello)
	}
	if err != nil {
		return Hello{}, noEOF(err)
	}
	body, err := w.readBody(n)
	if err != nil {
		return Hello{}, err
	}
	return decodeHello(body, int(preface[3]))
}

// decodeHello reads the JSON of a hello. Members it does not know are passed over: they come from a newer build.
func decodeHello(body []byte, protocol int) (Hello, error) {
	var h Hello
	if err := json.Unmarshal(body, &h); err != nil {
		return Hello{}, fmt.Errorf("reading a hello: %w: %w", ErrMalformed, err)
	}
	if err := h.Check(); err != nil {
		return Hello{}, fmt.Errorf("reading a hello: %w: %w", ErrMalformed, err)
	}
	if h.Protocol != protocol {
		return Hello{}, fmt.Errorf("reading a hello: protocol %d after a preface of %d: %w", h.Protocol, protocol, ErrMalformed)
	}
	return h, nil
}

// compareVersions orders two versions by the rules of semver.org 2.0.0, section 11. Where one of them is no such
// version the answer is 0.
func compareVersions(a, b string) int {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	if !okX || !okY {
		return 0
	}
	for i := range x.core {
		if c := cmp.Compare(x.core[i], y.core[i]); c != 0 {
			return c
		}
	}
	switch {
	case x.pre == y.pre:
		return 0
	case x.pre == "": // a release is newer than what came before it
		return 1
	case y.pre == "":
		return -1
	}
	return comparePre(strings.Split(x.pre, "."), strings.Split(y.pre, "."))
}

type version struct {
	core [3]uint64
	pre  string // behind '-', "" for a release
}

func parseVersion(s string) (version, bool) {
	s, found := strings.CutPrefix(s, "v")
	if !found {
		return version{}, false
	}
	s, _, _ = strings.Cut(s, "+") // what was built, not how new it is
	core, pre, _ := strings.Cut(s, "-")
	numbers := strings.Split(core, ".")
	if len(numbers) != 3 {
		return version{}, false
	}
	v := version{pre: pre}
	for i, n := range numbers {
		var err error
		if v.core[i], err = strconv.ParseUint(n, 10, 64); err != nil {
			return version{}, false
		}
	}
	return v, true
}

// comparePre orders the parts of two pre-releases: numbers below words, fewer parts below more.
func comparePre(x, y []string) int {
	for i := range min(len(x), len(y)) {
		n, errX := strconv.ParseUint(x[i], 10, 64)
		m, errY := strconv.ParseUint(y[i], 10, 64)
		var c int
		switch {
		case errX == nil && errY == nil:
			c = cmp.Compare(n, m)
		case errX == nil:
			c = -1
		case errY == nil:
			c = 1
		default:
			c = strings.Compare(x[i], y[i])
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(x), len(y))
}
