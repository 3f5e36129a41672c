module peers

go 1.26

require (
	github.com/launchdarkly/eventsource v1.11.0
	github.com/tmaxmax/go-sse v0.11.0
)
