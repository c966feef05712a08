package daemon

import "strings"

// codeNames are the variables that programs, their loaders and interpreters take code or trust from, or the place to look for
// either. One with a star is the beginning of names.
var codeNames = [...]string{
	"LD_*", "DYLD_*", "GCONV_PATH", "LOCPATH", // loaders and the C library
	"BASH_ENV", "ENV", "BASH_FUNC_*", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "CDPATH", "ZDOTDIR", // shells
	"PATH", "HOME", "SHELL", "EDITOR", "VISUAL", "PAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", // what is run, and where its settings are
	"NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", //nolint:misspell // its name
	"PYTHON*", "PERL5*", "PERLLIB", "RUBY*", "GEM_HOME", "GEM_PATH", "PHPRC", "PHP_INI_SCAN_DIR", "LUA_PATH", "LUA_CPATH",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "MAVEN_OPTS", "GRADLE_OPTS",
	"GIT_*", "GOFLAGS", "RUSTC_WRAPPER", "RUSTFLAGS", "MAKEFLAGS",
	"SSL_CERT_*", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "AWS_CA_BUNDLE", // whom to trust
	"WARDER_*",
}

// proxySuffix ends the names of variables that say through whom to speak. They are read in either case.
const proxySuffix = "_PROXY"

// unsafeFor says whether a name takes code for who asks. An agent gets no spelling of one: on some systems programs read all
// spellings as the same variable, and what an item's name becomes one day is a variable in capitals.
func unsafeFor(l *lookup, name string) bool {
	if !l.isPerson() {
		name = strings.ToUpper(name)
	}
	return takesCode(name)
}

// takesCode says whether programs take code or trust from a variable of that name.
func takesCode(name string) bool {
	if strings.HasSuffix(strings.ToUpper(name), proxySuffix) {
		return true
	}
	for _, known := range codeNames {
		prefix, open := strings.CutSuffix(known, "*")
		if name == known || open && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

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
