package credential

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"warder/internal/vault"
)

// Takes says what programs take from a variable.
type Takes string

const (
	takesLibrary  Takes = "code that is loaded into every program"
	takesShell    Takes = "code that shells run"
	takesProgram  Takes = "the name of a program to run"
	takesLanguage Takes = "code or options for an interpreter or compiler"
	takesSource   Takes = "the place where packages or plug-ins come from"
	takesSettings Takes = "the place of settings that can name programs to run"
	takesTrust    Takes = "whom to trust, or where the keys of connections go"
	takesRoute    Takes = "through whom to speak"
	takesOwn      Takes = "settings of warder itself"
)

// codeName is a variable that programs take code or trust from, or the place to look for either. A star in one
// stands for any text.
type codeName struct {
	name string
	from Takes
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
	{"CAML_LD_LIBRARY_PATH", takesLibrary},
	{"AWKLIBPATH", takesLibrary},
	{"GDK_PIXBUF_MODULE_FILE", takesLibrary},
	{"GTK_IM_MODULE_FILE", takesLibrary},
	{"GTK_EXE_PREFIX", takesLibrary},
	{"GST_PLUGIN_*", takesLibrary},
	{"QT_QPA_PLATFORM_PLUGIN_PATH", takesLibrary},
	{"QML_IMPORT_PATH", takesLibrary},
	{"QML2_IMPORT_PATH", takesLibrary},
	{"LIBVA_DRIVERS_PATH", takesLibrary},
	{"ODBCINI", takesLibrary},
	{"ODBCINSTINI", takesLibrary},
	{"ODBCSYSINI", takesLibrary},
	{"SSH_SK_PROVIDER", takesLibrary},
	{"WINEDLLOVERRIDES", takesLibrary},

	{"BASH_*", takesShell},
	{"ENV", takesShell},
	{"SHELLOPTS", takesShell},
	{"BASHOPTS", takesShell},
	{"PROMPT_COMMAND", takesShell},
	{"PS0", takesShell},
	{"PS1", takesShell},
	{"PS2", takesShell},
	{"PS4", takesShell},
	{"PROMPT", takesShell},
	{"RPROMPT", takesShell},
	{"FISH_*", takesShell},
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
	{"*_EDITOR", takesProgram},
	{"FCEDIT", takesProgram},
	{"PAGER", takesProgram},
	{"*_PAGER", takesProgram},
	{"MANPAGER", takesProgram},
	{"LESS", takesProgram},
	{"MANOPT", takesProgram},
	{"MANROFFOPT", takesProgram},
	{"BROWSER", takesProgram},
	{"*_BROWSER", takesProgram},
	{"LESSOPEN", takesProgram},
	{"LESSCLOSE", takesProgram},
	{"*_ASKPASS", takesProgram},
	{"*_RSH", takesProgram},
	{"*_PASSCOMMAND", takesProgram},
	{"*_PASSWORD_COMMAND", takesProgram},
	{"SVN_SSH", takesProgram},
	{"SSH_SK_HELPER", takesProgram},
	{"SSH_PKCS11_HELPER", takesProgram},
	{"RSYNC_CONNECT_PROG", takesProgram},
	{"TAR_OPTIONS", takesProgram},
	{"GREP_OPTIONS", takesProgram},
	{"FZF_DEFAULT_*", takesProgram},
	{"RIPGREP_CONFIG_PATH", takesProgram},
	{"KUBECTL_EXTERNAL_DIFF", takesProgram},
	{"TERRAGRUNT_TFPATH", takesProgram},
	{"CLOUDSDK_PYTHON*", takesProgram},
	{"PUPPETEER_EXECUTABLE_PATH", takesProgram},
	{"CHROME_PATH", takesProgram},
	{"CHROME_BIN", takesProgram},
	{"ESBUILD_BINARY_PATH", takesProgram},
	{"MAILCAPS", takesProgram},
	{"*SAN_OPTIONS", takesProgram},
	{"GIT_*", takesProgram},
	{"HG_*", takesProgram},

	{"NODE_OPTIONS", takesLanguage},
	{"NODE_PATH", takesLanguage},
	{"NODE_REPL_EXTERNAL_MODULE", takesLanguage},
	{"NPM_EXECPATH", takesLanguage},
	{"NPM_NODE_EXECPATH", takesLanguage},
	{"TS_NODE_*", takesLanguage},
	{"BUN_OPTIONS", takesLanguage},
	{"ELECTRON_RUN_AS_NODE", takesLanguage},
	{"PYTHON*", takesLanguage},
	{"PYTEST_ADDOPTS", takesLanguage},
	{"PYTEST_PLUGINS", takesLanguage},
	{"COVERAGE_PROCESS_START", takesLanguage},
	{"GUNICORN_CMD_ARGS", takesLanguage},
	{"VIRTUAL_ENV", takesLanguage},
	{"IPYTHONDIR", takesLanguage},
	{"JUPYTER_PATH", takesLanguage},
	{"JUPYTER_CONFIG_*", takesLanguage},
	{"PERL5*", takesLanguage},
	{"PERLLIB", takesLanguage},
	{"RUBY*", takesLanguage},
	{"JRUBY_OPTS", takesLanguage},
	{"IRBRC", takesLanguage},
	{"PHPRC", takesLanguage},
	{"PHP_INI_SCAN_DIR", takesLanguage},
	{"LUA_PATH*", takesLanguage},
	{"LUA_CPATH*", takesLanguage},
	{"LUA_INIT*", takesLanguage},
	{"AWKPATH", takesLanguage},
	{"BC_ENV_ARGS", takesLanguage},
	{"DC_ENV_ARGS", takesLanguage},
	{"JAVA_TOOL_OPTIONS", takesLanguage},
	{"_JAVA_OPTIONS", takesLanguage},
	{"JAVA_OPTIONS", takesLanguage},
	{"JDK_JAVA_OPTIONS", takesLanguage},
	{"JAVA_OPTS", takesLanguage},
	{"JAVA_HOME", takesLanguage},
	{"JAVACMD", takesLanguage},
	{"JRE_HOME", takesLanguage},
	{"*_JAVA_OPTS", takesLanguage},
	{"*_JVM_OPTS", takesLanguage},
	{"ANT_OPTS", takesLanguage},
	{"ANT_ARGS", takesLanguage},
	{"KAFKA_OPTS", takesLanguage},
	{"HADOOP_*_OPTS", takesLanguage},
	{"HADOOP_OPTS", takesLanguage},
	{"SPARK_SUBMIT_OPTS", takesLanguage},
	{"CLASSPATH", takesLanguage},
	{"MAVEN_OPTS", takesLanguage},
	{"MAVEN_ARGS", takesLanguage},
	{"MAVEN_CONFIG", takesLanguage},
	{"MAVEN_CMD_LINE_ARGS", takesLanguage},
	{"MAVEN_DEBUG_OPTS", takesLanguage},
	{"MAVEN_HOME", takesLanguage},
	{"M2_HOME", takesLanguage},
	{"GRADLE_HOME", takesLanguage},
	{"GRADLE_OPTS", takesLanguage},
	{"SBT_OPTS", takesLanguage},
	{"CATALINA_OPTS", takesLanguage},
	{"DOTNET_STARTUP_HOOKS", takesLanguage},
	{"DOTNET_ADDITIONAL_DEPS", takesLanguage},
	{"DOTNET_ROOT*", takesLanguage},
	{"DOTNET_HOST_PATH", takesLanguage},
	{"ASPNETCORE_HOSTINGSTARTUPASSEMBLIES", takesLanguage},
	{"MSBUILD*", takesLanguage},
	{"CORECLR_PROFILER*", takesLanguage},
	{"COR_PROFILER*", takesLanguage},
	{"ERL_*", takesLanguage},
	{"ELIXIR_ERL_OPTIONS", takesLanguage},
	{"MIX_EXS", takesLanguage},
	{"MIX_ARCHIVES", takesLanguage},
	{"R_PROFILE*", takesLanguage},
	{"R_ENVIRON*", takesLanguage},
	{"R_LIBS*", takesLanguage},
	{"JULIA_LOAD_PATH", takesLanguage},
	{"OCAMLPATH", takesLanguage},
	{"GHC_PACKAGE_PATH", takesLanguage},
	{"GHCRTS", takesLanguage},
	{"TCL_LIBRARY", takesLanguage},
	{"GUILE_LOAD_PATH", takesLanguage},
	{"TCLLIBPATH", takesLanguage},
	{"EMACSLOADPATH", takesLanguage},
	{"EMACSDATA", takesLanguage},
	{"EMACSPATH", takesLanguage},
	{"VIM", takesLanguage},
	{"VIMRUNTIME", takesLanguage},
	{"MYVIMRC", takesLanguage},
	{"VIMINIT", takesLanguage},
	{"EXINIT", takesLanguage},
	{"GOFLAGS", takesLanguage},
	{"GOROOT", takesLanguage},
	{"GODEBUG", takesLanguage},
	{"GOTOOLCHAIN", takesLanguage},
	{"GOPATH", takesLanguage},
	{"GOWORK", takesLanguage},
	{"GOCACHEPROG", takesLanguage},
	{"GOAUTH", takesLanguage},
	{"GOVCS", takesLanguage},
	{"CGO_*", takesLanguage},
	{"GCCGO", takesLanguage},
	{"RUSTC*", takesLanguage},
	{"RUSTDOC*", takesLanguage},
	{"RUSTFLAGS", takesLanguage},
	{"RUSTUP_*", takesLanguage},
	{"CARGO", takesLanguage},
	{"CARGO_ALIAS_*", takesLanguage},
	{"CARGO_BUILD_*", takesLanguage},
	{"CARGO_ENCODED_*", takesLanguage},
	{"CARGO_HOST_*", takesLanguage},
	{"CARGO_TARGET_*", takesLanguage},
	{"CARGO_UNSTABLE_*", takesLanguage},
	{"CARGO_*_CREDENTIAL_PROVIDER", takesLanguage},
	{"CARGO_*_CREDENTIAL_PROVIDERS", takesLanguage},
	{"CARGO_*_LINKER", takesLanguage},
	{"CARGO_*_RUNNER", takesLanguage},
	{"CARGO_*_RUSTFLAGS", takesLanguage},
	{"CARGO_*_WRAPPER", takesLanguage},
	{"ANSIBLE_*", takesLanguage},
	{"CC", takesLanguage},
	{"CXX", takesLanguage},
	{"CFLAGS", takesLanguage},
	{"CXXFLAGS", takesLanguage},
	{"LDFLAGS", takesLanguage},
	{"CPP", takesLanguage},
	{"CPPFLAGS", takesLanguage},
	{"CPATH", takesLanguage},
	{"C_INCLUDE_PATH", takesLanguage},
	{"CPLUS_INCLUDE_PATH", takesLanguage},
	{"LIBRARY_PATH", takesLanguage},
	{"AR", takesLanguage},
	{"AS", takesLanguage},
	{"LD", takesLanguage},
	{"PKG_CONFIG*", takesLanguage},
	{"CMAKE_*", takesLanguage},
	{"CONFIG_SITE", takesLanguage},
	{"CCACHE_COMPILER", takesLanguage},
	{"CCACHE_PREFIX*", takesLanguage},
	{"QMAKESPEC", takesLanguage},
	{"M4PATH", takesLanguage},
	{"ACLOCAL_PATH", takesLanguage},
	{"COMPILER_PATH", takesLanguage},
	{"GCC_EXEC_PREFIX", takesLanguage},
	{"MAKEFLAGS", takesLanguage},
	{"GNUMAKEFLAGS", takesLanguage},
	{"MAKEFILES", takesLanguage},
	{"MAKE", takesLanguage},
	{"SCONSFLAGS", takesLanguage},

	{"GEM_HOME", takesSource},
	{"GEM_PATH", takesSource},
	{"BUNDLE_GEMFILE", takesSource},
	{"BUNDLE_PATH", takesSource},
	{"BUNDLE_APP_CONFIG", takesSource},
	{"BUNDLE_BIN*", takesSource},
	{"BUNDLE_MIRROR*", takesSource},
	{"BUNDLER_*", takesSource},
	{"NPM_CONFIG_*", takesSource},
	{"YARN_RC_FILENAME", takesSource},
	{"YARN_PLUGINS", takesSource},
	{"YARN_NPM_REGISTRY_SERVER", takesSource},
	{"COREPACK_*", takesSource},
	{"PNPM_HOME", takesSource},
	{"BUN_CONFIG_REGISTRY", takesSource},
	{"DENO_DIR", takesSource},
	{"PIP_*", takesSource},
	{"PIPENV_*", takesSource},
	{"POETRY_REPOSITORIES_*", takesSource},
	{"CONDA_CHANNELS", takesSource},
	{"CONDA_PREFIX", takesSource},
	{"UV_INDEX*", takesSource},
	{"UV_DEFAULT_INDEX", takesSource},
	{"UV_EXTRA_INDEX_URL", takesSource},
	{"UV_FIND_LINKS", takesSource},
	{"UV_CONFIG_FILE", takesSource},
	{"UV_PYTHON*", takesSource},
	{"UV_OVERRIDE", takesSource},
	{"UV_CONSTRAINT", takesSource},
	{"GOPROXY", takesSource},
	{"GOSUMDB", takesSource},
	{"GONOSUMDB", takesSource},
	{"GONOSUMCHECK", takesSource},
	{"GOINSECURE", takesSource},
	{"GOPRIVATE", takesSource},
	{"GONOPROXY", takesSource},
	{"HELM_PLUGINS", takesSource},
	{"TF_CLI_ARGS*", takesSource},
	{"TF_PLUGIN_CACHE_DIR", takesSource},
	{"TF_DATA_DIR", takesSource},
	{"TF_REATTACH_PROVIDERS", takesSource},
	{"PACKER_PLUGIN_PATH", takesSource},
	{"KREW_ROOT", takesSource},
	{"AZURE_EXTENSION_DIR", takesSource},
	{"JULIA_DEPOT_PATH", takesSource},
	{"CARGO_HOME", takesSource},
	{"CARGO_SOURCE_*", takesSource},
	{"CARGO_REGISTRIES_*_INDEX", takesSource},
	{"CARGO_REGISTRY_DEFAULT", takesSource},
	{"CARGO_REGISTRY_INDEX", takesSource},
	{"MIX_HOME", takesSource},
	{"HEX_HOME", takesSource},
	{"HEX_MIRROR", takesSource},
	{"PUB_CACHE", takesSource},
	{"PUB_HOSTED_URL", takesSource},
	{"PYENV_*", takesSource},
	{"RBENV_*", takesSource},
	{"NODENV_*", takesSource},
	{"JENV_*", takesSource},
	{"NVM_*", takesSource},
	{"VOLTA_*", takesSource},
	{"ASDF_*", takesSource},
	{"MISE_*", takesSource},
	{"NIX_PATH", takesSource},
	{"NIX_CONFIG", takesSource},
	{"NIX_REMOTE", takesSource},
	{"OPAM_SWITCH_PREFIX", takesSource},
	{"HOMEBREW_*_DOMAIN", takesSource},
	{"HOMEBREW_*_REMOTE", takesSource},

	{"HOME", takesSettings},
	{"USERPROFILE", takesSettings},
	{"APPDATA", takesSettings},
	{"LOCALAPPDATA", takesSettings},
	{"XDG_*", takesSettings},
	{"KUBECONFIG", takesSettings},
	{"DOCKER_CONFIG", takesSettings},
	{"COMPOSE_FILE", takesSettings},
	{"COMPOSE_ENV_FILES", takesSettings},
	{"HELM_*_HOME", takesSettings},
	{"CLOUDSDK_CONFIG", takesSettings},
	{"AZURE_CONFIG_DIR", takesSettings},
	{"GH_CONFIG_DIR", takesSettings},
	{"RCLONE_CONFIG", takesSettings},
	{"PACKER_CONFIG", takesSettings},
	{"VAGRANT_VAGRANTFILE", takesSettings},
	{"VAGRANT_CWD", takesSettings},
	{"GRADLE_USER_HOME", takesSettings},
	{"GNUPGHOME", takesSettings},
	{"DIRENV_*", takesSettings},
	{"GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES", takesSettings},
	{"AWS_CONFIG_FILE", takesSettings},
	{"AWS_SHARED_CREDENTIALS_FILE", takesSettings},
	{"TF_CLI_CONFIG_FILE", takesSettings},
	{"CURL_HOME", takesSettings},
	{"WGETRC", takesSettings},
	{"PSQLRC", takesSettings},
	{"PGSYSCONFDIR", takesSettings},
	{"PGSERVICEFILE", takesSettings},
	{"TNS_ADMIN", takesSettings},
	{"ORACLE_HOME", takesSettings},
	{"TERMINFO", takesSettings},
	{"TERMINFO_DIRS", takesSettings},
	{"TERMCAP", takesSettings},
	{"SCREENRC", takesSettings},
	{"NETRC", takesSettings},
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
	{"PGSSLMODE", takesTrust},
	{"VAULT_CACERT", takesTrust},
	{"VAULT_CAPATH", takesTrust},
	{"VAULT_SKIP_VERIFY", takesTrust},
	{"CARGO_HTTP_*", takesTrust},
	{"SSH_AUTH_SOCK", takesTrust},
	{"KRB5*", takesTrust},

	{"DOCKER_HOST", takesRoute},
	{"DOCKER_CONTEXT", takesRoute},
	{"DOCKER_TLS*", takesRoute},
	{"DOCKER_CERT_PATH", takesRoute},
	{"CONTAINER_HOST", takesRoute},
	{"BUILDKIT_HOST", takesRoute},
	{"DBUS_*", takesRoute},
	{"DEBUGINFOD_URLS", takesRoute},
	{"HOSTALIASES", takesRoute},
	{"LOCALDOMAIN", takesRoute},
	{"RES_OPTIONS", takesRoute},

	{"WARDER_*", takesOwn},
}

// proxySuffix ends the names of variables that say through whom to speak. They are read in either case.
const proxySuffix = "_PROXY"

// TakenFromAny says what programs take from a variable of that name in any spelling. On some systems programs read all of them as the
// same variable, and what becomes a variable of an item's or a field's name one day is in capitals, with "_" for whatever a variable
// can't have in its name.
func TakenFromAny(name string) Takes {
	for _, spelled := range [...]string{AsVariable(name), AsVariable(vault.PlainLetters(name))} {
		words := strings.FieldsFunc(spelled, func(c rune) bool { return c == '_' })
		for _, n := range [...]string{spelled, strings.Join(words, "_")} {
			if kind := TakenFrom(n); kind != "" {
				return kind
			}
		}
	}
	return ""
}

// AsVariable is a name as a variable's: capitals, digits and "_". Letters that have an ASCII one as another case of them, such as the
// long s, the Kelvin sign and both Turkish i, count as that.
func AsVariable(name string) string {
	return strings.Map(func(c rune) rune {
		switch c = asASCII(c); {
		case 'a' <= c && c <= 'z':
			return c - 'a' + 'A'
		case 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			return c
		}
		return '_'
	}, name)
}

// asASCII is the ASCII character that any change of case makes of another one. The dotless i and the dotted I are no other case of an i
// to SimpleFold, and yet ToUpper and ToLower make one of them, as does the fold under which names are unique.
func asASCII(c rune) rune {
	for other := unicode.SimpleFold(c); c >= utf8.RuneSelf && other != c; other = unicode.SimpleFold(other) {
		if other < utf8.RuneSelf {
			return other
		}
	}
	for _, other := range [...]rune{unicode.ToUpper(c), unicode.ToLower(c)} {
		if other < utf8.RuneSelf {
			return other
		}
	}
	return c
}

// TakenFrom says what programs take from a variable of exactly that name.
func TakenFrom(name string) Takes {
	if strings.HasSuffix(strings.ToUpper(name), proxySuffix) {
		return takesRoute
	}
	for _, known := range codeNames {
		prefix, suffix, open := strings.Cut(known.name, "*")
		rest, begins := strings.CutPrefix(name, prefix)
		if name == known.name || open && begins && strings.HasSuffix(rest, suffix) {
			return known.from
		}
	}
	return ""
}

// From is a sentence about a variable.
func (t Takes) From(name string) string { return fmt.Sprintf("programs take %s from %s", t, name) }

// maxVariable is the longest name of a variable: as of every field, and of every key of an env file.
const maxVariable = 128

// IsName says whether a name can stand in an env file: letters, digits, "_", "." and "-", beginning with none of the last two.
func IsName(name string) bool {
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

// IsVariable says whether programs can have a variable of that name: letters, digits and "_", not beginning with a digit.
func IsVariable(name string) bool {
	return IsName(name) && !strings.ContainsAny(name, ".-") && (name[0] < '0' || name[0] > '9')
}

// LikelyVariable is what an item's value is likely to be called: github-token is GITHUB_TOKEN.
func LikelyVariable(item string) string {
	name := AsVariable(item)
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}
