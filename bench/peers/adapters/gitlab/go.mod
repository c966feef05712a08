module gitlab.com/gitlab-org/gitlab-runner/common/buildlogger/warderbench

go 1.26.5

require gitlab.com/gitlab-org/gitlab-runner v1.11.1-0.20260903214710-fc1f1862bd91
