package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"warder/internal/api"
	"warder/internal/policy"
	"warder/internal/state"
)

// trustFile holds the directories that a person trusted to be workspaces.
const (
	trustFile    = "trust.json"
	maxTrustFile = 1 << 20
)

// trusted is the content of that file.
type trusted struct {
	Version int          `json:"version"`
	Dirs    []trustedDir `json:"dirs"`
}

type trustedDir struct {
	Dir   string `json:"dir"`
	Added string `json:"added"` // RFC 3339
}

// readTrust reads the file. One that can't be read trusts nothing, and is an error, so that it is not written over.
func readTrust(dir *state.Dir) (trusted, error) {
	t := trusted{Version: 1}
	text, err := dir.Read(trustFile, maxTrustFile)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	if err := json.Unmarshal(text, &t); err != nil || t.Version != 1 {
		return trusted{}, api.Errorf(api.Integrity, "%s can't be read, so no directory is trusted", trustFile).
			WithHint("remove it and trust the directories again").WithCause(err)
	}
	return t, nil
}

func (t *trusted) write(dir *state.Dir) error {
	text, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return err
	}
	return dir.Replace(trustFile, append(text, '\n'))
}

func (t *trusted) index(dir string) int {
	return slices.IndexFunc(t.Dirs, func(d trustedDir) bool { return d.Dir == dir })
}

// planTrustList lists the trusted directories.
func planTrustList(r *request) (*act, error) {
	t, err := readTrust(r.acts.state)
	if err != nil {
		return nil, err
	}
	out := api.TrustList{Dirs: []string{}}
	for _, d := range t.Dirs {
		out.Dirs = append(out.Dirs, d.Dir)
	}
	slices.Sort(out.Dirs)
	return answer("list the trusted directories", out), nil
}

// planTrustAdd trusts a directory, under the name that it has without links.
func planTrustAdd(r *request) (*act, error) {
	var in api.TrustDir
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	dir := filepath.Clean(in.Dir)
	if r.isPerson() { // an agent is denied without a look at the disk
		var err error
		if dir, err = r.acts.workspace(in.Dir); err != nil {
			return nil, err
		}
	}
	return &act{
		needs: []policy.Need{policy.ToTrust},
		text:  fmt.Sprintf("let agents use %s as a workspace", dir),
		run: func(context.Context) (*api.Reply, error) {
			t, err := readTrust(r.acts.state)
			if err != nil {
				return nil, err
			}
			if t.index(dir) < 0 {
				t.Dirs = append(t.Dirs, trustedDir{dir, stamp(r.acts.now())})
				err = t.write(r.acts.state)
			}
			return &api.Reply{Output: api.TrustDir{Dir: dir}}, err
		},
	}, nil
}

// workspace is the directory that may be trusted under a name.
func (a *acts) workspace(name string) (string, error) {
	if !filepath.IsAbs(name) {
		return "", usage("%q is not an absolute path", name)
	}
	dir, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", api.Errorf(api.NotFound, "there is no directory %q", name).WithHint("make it first")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", usage("%q is not a directory", name)
	}
	for _, place := range append([]string{a.home, a.state.Path()}, a.places...) {
		if place == "" {
			continue
		}
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = real
		}
		if within(dir, place) || place != a.home && within(place, dir) {
			return "", api.Errorf(api.Denied, "%s is never a workspace: it is or holds the home directory or a place of warder's own", dir).
				WithHint("trust the directory of one project")
		}
	}
	return dir, nil
}

// within says whether path is dir or below it.
func within(dir, path string) bool {
	below, err := filepath.Rel(dir, path)
	return err == nil && (below == "." || below != ".." && !strings.HasPrefix(below, ".."+string(filepath.Separator)))
}

// planTrustRemove ends the trust in a directory, whether it is there or not.
func planTrustRemove(r *request) (*act, error) {
	var in api.TrustDir
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	t, err := readTrust(r.acts.state)
	if err != nil {
		return nil, err
	}
	dir := filepath.Clean(in.Dir)
	if t.index(dir) < 0 {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
	}
	if t.index(dir) < 0 {
		return nil, api.Errorf(api.NotFound, "%s is not trusted", printable(dir)).WithHint("see which are: warder trust list")
	}
	return &act{
		needs: []policy.Need{policy.ToDistrust},
		text:  fmt.Sprintf("trust %s no more", dir),
		run: func(context.Context) (*api.Reply, error) {
			t.Dirs = slices.Delete(t.Dirs, t.index(dir), t.index(dir)+1)
			return &api.Reply{Output: api.TrustDir{Dir: dir}}, t.write(r.acts.state)
		},
	}, nil
}
