package daemon

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// takes says what programs take from a variable.
type takes string

const (
	takesLibrary  takes = "code that is loaded into every program"
	takesShell    takes = "code that shells run"
	takesProgram  takes = "the name of a program to run"
	takesLanguage takes = "code or options for an interpreter or compiler"
	takesSource   takes = "the place where packages or plug-ins come from"
	takesSettings takes = "the place of settings that can name programs to run"
	takesTrust    takes = "whom to trust, or where the keys of connections go"
	takesRoute    takes = "through whom to speak"
	takesOwn      takes = "settings of warder itself"
)

// codeName is a variable that programs take code or trust from, or the place to look for either. One with a star is the beginning
// of names.
type codeName struct {
	name string
	from takes
}

// codeNames are those that are known. What takes code in ways of its own (an endpoint's address) no list knows: limit L34.
var codeNames = [...]codeName{
	{"LD_*", takesLibrary},
	{"DYLD_*", takesLibrary},
	{"GCONV_PATH", takesLibrary},
	{"LOCPATH", takesLibrary},
	{"NLSPATH", takesLibrary},
	{"GLIBC_TUNABLES", takesLibrary},
	{"GTK_MODULES", takesLibrary},
	{"GTK_PATH", takesLibrary},
	{"GIO_EXTRA_MODULES", takesLibrary},
	{"GIO_MODULE_DIR", takesLibrary},
	{"QT_PLUGIN_PATH", takesLibrary},
	{"SASL_PATH", takesLibrary},
	{"LIBGL_DRIVERS_PATH", takesLibrary},
	{"VK_ICD_FILENAMES", takesLibrary},
	{"VK_LAYER_PATH", takesLibrary},
	{"LIBMYSQL_PLUGINS", takesLibrary},
	{"LIBMYSQL_PLUGIN_DIR", takesLibrary},

	{"BASH_ENV", takesShell},
	{"ENV", takesShell},
	{"BASH_FUNC_*", takesShell},
	{"BASH_LOADABLES_PATH", takesShell},
	{"SHELLOPTS", takesShell},
	{"BASHOPTS", takesShell},
	{"PROMPT_COMMAND", takesShell},
	{"PS0", takesShell},
	{"PS1", takesShell},
	{"PS2", takesShell},
	{"PS4", takesShell},
	{"IFS", takesShell},
	{"CDPATH", takesShell},
	{"FPATH", takesShell},
	{"ZDOTDIR", takesShell},
	{"INPUTRC", takesShell},
	{"PSMODULEPATH", takesShell},

	{"PATH", takesProgram},
	{"PATHEXT", takesProgram},
	{"COMSPEC", takesProgram},
	{"SHELL", takesProgram},
	{"EDITOR", takesProgram},
	{"VISUAL", takesProgram},
	{"SUDO_EDITOR", takesProgram},
	{"SYSTEMD_EDITOR", takesProgram},
	{"PSQL_EDITOR", takesProgram},
	{"PAGER", takesProgram},
	{"MANPAGER", takesProgram},
	{"SYSTEMD_PAGER", takesProgram},
	{"PSQL_PAGER", takesProgram},
	{"BROWSER", takesProgram},
	{"LESSOPEN", takesProgram},
	{"LESSCLOSE", takesProgram},
	{"SSH_ASKPASS", takesProgram},
	{"SUDO_ASKPASS", takesProgram},
	{"RSYNC_RSH", takesProgram},
	{"CVS_RSH", takesProgram},
	{"GIT_*", takesProgram},
	{"HG_*", takesProgram},
	{"ANSIBLE_VAULT_PASSWORD_FILE", takesProgram},

	{"NODE_OPTIONS", takesLanguage},
	{"NODE_PATH", takesLanguage},
	{"NODE_REPL_EXTERNAL_MODULE", takesLanguage},
	{"PYTHON*", takesLanguage},
	{"PERL5*", takesLanguage},
	{"PERLLIB", takesLanguage},
	{"RUBY*", takesLanguage},
	{"PHPRC", takesLanguage},
	{"PHP_INI_SCAN_DIR", takesLanguage},
	{"LUA_PATH*", takesLanguage},
	{"LUA_CPATH*", takesLanguage},
	{"LUA_INIT*", takesLanguage},
	{"JAVA_TOOL_OPTIONS", takesLanguage},
	{"_JAVA_OPTIONS", takesLanguage},
	{"JAVA_OPTIONS", takesLanguage},
	{"JDK_JAVA_OPTIONS", takesLanguage},
	{"JAVA_OPTS", takesLanguage},
	{"JAVA_HOME", takesLanguage},
	{"CLASSPATH", takesLanguage},
	{"MAVEN_OPTS", takesLanguage},
	{"GRADLE_OPTS", takesLanguage},
	{"SBT_OPTS", takesLanguage},
	{"CATALINA_OPTS", takesLanguage},
	{"DOTNET_STARTUP_HOOKS", takesLanguage},
	{"DOTNET_ADDITIONAL_DEPS", takesLanguage},
	{"CORECLR_PROFILER*", takesLanguage},
	{"COR_PROFILER*", takesLanguage},
	{"ERL_*", takesLanguage},
	{"ELIXIR_ERL_OPTIONS", takesLanguage},
	{"R_PROFILE*", takesLanguage},
	{"R_ENVIRON*", takesLanguage},
	{"R_LIBS*", takesLanguage},
	{"JULIA_LOAD_PATH", takesLanguage},
	{"GUILE_LOAD_PATH", takesLanguage},
	{"TCLLIBPATH", takesLanguage},
	{"EMACSLOADPATH", takesLanguage},
	{"VIMINIT", takesLanguage},
	{"EXINIT", takesLanguage},
	{"GOFLAGS", takesLanguage},
	{"GOROOT", takesLanguage},
	{"GODEBUG", takesLanguage},
	{"GOTOOLCHAIN", takesLanguage},
	{"RUSTC", takesLanguage},
	{"RUSTC_*", takesLanguage},
	{"RUSTFLAGS", takesLanguage},
	{"CC", takesLanguage},
	{"CXX", takesLanguage},
	{"CFLAGS", takesLanguage},
	{"CXXFLAGS", takesLanguage},
	{"LDFLAGS", takesLanguage},
	{"COMPILER_PATH", takesLanguage},
	{"GCC_EXEC_PREFIX", takesLanguage},
	{"MAKEFLAGS", takesLanguage},
	{"GNUMAKEFLAGS", takesLanguage},
	{"MAKEFILES", takesLanguage},

	{"GEM_HOME", takesSource},
	{"GEM_PATH", takesSource},
	{"BUNDLE_GEMFILE", takesSource},
	{"BUNDLE_PATH", takesSource},
	{"NPM_CONFIG_*", takesSource},
	{"PIP_*", takesSource},
	{"UV_INDEX*", takesSource},
	{"UV_DEFAULT_INDEX", takesSource},
	{"UV_EXTRA_INDEX_URL", takesSource},
	{"GOPROXY", takesSource},
	{"GOSUMDB", takesSource},
	{"GONOSUMDB", takesSource},
	{"GONOSUMCHECK", takesSource},
	{"GOINSECURE", takesSource},
	{"GOPRIVATE", takesSource},
	{"HELM_PLUGINS", takesSource},
	{"TF_CLI_ARGS*", takesSource},
	{"TF_PLUGIN_CACHE_DIR", takesSource},
	{"JULIA_DEPOT_PATH", takesSource},
	{"CARGO_HOME", takesSource},

	{"HOME", takesSettings},
	{"USERPROFILE", takesSettings},
	{"APPDATA", takesSettings},
	{"LOCALAPPDATA", takesSettings},
	{"XDG_*", takesSettings},
	{"KUBECONFIG", takesSettings},
	{"DOCKER_CONFIG", takesSettings},
	{"AWS_CONFIG_FILE", takesSettings},
	{"AWS_SHARED_CREDENTIALS_FILE", takesSettings},
	{"ANSIBLE_CONFIG", takesSettings},
	{"TF_CLI_CONFIG_FILE", takesSettings},
	{"CURL_HOME", takesSettings},
	{"WGETRC", takesSettings},
	{"PSQLRC", takesSettings},
	{"PGSYSCONFDIR", takesSettings},
	{"MYSQL_HOME", takesSettings},
	{"GOENV", takesSettings},
	{"LESSKEY", takesSettings},
	{"LESSKEYIN", takesSettings},
	{"COMPOSER_HOME", takesSettings},
	{"SYSTEMROOT", takesSettings},
	{"WINDIR", takesSettings},

	{"SSL_CERT_*", takesTrust},
	{"SSLKEYLOGFILE", takesTrust},
	{"OPENSSL_CONF", takesTrust},
	{"OPENSSL_MODULES", takesTrust},
	{"OPENSSL_ENGINES", takesTrust},
	{"CURL_CA_BUNDLE", takesTrust},
	{"REQUESTS_CA_BUNDLE", takesTrust},
	{"AWS_CA_BUNDLE", takesTrust},
	{"NODE_EXTRA_CA_CERTS", takesTrust},
	{"NODE_TLS_REJECT_UNAUTHORIZED", takesTrust}, //nolint:misspell // its name
	{"NIX_SSL_CERT_FILE", takesTrust},
	{"DENO_CERT", takesTrust},
	{"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", takesTrust},
	{"PGSSLROOTCERT", takesTrust},
	{"SSH_AUTH_SOCK", takesTrust},
	{"KRB5_CONFIG", takesTrust},

	{"DOCKER_HOST", takesRoute},
	{"HOSTALIASES", takesRoute},
	{"LOCALDOMAIN", takesRoute},
	{"RES_OPTIONS", takesRoute},

	{"WARDER_*", takesOwn},
}

// proxySuffix ends the names of variables that say through whom to speak. They are read in either case.
const proxySuffix = "_PROXY"

// codeFor says what programs take from a variable of that name, for who asks; nothing if it is an ordinary one. An agent gets no
// spelling: on some systems programs read all of them as the same variable, and what becomes a variable of an item's or a field's
// name one day is in capitals, with "_" for whatever a variable can't have in its name.
func codeFor(l *lookup, name string) takes {
	if l.isPerson() {
		return codeOf(name)
	}
	spelled := asVariable(name)
	words := strings.FieldsFunc(spelled, func(c rune) bool { return c == '_' })
	for _, n := range [...]string{spelled, strings.Join(words, "_")} {
		if kind := codeOf(n); kind != "" {
			return kind
		}
	}
	return ""
}

// unsafeFor says whether a name is one that steers programs, for who asks.
func unsafeFor(l *lookup, name string) bool { return codeFor(l, name) != "" }

// asVariable is a name as a variable's: capitals, digits and "_". Letters that have an ASCII one as another case of them, such as the
// long s and the Kelvin sign, count as that.
func asVariable(name string) string {
	return strings.Map(func(c rune) rune {
		for other := unicode.SimpleFold(c); c >= utf8.RuneSelf && other != c; other = unicode.SimpleFold(other) {
			if other < utf8.RuneSelf {
				c = other
			}
		}
		switch {
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return c
		}
		return '_'
	}, name)
}

// codeOf says what programs take from a variable of exactly that name.
func codeOf(name string) takes {
	if strings.HasSuffix(strings.ToUpper(name), proxySuffix) {
		return takesRoute
	}
	for _, known := range codeNames {
		prefix, open := strings.CutSuffix(known.name, "*")
		if name == known.name || open && strings.HasPrefix(name, prefix) {
			return known.from
		}
	}
	return ""
}

// says is a sentence about a variable.
func says(name string, from takes) string { return fmt.Sprintf("programs take %s from %s", from, name) }

// maxVariable is the longest name of a variable: as of every field, and of every key of an env file.
const maxVariable = 128

// isVariable says whether a name can stand in an env file: letters, digits, "_", "." and "-", beginning with none of the last two.
func isVariable(name string) bool {
	if name == "" || len(name) > maxVariable || name[0] == '.' || name[0] == '-' {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '.', c == '-':
		default:
			return false
		}
	}
	return true
}
