module peers

go 1.26

tool github.com/mailru/easyjson/easyjson

require (
	github.com/bytedance/sonic v1.15.5
	github.com/go-json-experiment/json v1.27.2
	github.com/goccy/go-json v0.12.0
	github.com/google/uuid v1.6.0
	github.com/json-iterator/go v1.1.12
	github.com/launchdarkly/eventsource v1.11.0
	github.com/mailru/easyjson v0.9.2
	github.com/smnsjas/go-psrpcore v0.0.0-20260211164949-dace42c5b6a8
	github.com/tmaxmax/go-sse v0.11.0
	github.com/vmihailenco/msgpack/v5 v5.3.5
)

require (
	github.com/bytedance/gopkg v0.1.3 // indirect
	github.com/bytedance/sonic/loader v0.5.3 // indirect
	github.com/cloudwego/base64x v0.1.6 // indirect
	github.com/josharian/intern v1.0.0 // indirect
	github.com/klauspost/cpuid/v2 v2.2.9 // indirect
	github.com/modern-go/concurrent v0.0.0-20180228061459-e0a39a4cb421 // indirect
	github.com/modern-go/reflect2 v1.0.2 // indirect
	github.com/twitchyliquid64/golang-asm v0.15.1 // indirect
	github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
	golang.org/x/arch v0.0.0-20210923205945-b76863e36670 // indirect
	golang.org/x/sys v0.22.0 // indirect
)
