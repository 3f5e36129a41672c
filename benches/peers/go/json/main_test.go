package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"strings"
	"testing"

	"github.com/bytedance/sonic"

	"peers/payload"
)

// TestSonicIsNative makes sure that the rows measure the native code and not its fallback to the standard library.
func TestSonicIsNative(t *testing.T) {
	if sonic.APIKind != sonic.UseSonicJSON {
		t.Fatalf("sonic runs as %v on this machine", sonic.APIKind)
	}
}

// TestDocumentsAreThoseOfTheRustSuite compares checksums that the Rust suite holds as well.
func TestDocumentsAreThoseOfTheRustSuite(t *testing.T) {
	for kind, expected := range map[string]string{"twitter": "49c0f407c1d0767b", "citm": "2f4b27589b8d58da", "canada": "92de37c166e5fb45"} {
		sum := fnv.New64a()
		io.Copy(sum, strings.NewReader(payload.Documents[kind](100<<10)))
		if found := fmt.Sprintf("%016x", sum.Sum64()); found != expected {
			t.Errorf("%s: %s, expected %s", kind, found, expected)
		}
	}
}
