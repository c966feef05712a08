package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// newVersion builds "warder version".
func newVersion(env *Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print which warder this is",
		Long: `Print the version, the commit it was built from where the build recorded one,
and the Go version and platform it was built for.`,
		Example: `  warder version
  warder version --json`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return printVersion(env, readVersion(), asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// versionInfo is what "warder version" knows. A build outside a checkout has
// no commit.
type versionInfo struct {
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"`
	CommitTime string `json:"commit_time,omitempty"` // RFC 3339
	Modified   bool   `json:"modified,omitempty"`    // built from changed files
	Go         string `json:"go"`
	Platform   string `json:"platform"` // GOOS/GOARCH
}

// readVersion reads what the Go linker left in the executable.
func readVersion() versionInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info)
}

// versionOf picks the version out of a build's description.
func versionOf(info *debug.BuildInfo) versionInfo {
	v := versionInfo{
		Version:  info.Main.Version,
		Go:       runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "devel"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.CommitTime = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// printVersion prints v for a program or a person.
func printVersion(env *Env, v versionInfo, asJSON bool) error {
	if asJSON {
		return printJSON(env.Out, v)
	}
	fmt.Fprintf(env.Out, "warder %s\n", v.Version)
	if v.Commit != "" {
		fmt.Fprintf(env.Out, "commit %s", v.Commit)
		if v.CommitTime != "" {
			fmt.Fprintf(env.Out, " of %s", v.CommitTime)
		}
		if v.Modified {
			fmt.Fprint(env.Out, ", with changes")
		}
		fmt.Fprintln(env.Out)
	}
	_, err := fmt.Fprintf(env.Out, "built by %s for %s\n", v.Go, v.Platform)
	return err
}
