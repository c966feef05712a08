module github.com/buildkite/agent/v3/warderbench

go 1.26

require github.com/buildkite/agent/v3 v3.138.0
