package warder_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// importRules judge what packages import.
func importRules() []rule {
	return []rule{{
		name:  "packages import only what the table allows",
		check: forbiddenImports,
		bad: map[string]tree{
			"upwards":          {"internal/seal/a.go": importing("seal", "warder/internal/vault")},
			"not in its row":   {"internal/secret/a.go": importing("secret", "warder/internal/state")},
			"the composition":  {"internal/daemon/a.go": importing("daemon", "warder/internal/cli")},
			"a capability":     {"internal/files/a.go": importing("files", "warder/internal/memory")},
			"unlisted module":  {"internal/policy/a.go": importing("policy", "golang.org/x/crypto/argon2")},
			"test module":      {"internal/seal/a.go": importing("seal", "github.com/google/go-cmp/cmp")},
			"module of a name": {"internal/seal/a.go": importing("seal", "golang.org/x/cryptofoo")},
			"testkit":          {"internal/seal/a.go": importing("seal", "warder/internal/testkit")},
			"in a test":        {"internal/seal/a_test.go": importing("seal_test", "warder/internal/vault")},
			"test, no module":  {"internal/seal/a_test.go": importing("seal_test", "github.com/stretchr/testify/assert")},
			"dotenv":           {"internal/gate/a.go": importing("gate", "warder/internal/dotenv")},
			"under a blank":    {"internal/policy/a.go": "package policy\nimport _ \"warder/internal/seal\"\n"},
		},
		good: map[string]tree{
			"in its row":     {"internal/vault/a.go": importing("vault", "warder/internal/seal")},
			"composition":    {"internal/daemon/a.go": importing("daemon", "warder/internal/egress")},
			"its modules":    {"internal/seal/a.go": importing("seal", "golang.org/x/crypto/argon2")},
			"standard":       {"internal/policy/a.go": importing("policy", "strings")},
			"its own tests":  {"internal/seal/a_test.go": importing("seal_test", "warder/internal/seal")},
			"tests, reached": {"internal/vault/a_test.go": importing("vault_test", "warder/internal/platform")},
			"tests, testkit": {"internal/seal/a_test.go": importing("seal_test", "warder/internal/testkit")},
			"tests, module":  {"internal/seal/a_test.go": importing("seal_test", "github.com/google/go-cmp/cmp")},
		},
	}, {
		name:  "tests that stand alone share no code with what they check",
		check: dependentReaders,
		bad: map[string]tree{
			"seal":     {"internal/vault/second/a_test.go": importing("second_test", "warder/internal/seal")},
			"relative": {"internal/vault/second/a_test.go": importing("second_test", "warder/internal/vault")},
		},
		good: map[string]tree{
			"testkit": {"internal/vault/second/a_test.go": importing("second_test", "warder/internal/testkit")},
			"crypto":  {"internal/vault/second/a_test.go": importing("second_test", "golang.org/x/crypto/argon2")},
		},
	}, {
		name:  "special packages of the standard library stay where they belong",
		check: strayStandard,
		bad: map[string]tree{
			"a cipher":            {"internal/vault/a.go": importing("vault", "crypto/aes")},
			"a MAC":               {"internal/state/a.go": importing("state", "crypto/hmac")},
			"a broken hash":       {"internal/seal/a.go": importing("seal", "crypto/md5")},
			"TLS":                 {"internal/cli/a.go": importing("cli", "crypto/tls")},
			"a process":           {"internal/vault/a.go": importing("vault", "os/exec")},
			"plugins":             {"internal/daemon/a.go": importing("daemon", "plugin")},
			"unsafe":              {"internal/secret/a.go": importing("secret", "unsafe")},
			"C":                   {"internal/platform/a.go": importing("platform", "C")},
			"testing":             {"internal/vault/a.go": importing("vault", "testing")},
			"testing's packages":  {"internal/vault/a.go": importing("vault", "testing/fstest")},
			"guessable numbers":   {"internal/seal/a.go": importing("seal", "math/rand/v2")},
			"system calls":        {"internal/state/a.go": importing("state", "syscall")},
			"the old log":         {"internal/daemon/a.go": importing("daemon", "log")},
			"unsafe in a test":    {"internal/seal/a_test.go": importing("seal_test", "unsafe")},
			"C below a test":      {"internal/seal/a_test.go": importing("seal_test", "C")},
			"profiles by default": {"internal/daemon/a.go": importing("daemon", "net/http/pprof")},
		},
		good: map[string]tree{
			"hashes":      {"internal/vault/a.go": importing("vault", "crypto/sha256")},
			"random ids":  {"internal/gate/a.go": importing("gate", "crypto/rand")},
			"a cipher":    {"internal/seal/a.go": importing("seal", "crypto/aes")},
			"comparing":   {"internal/secret/a.go": importing("secret", "crypto/subtle")},
			"TLS":         {"internal/egress/a.go": importing("egress", "crypto/tls")},
			"a process":   {"internal/proc/a.go": importing("proc", "os/exec")},
			"unsafe":      {"internal/platform/a.go": importing("platform", "unsafe")},
			"in tests":    {"internal/vault/a_test.go": importing("vault_test", "os/exec")},
			"test crypto": {"internal/vault/a_test.go": importing("vault_test", "crypto/aes")},
		},
	}, {
		name:  "the vault is imported by its keepers alone",
		check: strayVault,
		bad: map[string]tree{
			"gate": {"internal/gate/a.go": importing("gate", "warder/internal/vault")},
			"cli":  {"internal/cli/a.go": importing("cli", "warder/internal/vault")},
			"test": {"internal/gate/a_test.go": importing("gate_test", "warder/internal/vault")},
		},
		good: map[string]tree{
			"credential": {"internal/credential/a.go": importing("credential", "warder/internal/vault")},
			"daemon":     {"internal/daemon/a.go": importing("daemon", "warder/internal/vault")},
			"bench":      {"bench/main.go": importing("main", "warder/internal/vault")},
			"its tests":  {"internal/vault/a_test.go": importing("vault_test", "warder/internal/vault")},
		},
	}}
}

// importing is the text of a file with one import.
func importing(name, imported string) string {
	return "package " + name + "\n\nimport x \"" + imported + "\"\n"
}

// forbiddenImports compares the imports with the table. Tests may also import
// what their package reaches, the test kit and the modules for tests.
func forbiddenImports(m *model) []string {
	return eachImport(m, func(p *pkg, f *goFile, imported string) string {
		if _, known := packageTable[p.name()]; !known || allowedImport(p, f.test, imported) {
			return "" // what has no row is judged by other rules
		}
		return fmt.Sprintf("%s may not import %s", p.name(), imported)
	})
}

// allowedImport reports whether one import agrees with the table.
func allowedImport(p *pkg, test bool, imported string) bool {
	if own, ok := strings.CutPrefix(imported, moduleRoot); ok {
		name := strings.TrimPrefix(own, "internal/")
		if test && (name == p.name() || name == "testkit" || packageTable.reach(p.name())[name]) {
			return true
		}
		return packageTable.mayImport(p.name(), name)
	}
	if !strings.Contains(strings.Split(imported, "/")[0], ".") {
		return true // the standard library, judged by strayStandard
	}
	return inModules(packageTable[p.name()].modules, imported) || test && inModules(packageTable.testModules(), imported)
}

// testModules are all modules that a test may import.
func (t table) testModules() []string {
	modules := slices.Clone(testModules)
	for _, r := range t {
		modules = append(modules, r.modules...)
	}
	return slices.DeleteFunc(modules, func(module string) bool { return module == anything })
}

// inModules reports whether a package belongs to one of the modules.
func inModules(modules []string, imported string) bool {
	return slices.ContainsFunc(modules, func(module string) bool {
		return module == anything || imported == module || strings.HasPrefix(imported, module+"/")
	})
}

// dependentReaders finds folders of tests alone, such as a second reader of a
// format, that import what they are to check.
func dependentReaders(m *model) []string {
	return eachImport(m, func(p *pkg, _ *goFile, imported string) string {
		_, known := packageTable[p.name()]
		alone := p.testOnly() && p.path != "." && !known
		if !alone || !strings.HasPrefix(imported, moduleRoot) || imported == moduleRoot+"internal/testkit" {
			return ""
		}
		return fmt.Sprintf("imports %s, which it is to check", imported)
	})
}

// home says who may import a package of the standard library.
type home struct {
	packages []string // by their name in the package table
	tests    bool     // and any test
	why      string
}

// anywhere is the home of what a restricted parent would forbid.
var anywhere = []string{anything}

// homes restricts packages of the standard library, each with what lies below
// it unless that has a row of its own.
var homes = map[string]home{
	"crypto":         {[]string{"seal", "vault/f1reader"}, true, "the only home of cryptographic primitives"},
	"crypto/sha256":  {anywhere, true, "content hashes and ids"},
	"crypto/rand":    {anywhere, true, "content hashes and ids"},
	"crypto/subtle":  {[]string{"seal", "secret"}, true, "secret compares in constant time"},
	"crypto/tls":     {[]string{"credential", "egress", "relay"}, true, "they speak TLS"},
	"crypto/x509":    {[]string{"credential", "egress", "relay"}, true, "they speak TLS"},
	"crypto/md5":     {nil, false, "broken"},
	"crypto/sha1":    {nil, false, "broken"},
	"crypto/des":     {nil, false, "broken"},
	"crypto/rc4":     {nil, false, "broken"},
	"os/exec":        {[]string{"proc", "platform", "testkit", "e2e/person", "bench"}, true, "processes are started where they are also ended"},
	"plugin":         {nil, false, "no code from outside the executable"},
	"unsafe":         {[]string{"platform"}, false, "every difference of systems in one place"},
	"syscall":        {[]string{"platform", "proc", "bench"}, true, "every difference of systems in one place"},
	"C":              {nil, false, "builds are without cgo"},
	"testing":        {[]string{"testkit", "e2e/person", "bench"}, true, "no test code in the executable"},
	"math/rand":      {[]string{"bench"}, true, "a guessable number must not become a secret"},
	"log":            {nil, false, "log/slog, injected"},
	"log/slog":       {anywhere, true, "the logger"},
	"net/http/pprof": {nil, false, "adds itself to the default server"},
	"expvar":         {nil, false, "adds itself to the default server"},
}

// homeOf returns the row of the package or of the nearest one above it.
func homeOf(imported string) (h home, restricted bool) {
	for ; imported != "."; imported = path.Dir(imported) {
		if h, restricted = homes[imported]; restricted {
			return h, true
		}
	}
	return home{}, false
}

// strayStandard finds imports of the standard library away from their home.
func strayStandard(m *model) []string {
	return eachImport(m, func(p *pkg, f *goFile, imported string) string {
		h, restricted := homeOf(imported)
		if !restricted || h.tests && f.test || slices.Contains(h.packages, anything) || slices.Contains(h.packages, p.name()) {
			return ""
		}
		return fmt.Sprintf("%s may not import %s: %s", p.name(), imported, h.why)
	})
}

// strayVault finds imports of vault where no value is anyone's business.
func strayVault(m *model) []string {
	keepers := []string{"vault", "credential", "daemon", "bench", "e2e"}
	return eachImport(m, func(p *pkg, _ *goFile, imported string) string {
		if imported != moduleRoot+"internal/vault" || slices.Contains(keepers, p.name()) {
			return ""
		}
		return "only " + strings.Join(keepers, ", ") + " may import the vault"
	})
}

// eachImport collects what judge says about the imports of all files.
func eachImport(m *model, judge func(p *pkg, f *goFile, imported string) string) []string {
	var findings []string
	for _, p := range m.packages {
		for _, f := range p.files {
			for imported, pos := range f.importPaths() {
				if finding := judge(p, f, imported); finding != "" {
					findings = append(findings, f.at(pos, "%s", finding))
				}
			}
		}
	}
	return findings
}
