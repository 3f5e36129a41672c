// Reads one value per line, in the notation of tests/it/go_compat.rs, and writes its encoding by encoding/json. Floats
// are read as bits and strings as hexadecimal bytes, so that no JSON decoder is involved.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func text(word string) string { return string(must(hex.DecodeString(word))) }

// parse builds the value at the start of words and returns the remaining words.
func parse(words []string) (any, []string) {
	kind, rest := words[0], words[1:]
	switch kind {
	case "n":
		return nil, rest
	case "t":
		return true, rest
	case "f":
		return false, rest
	case "i":
		return must(strconv.ParseInt(rest[0], 10, 64)), rest[1:]
	case "u":
		return must(strconv.ParseUint(rest[0], 10, 64)), rest[1:]
	case "d":
		return math.Float64frombits(must(strconv.ParseUint(rest[0], 16, 64))), rest[1:]
	case "e":
		return math.Float32frombits(uint32(must(strconv.ParseUint(rest[0], 16, 32)))), rest[1:]
	case "s":
		return text(rest[0]), rest[1:]
	case "b":
		return must(hex.DecodeString(rest[0])), rest[1:]
	case "r":
		return json.RawMessage(text(rest[0])), rest[1:]
	case "a":
		count := must(strconv.Atoi(rest[0]))
		rest = rest[1:]
		values := make([]any, count)
		for index := range values {
			values[index], rest = parse(rest)
		}
		return values, rest
	case "m":
		count := must(strconv.Atoi(rest[0]))
		rest = rest[1:]
		values := make(map[string]any, count)
		for range count {
			key := text(rest[0])
			values[key], rest = parse(rest[1:])
		}
		return values, rest
	}
	fmt.Fprintln(os.Stderr, "unknown kind", kind)
	os.Exit(1)
	return nil, nil
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		value, _ := parse(strings.Split(in.Text(), " "))
		out.Write(must(json.Marshal(value)))
		out.WriteByte('\n')
	}
}
