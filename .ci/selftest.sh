# A gate that can't fail is no gate: each is run over a small module that breaks
# it, and once over one that does not.

step_selftest() {
	local gate
	for gate in format vet lint modules fuzz test; do
		plant clean
		gate_passes "$gate"
	done

	plant unformatted "package planted

func  f() {}"
	gate_fails format 'gofumpt would change'

	plant vet 'package planted

import "fmt"

// F prints wrongly.
func F() error { return fmt.Errorf("%d", "text") }'
	gate_fails vet 'wrong type'

	plant vet-elsewhere '//go:build windows

package planted

// F does not compile on one system.
func F() { undefined() }'
	gate_fails vet 'undefined'

	plant lint 'package planted

import "os"

// F hides an error without a reason.
func F() {
	os.Remove("x") //nolint
}'
	gate_fails lint 'nolintlint'

	plant comment 'package planted

func F() {}'
	gate_fails lint 'exported function F should have comment'

	plant print 'package planted

import "fmt"

// F prints past its Env.
func F() { fmt.Println() }'
	gate_fails lint 'forbidigo'

	plant untidy
	printf '\nrequire github.com/spf13/cobra v1.10.2\n' >>"$planted/go.mod"
	gate_fails modules '^-require github.com/spf13/cobra'

	plant no-targets
	rm "$planted/fuzz_test.go"
	gate_fails fuzz 'no fuzz target'

	plant crash
	sed -i 's/f.Fuzz.*/f.Fuzz(func(t *testing.T, b []byte) { if len(b) > 0 { t.Fatal("found") } })/' "$planted/fuzz_test.go"
	gate_fails fuzz 'FuzzF of planted'

	plant failing-test
	printf 'package planted\n\nimport "testing"\n\nfunc TestF(t *testing.T) { t.Fatal("broken") }\n' >"$planted/f_test.go"
	gate_fails test '1 failed'

	plant no-test
	rm "$planted"/*_test.go
	gate_fails test 'no test ran'

	plant broken-build
	printf 'package planted\n\nfunc TestF(\n' >"$planted/f_test.go"
	gate_fails test '1 failed'

	printf a >"$scratch/one"
	printf b >"$scratch/two"
	if (same_bytes "$scratch/one" "$scratch/two") >/dev/null 2>&1; then
		fail "the comparison of builds can't fail"
	fi
	say "reproducible fails on different builds"
}

# plant NAME [CODE] makes the module $planted with one more file of code.
plant() {
	planted=$scratch/planted-$1
	rm -rf "$planted"
	mkdir "$planted"
	cp "$tree/.golangci.yml" "$planted"
	printf 'module planted\n\ngo 1.26\n' >"$planted/go.mod"
	printf '// Package planted is for a gate to judge.\npackage planted\n' >"$planted/doc.go"
	printf 'package planted\n\nimport "testing"\n\nfunc TestF(t *testing.T) { t.Log() }\n' >"$planted/f_test.go"
	printf 'package planted\n\nimport "testing"\n\nfunc FuzzF(f *testing.F) {\n\tf.Fuzz(func(*testing.T, []byte) {})\n}\n' >"$planted/fuzz_test.go"
	if (($# > 1)); then
		printf '%s\n' "$2" >"$planted/code.go"
	fi
}

# gate runs one step over the planted module, as a process of its own: in a
# condition bash would not stop at errors.
gate() {
	CI_TREE=$planted FUZZTIME=10x GOFLAGS=-mod=mod bash "$ci/run" "$1" >"$scratch/gate.log" 2>&1 </dev/null
}

# gate_passes STEP wants success.
gate_passes() {
	if ! gate "$1"; then
		cat "$scratch/gate.log"
		fail "$1 fails on a module without faults"
	fi
}

# gate_fails STEP TEXT wants a failure for the planted reason.
gate_fails() {
	if gate "$1"; then
		fail "$1 passes on $(basename "$planted")"
	fi
	if ! grep -q "$2" "$scratch/gate.log"; then
		cat "$scratch/gate.log"
		fail "$1 fails on $(basename "$planted"), but not with \"$2\""
	fi
	say "$1 fails on $(basename "$planted")"
}
