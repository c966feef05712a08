package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"warder/internal/api"
)

// brokenWriter takes some bytes and then fails.
type brokenWriter struct{ room int }

func (b *brokenWriter) Write(p []byte) (int, error) {
	n := min(b.room, len(p))
	b.room -= n
	if n < len(p) {
		return n, errors.New("no room")
	}
	return n, nil
}

func TestRunReportsFailedOutput(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"help"}, {"completion", "bash"}, {"version", "--help"}} {
		var stderr bytes.Buffer
		status := Run(t.Context(), Env{Out: &brokenWriter{room: 10}, Err: &stderr}, args)
		if status != api.ExitFailed {
			t.Errorf("%q: exit status %d, want %d", args, status, api.ExitFailed)
		}
		if !strings.HasPrefix(stderr.String(), "warder: error[internal]: writing output: no room\nwarder: hint: ") {
			t.Errorf("%q: stderr %q", args, stderr.String())
		}
	}
}

func TestErrorWithoutCodeIsInternal(t *testing.T) {
	cause := errors.New("reading something: broken")
	root := newRoot(&Env{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	root.AddCommand(&cobra.Command{Use: "broken", RunE: func(*cobra.Command, []string) error { return cause }})
	finish(root)
	_, err := execute(t.Context(), root, []string{"broken"})
	e := asError(err, root)
	if e.Code != api.Internal || e.Message != cause.Error() || !errors.Is(e, cause) {
		t.Errorf("got %+v", e)
	}
}

func TestReportIsOneLineOfPrintableText(t *testing.T) {
	hostile := "a\x1b[31m\nb\u202ec\rd\x00"
	var stdout, stderr bytes.Buffer
	report(&Env{Out: &stdout, Err: &stderr}, usageError("%s", hostile).WithHint(hostile), true)
	want := "warder: error[usage]: a\ufffd[31m\ufffdb\ufffdc\ufffdd\ufffd\n" +
		"warder: hint: a\ufffd[31m\ufffdb\ufffdc\ufffdd\ufffd\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Error(diff)
	}
	var object struct {
		Error struct{ Code, Message, Hint, ID string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &object); err != nil {
		t.Fatal(err)
	}
	if object.Error.Message != hostile || object.Error.Code != "usage" {
		t.Errorf("JSON holds %+v", object)
	}
	if strings.Count(stdout.String(), "\n") != 1 {
		t.Errorf("JSON takes more than a line: %q", stdout.String())
	}
}

func TestVersionOf(t *testing.T) {
	setting := func(pairs ...string) (s []debug.BuildSetting) {
		for i := 0; i < len(pairs); i += 2 {
			s = append(s, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return s
	}
	for name, row := range map[string]struct {
		build debug.BuildInfo
		text  string
	}{
		"no build information": {debug.BuildInfo{}, "warder devel\n"},
		"outside a checkout":   {debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "warder devel\n"},
		"release": {
			debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: setting("vcs.revision", "0123abcd", "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "false")},
			"warder v1.2.3\ncommit 0123abcd of 2026-01-02T03:04:05Z\n",
		},
		"changed checkout": {
			debug.BuildInfo{Settings: setting("vcs.revision", "0123abcd", "vcs.modified", "true")},
			"warder devel\ncommit 0123abcd, with changes\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := versionOf(&row.build)
			var out bytes.Buffer
			if err := printVersion(&Env{Out: &out}, v, false); err != nil {
				t.Fatal(err)
			}
			want := row.text + "built by " + v.Go + " for " + v.Platform + "\n"
			if diff := cmp.Diff(want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
