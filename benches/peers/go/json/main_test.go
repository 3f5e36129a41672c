package main

import (
	"testing"

	"github.com/bytedance/sonic"
)

// TestSonicIsNative makes sure that the rows measure the native code and not its fallback to the standard library.
func TestSonicIsNative(t *testing.T) {
	if sonic.APIKind != sonic.UseSonicJSON {
		t.Fatalf("sonic runs as %v on this machine", sonic.APIKind)
	}
}
