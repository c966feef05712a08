# Steps that read and build the tree without running it.

step_format() {
	go_tool mvdan.cc/gofumpt v0.12.0 mvdan.cc/gofumpt
	local unformatted
	unformatted=$("$tool" -l .)
	if [[ -n $unformatted ]]; then
		fail "gofumpt would change:"$'\n'"$unformatted"
	fi
	local script
	for script in .ci/run .ci/*.sh; do
		if [[ -f $script ]]; then
			bash -n "$script"
		fi
	done
}

step_vet() {
	local os
	for os in linux darwin windows; do
		say "$os"
		GOOS=$os go vet ./...
	done
}

step_lint() {
	go_tool github.com/golangci/golangci-lint/v2 v2.15.0 github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	"$tool" run --color=never ./...
}

step_modules() {
	go mod tidy -diff
	go mod verify
}

step_cross() {
	local target
	for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64; do
		say "$target"
		GOOS=${target%/*} GOARCH=${target#*/} go build -trimpath -o "$scratch/cross/" ./cmd/...
		GOOS=${target%/*} GOARCH=${target#*/} go build ./...
	done
}

# The same source has to give the same bytes wherever it lies. The second build
# has an empty cache, or it would be handed the first one's objects.
step_reproducible() {
	local first=$scratch/a second=$scratch/a/much/longer/way
	copy_tree "$first/src"
	copy_tree "$second/src"
	(cd "$first/src" && go build -trimpath -buildvcs=false -o "$first/warder" ./cmd/warder)
	(cd "$second/src" && GOCACHE=$second/cache go build -trimpath -buildvcs=false -o "$second/warder" ./cmd/warder)
	same_bytes "$first/warder" "$second/warder"
}

# same_bytes FILE FILE compares two builds.
same_bytes() {
	sha256sum "$@"
	cmp "$@" || fail "two builds of the same source differ"
}
