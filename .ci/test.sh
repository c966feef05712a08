# Steps that run the tests.

# step_test runs the suite as whoever runs this, and closes the output with its
# counts.
step_test() {
	want_shells
	say "as uid $EUID, without cgo"
	verbose_tests test go test -v -timeout 20m -count=1 -shuffle=on ./...
}

# want_shells provides the shells that exported variables are sourced in.
want_shells() {
	local shell
	for shell in busybox dash mksh zsh; do
		want "$shell" "$shell"
	done
}

step_race() {
	need gcc gcc libc6-dev
	# What takes long and happens in one goroutine is left to the other runs, and of the tables of crashes and attacks a
	# sample is tried: the detector makes these ten times as slow and finds nothing in them.
	CGO_ENABLED=1 go test -race -short -timeout 20m -count=1 -shuffle=on ./...
}

# step_user runs the suite once more as an ordinary user: root passes every
# permission check. The tests are compiled by root and run in a copy of the
# tree, since that user can enter neither the checkout nor go's caches; vendored
# modules let "go list" work there. It runs all packages, and -short: the long
# form of the crash and attack tables, which judges no owner, is for "test".
step_user() {
	if ((EUID != 0)); then
		say "already an ordinary user, uid $EUID: the step \"test\" is this run"
		return
	fi
	need setpriv util-linux
	want_shells
	local base=$scratch/user
	copy_tree "$base/tree"
	(cd "$base/tree" && go mod vendor)
	go build -buildvcs=false -o "$base/warder" ./cmd/warder
	mkdir "$base/home" "$base/tmp" "$base/bin"
	chown 12345:12345 "$base/home" "$base/tmp"
	chmod 755 "$scratch" "$base"
	chmod -R a+rX,go-w "$base/tree"
	say "as uid 12345"
	verbose_tests user user_tests "$base"
}

# user_tests BASE runs the tests of each package, as many packages at once as
# there are cores, and prints what each said when all are done.
user_tests() {
	local base=$1 failed=0
	export tree
	export -f user_test as_user
	go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{"\t"}}{{.Dir}}{{end}}' ./... |
		xargs -r -d '\n' -n 1 -P "$(nproc)" bash -c 'user_test "$@"' user_test "$base" || failed=1
	cat "$base"/bin/*.log
	return $failed
}

# user_test BASE PACKAGE<tab>DIRECTORY compiles and runs the tests of one package.
user_test() {
	local base=$1 package=${2%%$'\t'*} dir=${2#*$'\t'}
	local binary=$base/bin/${package//\//-}
	if go test -c -o "$binary.test" "$package" >"$binary.log" 2>&1 &&
		as_user "$base" "$base/tree/${dir#"$tree"}" "$binary.test" -test.v -test.short -test.shuffle=on -test.timeout=20m -test.paniconexit0 >>"$binary.log" 2>&1; then
		printf 'ok  \t%s\n' "$package" >>"$binary.log"
		return
	fi
	printf 'FAIL\t%s\n' "$package" >>"$binary.log"
	return 1
}

# as_user BASE DIRECTORY COMMAND… runs a command as the ordinary user, with an
# environment of its own.
as_user() {
	local base=$1 dir=$2
	shift 2
	(cd "$dir" && setpriv --reuid 12345 --regid 12345 --clear-groups --inh-caps=-all \
		env -i PATH="$PATH" HOME="$base/home" TMPDIR="$base/tmp" LANG=C.UTF-8 CI="${CI:-}" \
		GOFLAGS="${GOFLAGS:-}" GOTOOLCHAIN=local GOPROXY=off WARDER_TEST_BINARY="$base/warder" "$@")
}

# verbose_tests NAME COMMAND… runs verbose tests and reports on them.
verbose_tests() {
	local log=$scratch/$1.log status=0
	shift
	"$@" >"$log" 2>&1 </dev/null || status=$?
	awk -f "$ci/report.awk" "$log" || status=1
	return $status
}

# step_fuzz runs each fuzz target for a moment. The list comes from the packages:
# "go test -fuzz" is content to run nothing. Each package is built once, with
# what fuzzing needs, and not once for each target.
step_fuzz() {
	local package dir name binary=$scratch/fuzz.test count=0
	while read -r package dir; do
		if ! grep -qs '^func Fuzz' "$dir"/*_test.go; then
			continue
		fi
		go test -c -fuzz=. -o "$binary" "$package"
		for name in $(cd "$dir" && "$binary" -test.list='^Fuzz'); do
			fuzz_one "$package" "$dir" "$name"
			count=$((count + 1))
		done
	done < <(go list -f '{{.ImportPath}} {{.Dir}}' ./...)
	if ((count == 0)); then
		fail "no fuzz target in any package"
	fi
	say "$count targets"
}

# fuzz_one PACKAGE DIRECTORY TARGET fuzzes and wants to see that inputs were
# tried. It counts inputs and not seconds: Go before 1.27 now and then reports the
# end of a time as a failure (go.dev/issue/75804), and a loaded machine may spend
# it all on the seeds. It begins with the committed seeds alone, every time.
fuzz_one() {
	local package=$1 dir=$2 target=$3
	local log=$scratch/fuzz.log execs
	if ! (cd "$dir" && timeout -k 10 10m "$scratch/fuzz.test" -test.run='^$' -test.fuzz="^$target\$" -test.fuzztime="${FUZZTIME:-5000x}" \
		-test.fuzzminimizetime=100x -test.parallel=2 -test.fuzzcachedir="$scratch/corpus/$package") >"$log" 2>&1; then
		cat "$log"
		fail "$target of $package"
	fi
	execs=$(sed -n 's/^fuzz: elapsed: .*execs: \([0-9]*\).*/\1/p' "$log" | tail -1)
	if ((${execs:-0} == 0)); then
		cat "$log"
		fail "$target of $package tried no input"
	fi
	say "$package $target: $(sed -n 's/^fuzz: elapsed: \([0-9a-z.]*\), execs.*/\1/p' "$log" | tail -1), $execs inputs"
}
