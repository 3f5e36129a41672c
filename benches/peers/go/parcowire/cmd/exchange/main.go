// Exchange trades messages of the parco format with another implementation, through lines of JSON.
//
//	exchange generate SEED SCHEMAS MESSAGES
//
// writes so many random schemas and then so many random messages of them to standard output, the same for a seed:
//
//	{"schema": SCHEMA}
//	{"schema_index": INDEX, "value": VALUE, "hex": BYTES}
//
// INDEX counts the schemas from zero; schemas and values are in the language of the vector file, and BYTES is the
// message in hexadecimal digits. Integers of 64 bits, times, and headers that do not fit into 32 bits are text.
// Schemas nest four levels deep and have, from about twenty of them on, every type of the language in both byte
// orders. An option and a skip are a field or stand alone, a multi stands alone. Text is UTF-8, blobs are any bytes,
// floats are any bits, zones are names of the IANA database, and the keys of a map are all different.
//
//	exchange verify
//
// reads such lines from standard input; a message may also have its schema in place of the index:
//
//	{"schema": SCHEMA, "value": VALUE, "hex": BYTES}
//
// A message passes when BYTES is decoded as VALUE with nothing left over, and VALUE is encoded as BYTES. Values
// compare as values: it does not matter whether an integer is a number or text, or how a float is spelled beside its
// bits. Maps have the order of the wire. At the end it prints
//
//	N passed, N failed
//
// and tells on standard error what failed, by line. The status is 0 when all passed and there was at least one, 1
// otherwise, and 2 for wrong arguments.
//
// So an implementation is held to this one in both directions: it decodes what generate writes, encodes it again and
// hands its own value and bytes to verify; and it hands random messages of its own to verify.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"peers/parcowire"
)

const usage = "usage: exchange generate SEED SCHEMAS MESSAGES\n       exchange verify\n"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command with its surroundings, and gives its status.
func run(arguments []string, in io.Reader, out, complaints io.Writer) int {
	if len(arguments) == 1 && arguments[0] == "verify" {
		return verify(in, out, complaints)
	}
	if len(arguments) != 4 || arguments[0] != "generate" {
		fmt.Fprint(complaints, usage)
		return 2
	}
	seed, err := strconv.ParseUint(arguments[1], 10, 64)
	schemas, errSchemas := strconv.ParseUint(arguments[2], 10, 16)
	messages, errMessages := strconv.ParseUint(arguments[3], 10, 24)
	if err != nil || errSchemas != nil || errMessages != nil || schemas == 0 {
		fmt.Fprint(complaints, usage)
		return 2
	}
	if err := generate(seed, int(schemas), int(messages), out); err != nil {
		fmt.Fprintln(complaints, err)
		return 1
	}
	return 0
}

type schemaLine struct {
	Schema *parcowire.Schema `json:"schema"`
}

type messageLine struct {
	SchemaIndex int             `json:"schema_index"`
	Value       json.RawMessage `json:"value"`
	Hex         string          `json:"hex"`
}

func generate(seed uint64, schemas, messages int, out io.Writer) error {
	buffered := bufio.NewWriter(out)
	lines := json.NewEncoder(buffered)
	lines.SetEscapeHTML(false)
	random := newGenerator(seed)
	list := make([]*parcowire.Schema, schemas)
	for index := range list {
		list[index] = random.message(index)
		if err := lines.Encode(schemaLine{list[index]}); err != nil {
			return err
		}
	}
	for message := range messages {
		index := message % schemas
		value := random.value(list[index])
		encoded, err := list[index].Encode(value)
		if err != nil {
			return err
		}
		written, err := list[index].WriteValue(value)
		if err != nil {
			return err
		}
		if err := lines.Encode(messageLine{index, written, hex.EncodeToString(encoded)}); err != nil {
			return err
		}
	}
	return buffered.Flush()
}
