package credential

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestUnsafeNamesOfMoreTools: what was left out once, of the kinds that the table has.
func TestUnsafeNamesOfMoreTools(t *testing.T) {
	for _, name := range []string{
		"TAR_OPTIONS", "CARGO_BUILD_RUSTC_WRAPPER", "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", "CARGO_REGISTRIES_MINE_INDEX", "RUSTC",
		"RUSTC_WRAPPER", "RUSTDOCFLAGS", "RUSTUP_TOOLCHAIN", "MAVEN_ARGS", "ANSIBLE_LIBRARY", "ANSIBLE_CONFIG", "AWS_PAGER", "KUBE_EDITOR",
		"SSH_ASKPASS", "BORG_RSH", "RESTIC_PASSWORD_COMMAND", "GOCACHEPROG", "GOAUTH", "CGO_LDFLAGS", "CMAKE_C_COMPILER_LAUNCHER",
		"PYTEST_ADDOPTS", "GUNICORN_CMD_ARGS", "ES_JAVA_OPTS", "KRB5_CONFIG", "BASH_ENV", "BASH_FUNC_x%%", "TF_REATTACH_PROVIDERS",
	} {
		if TakenFrom(name) == "" || TakenFromAny(name) == "" {
			t.Errorf("%s is let through", name)
		}
	}
	for _, name := range []string{
		"CARGO_REGISTRIES_MINE_TOKEN", "MAVEN_PASSWORD", "BORG_PASSPHRASE", "RESTIC_PASSWORD", "RSYNC_PASSWORD", "YARN_NPM_AUTH_TOKEN",
		"POETRY_PYPI_TOKEN_PYPI", "HEX_API_KEY", "HOMEBREW_GITHUB_API_TOKEN", "CLOUDSDK_AUTH_ACCESS_TOKEN", "DENO_AUTH_TOKENS", "COMPOSER_AUTH",
		"DOCKER_PASSWORD", "PGPASSWORD", "TF_VAR_db", "VAULT_TOKEN", "UV_PUBLISH_TOKEN", "GH_TOKEN", "GRADLE_PUBLISH_KEY", "NODE_ENV",
	} {
		if TakenFromAny(name) != "" {
			t.Errorf("%s is refused", name)
		}
	}
}

// TestFoldToCapitals: our own fold makes no ASCII letter of what counts as none here.
func TestFoldToCapitals(t *testing.T) {
	for c := rune(utf8.RuneSelf); c <= unicode.MaxRune; c++ {
		for _, r := range [...]rune{unicode.ToUpper(c), unicode.ToLower(c), unicode.ToLower(unicode.ToUpper(c))} {
			if r < utf8.RuneSelf && asASCII(c) >= utf8.RuneSelf {
				t.Errorf("%U becomes %q", c, r)
			}
		}
	}
}

func TestLikelyVariable(t *testing.T) {
	for item, want := range map[string]string{"github-token": "GITHUB_TOKEN", "db": "DB", "2fa": "_2FA", "a b/c": "A_B_C", "": "_", "ü": "_"} {
		if got := LikelyVariable(item); got != want {
			t.Errorf("%q: %q, want %q", item, got, want)
		}
	}
}
