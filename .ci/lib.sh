# Shared by the steps: headings with times, failures, and what has to be there.

scratch=$(mktemp -d "${TMPDIR:-/tmp}/warder-ci.XXXXXX")
trap 'chmod -R u+w "$scratch" && rm -rf "$scratch"' EXIT

started=0
times=()

# begin STEP prints a heading, and before the last of all steps, whose summary
# closes the output, the times of the others.
begin() {
	current=$1
	if [[ $current == test && ${#times[@]} -gt 0 ]]; then
		printf '\n== times\n'
		printf '%s\n' "${times[@]}"
	fi
	printf '\n== %s\n' "$current"
	started=$SECONDS
}

# end notes how long the step took.
end() {
	times+=("$(printf '%5d s  %s' $((SECONDS - started)) "$current")")
}

# say prints what a step is doing.
say() {
	printf -- '-- %s\n' "$*"
}

# fail ends the run.
fail() {
	printf 'FAIL: %s\n' "$*" >&2
	exit 1
}

# need COMMAND PACKAGE… installs Debian packages for a command that is missing.
need() {
	local command=$1
	shift
	if command -v "$command" >/dev/null; then
		return
	fi
	if ((EUID != 0)) || ! command -v apt-get >/dev/null; then
		fail "$command is missing; install $*"
	fi
	say "installing $*"
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
}

# want COMMAND PACKAGE installs a Debian package that lets more tests run, where
# that can be done; elsewhere those tests are skipped and say so.
want() {
	if ((EUID == 0)) && command -v apt-get >/dev/null; then
		need "$@"
	fi
}

# go_tool MODULE VERSION PACKAGE puts the path of a Go tool into $tool. The tool
# is built from source unless this version of it is there already.
go_tool() {
	local module=$1 version=$2 package=$3
	local bin=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/warder-ci
	tool=$bin/$(basename "$package")
	if go version -m "$tool" 2>/dev/null | grep -qE "^[[:space:]]+mod[[:space:]]+$module[[:space:]]+$version([[:space:]]|\$)"; then
		return
	fi
	say "installing $package $version"
	GOBIN=$bin GOFLAGS='' go install "$package@$version"
}

# copy_tree DIRECTORY copies the tree without its history.
copy_tree() {
	mkdir -p "$1"
	tar --exclude=./.git -cf - . | tar -xf - -C "$1"
}
