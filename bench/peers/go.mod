module warder/bench/peers

go 1.26.5

require (
	github.com/BobuSumisu/aho-corasick v1.0.3
	github.com/buildkite/agent/v3/warderbench v0.0.0
	github.com/coregx/ahocorasick v0.3.1
	github.com/harness/lite-engine v0.0.2-0.20220223100350-d462b20d1a43
	github.com/petar-dambovaliev/aho-corasick v0.0.0-20250424160509-463d218d4745
	gitlab.com/gitlab-org/gitlab-runner/common/buildlogger/warderbench v0.0.0
	warder v0.0.0
)

require (
	github.com/buildkite/agent/v3 v3.138.0 // indirect
	gitlab.com/gitlab-org/gitlab-runner v1.11.1-0.20260903214710-fc1f1862bd91 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace (
	github.com/buildkite/agent/v3/warderbench => ./adapters/buildkite
	gitlab.com/gitlab-org/gitlab-runner/common/buildlogger/warderbench => ./adapters/gitlab
	warder => ../..
)
