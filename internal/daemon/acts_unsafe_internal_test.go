package daemon

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"warder/internal/api"
)

// TestUnsafeNamesOfMoreTools: what was left out once, of the kinds that the table has.
func TestUnsafeNamesOfMoreTools(t *testing.T) {
	for _, name := range []string{
		"TAR_OPTIONS", "CARGO_BUILD_RUSTC_WRAPPER", "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "CARGO_REGISTRIES_MINE_INDEX", "RUSTC",
		"RUSTC_WRAPPER", "RUSTDOCFLAGS", "RUSTUP_TOOLCHAIN", "MAVEN_ARGS", "ANSIBLE_LIBRARY", "ANSIBLE_CONFIG", "AWS_PAGER", "KUBE_EDITOR",
		"SSH_ASKPASS", "BORG_RSH", "RESTIC_PASSWORD_COMMAND", "GOCACHEPROG", "GOAUTH", "CGO_LDFLAGS", "CMAKE_C_COMPILER_LAUNCHER",
		"PYTEST_ADDOPTS", "GUNICORN_CMD_ARGS", "ES_JAVA_OPTS", "KRB5_CONFIG", "BASH_ENV", "BASH_FUNC_x%%", "TF_REATTACH_PROVIDERS",
	} {
		if codeOf(name) == "" || codeFor(&lookup{}, name) == "" {
			t.Errorf("%s is let through", name)
		}
	}
	for _, name := range []string{
		"CARGO_REGISTRIES_MINE_TOKEN", "MAVEN_PASSWORD", "BORG_PASSPHRASE", "RESTIC_PASSWORD", "RSYNC_PASSWORD", "YARN_NPM_AUTH_TOKEN",
		"POETRY_PYPI_TOKEN_PYPI", "HEX_API_KEY", "HOMEBREW_GITHUB_API_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN", "DENO_AUTH_TOKENS", "COMPOSER_AUTH",
		"DOCKER_PASSWORD", "PGPASSWORD", "TF_VAR_db", "VAULT_TOKEN", "UV_PUBLISH_TOKEN", "GH_TOKEN", "GRADLE_PUBLISH_KEY", "NODE_ENV",
	} {
		if codeFor(&lookup{}, name) != "" {
			t.Errorf("%s is refused", name)
		}
	}
}

// TestUnsafeNamesInOtherLetters: an agent can't give an item or a field a name that only some mapping of letters makes one that steers
// programs: other cases, and what a code page makes of wide, styled and accented letters.
func TestUnsafeNamesInOtherLetters(t *testing.T) {
	s := newScene(t)
	for _, name := range []string{
		"NODE_OPTıONS", "GıT_SSH_COMMAND", "GİT_SSH_COMMAND", "BA\u017fH_ENV", "ｐａｔｈ", "𝐋𝐃_PRELOAD", "LDéPRELOAD",
		"PÁTH", "node öptions", "Ld-Preload",
	} {
		add := api.ItemAdd{Name: name, Type: "api-token", Fields: []api.FieldIn{{Name: "token", Concealed: true}}}
		s.refused(s.do(agent(), api.OpItemAdd, add, token), api.UnsafeName)
		add.Name, add.Fields[0].Name = "x", name
		s.refused(s.do(agent(), api.OpItemAdd, add, token), api.UnsafeName)
	}
	// Our own fold makes no ASCII letter of what counts as none here.
	for c := rune(utf8.RuneSelf); c <= unicode.MaxRune; c++ {
		for _, r := range [...]rune{unicode.ToUpper(c), unicode.ToLower(c), unicode.ToLower(unicode.ToUpper(c))} {
			if r < utf8.RuneSelf && asASCII(c) >= utf8.RuneSelf {
				t.Errorf("%U becomes %q", c, r)
			}
		}
	}
}
