package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/smnsjas/go-psrpcore/fragments"
	"github.com/smnsjas/go-psrpcore/messages"
	"github.com/smnsjas/go-psrpcore/outofproc"
	"github.com/smnsjas/go-psrpcore/serialization"

	"peers/resident"
)

// row is one row of the suite. Its first result is looked at as a whole; the check value of a run is that of ours.
type row struct {
	name  string
	check func() error
	run   func() (int, error)
}

const (
	custom = "System.Management.Automation.PSCustomObject"
	head   = `<Objs Version="1.1.0.1" xmlns="http://schemas.microsoft.com/powershell/2004/04">`
	tail   = `</Objs>`
)

// identity is any fixed GUID.
var identity = uuid.MustParse("12345678-1234-1234-1234-123456789012")

func object(typeName string, properties map[string]any) *serialization.PSObject {
	return &serialization.PSObject{TypeNames: []string{typeName}, Properties: properties}
}

// numbered has the properties prefix0, prefix1, ... with the values Value0, Value1, ...
func numbered(prefix string, count int) *serialization.PSObject {
	properties := make(map[string]any, count)
	for i := range count {
		properties[fmt.Sprintf("%s%d", prefix, i)] = fmt.Sprintf("Value%d", i)
	}
	return object(custom, properties)
}

func small() *serialization.PSObject {
	return object("System.String", map[string]any{"Value": "test"})
}

func references() *serialization.PSObject {
	inner := object("InnerObject", map[string]any{"Inner": "value"})
	return object("OuterObject", map[string]any{"Ref1": inner, "Ref2": inner, "Ref3": inner})
}

func rows() []row {
	document, element := (*serialization.Serializer).Serialize, (*serialization.Serializer).SerializeRaw
	rows := []row{
		serialize("small_object", small(), 183, document),
		serialize("medium_object", numbered("Property", 10), 462, document),
		serialize("large_object", numbered("Property", 50), 1622, document),
		serialize("with_references", references(), 316, document),
		serialize("string", "test string value", 24, element),
		serialize("int32", int32(12345), 16, element),
		serialize("hashtable", map[string]any{"Key1": "Value1", "Key2": int32(123), "Key3": true, "Key4": []byte("data")}, 313, element),
		// It borrows the buffer.
		again("serialize_unsafe_small_object", small(), (*serialization.Serializer).SerializeUnsafe),
		// It copies the buffer, which grows document by document.
		again("serialize_ps_object", described(123), document),
		deserialize("deserialize_small_object", small(), 183),
		deserialize("deserialize_ps_object", described(int32(123)), 273),
		fragmentEncode("fragment_encode_1kb", 1024),
		fragmentDecode(),
		fragmentEncode("fragment_encode_large_32kb", 32768),
		fragmentAssemble(),
		messageEncode("message_encode", messages.DestinationServer, messages.MessageTypeCreatePipeline),
		messageDecode("message_decode", messages.DestinationServer, messages.MessageTypeCreatePipeline),
		sendData("transport_send_data_4kb", 4096),
		sendData("transport_send_data_small_256b", 256),
		sendCommand(),
		receive("transport_receive_packet_data",
			"<Data Stream='Default' PSGuid='00000000-0000-0000-0000-000000000000'>dGVzdGRhdGE=</Data>\n", []byte("testdata")),
		receive("transport_receive_packet_command", "<Command PSGuid='12345678-1234-1234-1234-123456789012' />\n", nil),
		parseLine(),
		sendDiscarded(),
		roundTrip("round_trip_small", small(), 96),
		roundTrip("round_trip_medium", numbered("Prop", 20), 585),
		transportRoundTrip(),
		wholeSession(),
		manyObjects(),
	}
	rows = append(rows, textRows()...)
	return rows
}

// serialize writes a value with a method of the serializer, which copies what it has written. length is that of our
// document: references have a space more there.
func serialize(name string, value any, length int, write func(*serialization.Serializer, any) ([]byte, error)) row {
	serializer := serialization.NewSerializer()
	run := func() ([]byte, error) {
		defer serializer.Reset()
		return write(serializer, value)
	}
	return row{
		name: "serialize_" + name,
		check: func() error {
			document, err := run()
			return reads(document, value, length, err)
		},
		run: func() (int, error) {
			document, err := run()
			return ours(document), err
		},
	}
}

// ours is the length of a document of ours that has the same contents.
func ours(document []byte) int { return len(document) + bytes.Count(document, []byte(`"/>`)) }

// again writes the same value once more. The objects seen before are kept, so that a reference is all that it writes.
func again(name string, value any, write func(*serialization.Serializer, any) ([]byte, error)) row {
	serializer := serialization.NewSerializer()
	if _, err := write(serializer, value); err != nil {
		panic(err)
	}
	return row{
		name: name,
		check: func() error {
			document, err := write(serializer, value)
			return equal(string(document), head+`<Ref RefId="0"/>`+tail, err)
		},
		run: func() (int, error) {
			document, err := write(serializer, value)
			return len(document) + 1, err
		},
	}
}

func described(number any) *serialization.PSObject {
	return &serialization.PSObject{
		TypeNames:  []string{"System.String", "System.Object"},
		Properties: map[string]any{"foo": "bar", "baz": number, "qux": true},
		ToString:   "test object",
	}
}

func deserialize(name string, value *serialization.PSObject, length int) row {
	document, err := serialization.NewSerializer().Serialize(value)
	if err != nil {
		panic(err)
	}
	deserializer := serialization.NewDeserializer()
	return row{
		name:  name,
		check: func() error { return reads(document, value, length, nil) },
		run: func() (int, error) {
			found, err := deserializer.Deserialize(document)
			return members(found), err
		},
	}
}

func fragment(length int) *fragments.Fragment {
	return &fragments.Fragment{ObjectID: 1, Start: true, End: true, Data: make([]byte, length)}
}

func fragmentEncode(name string, length int) row {
	value := fragment(length)
	return row{
		name: name,
		check: func() error {
			encoded, err := value.Encode()
			return equal(len(encoded), length+21, err)
		},
		run: func() (int, error) {
			encoded, err := value.Encode()
			return len(encoded), err
		},
	}
}

func fragmentDecode() row {
	encoded, err := fragment(1024).Encode()
	if err != nil {
		panic(err)
	}
	return row{
		name: "fragment_decode_1kb",
		check: func() error {
			found, err := fragments.Decode(encoded)
			if err != nil {
				return err
			}
			defer found.Release()
			return equal(fmt.Sprint(found.ObjectID, found.FragmentID, found.Start, found.End, len(found.Data)), "1 0 true true 1024", nil)
		},
		run: func() (int, error) {
			found, err := fragments.Decode(encoded)
			if err != nil {
				return 0, err
			}
			defer found.Release()
			return len(found.Data), nil
		},
	}
}

// fragmentAssemble puts five fragments together, whatever its name says.
func fragmentAssemble() row {
	parts, err := fragments.NewFragmenter(1024).Fragment(make([]byte, 4096))
	if err != nil {
		panic(err)
	}
	run := func() ([]byte, error) {
		assembler := fragments.NewAssembler()
		for index, part := range parts {
			complete, data, err := assembler.Add(part)
			if err != nil {
				return nil, err
			}
			if complete != (index == len(parts)-1) {
				return nil, errors.New("completed at the wrong fragment")
			}
			if complete {
				return data, nil
			}
		}
		return nil, errors.New("not completed")
	}
	return row{
		name: "fragment_assemble_4",
		check: func() error {
			found, err := run()
			return equal(len(found)+len(parts), 4096+5, err)
		},
		run: func() (int, error) {
			found, err := run()
			return len(found), err
		},
	}
}

func message(destination messages.Destination, kind messages.MessageType) *messages.Message {
	return &messages.Message{
		Destination: destination, Type: kind, RunspaceID: uuid.New(), PipelineID: uuid.New(), Data: make([]byte, 1024),
	}
}

func messageEncode(name string, destination messages.Destination, kind messages.MessageType) row {
	value := message(destination, kind)
	return row{
		name: name,
		check: func() error {
			encoded, err := value.Encode()
			return equal(len(encoded), 1064, err)
		},
		run: func() (int, error) {
			encoded, err := value.Encode()
			return len(encoded), err
		},
	}
}

func messageDecode(name string, destination messages.Destination, kind messages.MessageType) row {
	value := message(destination, kind)
	encoded, err := value.Encode()
	if err != nil {
		panic(err)
	}
	return row{
		name: name,
		check: func() error {
			found, err := messages.Decode(encoded)
			if err == nil && !reflect.DeepEqual(found, value) {
				err = errors.New("another message")
			}
			return err
		},
		run: func() (int, error) {
			found, err := messages.Decode(encoded)
			if err != nil {
				return 0, err
			}
			return len(found.Data), nil
		},
	}
}

func sendData(name string, length int) row {
	var buffer bytes.Buffer
	transport, data := outofproc.NewTransport(&buffer, &buffer), make([]byte, length)
	run := func() (int, error) {
		buffer.Reset()
		err := transport.SendData(identity, data)
		return buffer.Len(), err
	}
	return row{
		name: name,
		check: func() error {
			_, err := run()
			return equal(buffer.String(), dataLine(data), err)
		},
		run: run,
	}
}

func dataLine(data []byte) string {
	return fmt.Sprintf("<Data Stream='Default' PSGuid='%s'>%s</Data>\n", identity, base64.StdEncoding.EncodeToString(data))
}

func sendCommand() row {
	var buffer bytes.Buffer
	transport := outofproc.NewTransport(&buffer, &buffer)
	run := func() (int, error) {
		buffer.Reset()
		err := transport.SendCommand(identity)
		return buffer.Len(), err
	}
	return row{
		name: "transport_send_command",
		check: func() error {
			_, err := run()
			return equal(buffer.String(), fmt.Sprintf("<Command PSGuid='%s' />\n", identity), err)
		},
		run: run,
	}
}

// length is that of a packet's data.
func length(packet *outofproc.Packet, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return len(packet.Data), nil
}

// receive makes its transport for every packet, as the original does.
func receive(name, line string, expected []byte) row {
	run := func() (*outofproc.Packet, error) {
		return outofproc.NewTransport(bytes.NewBufferString(line), io.Discard).ReceivePacket()
	}
	return row{
		name: name,
		check: func() error {
			packet, err := run()
			if err != nil {
				return err
			}
			return equal(string(packet.Data), string(expected), nil)
		},
		run: func() (int, error) { return length(run()) },
	}
}

func parseLine() row {
	line := strings.TrimSuffix(dataLine([]byte("some test data payload")), "\n")
	return row{
		name: "outofproc_parse_packet",
		check: func() error {
			packet, err := parsePacket(line)
			if err != nil {
				return err
			}
			return equal(string(packet.Data), "some test data payload", nil)
		},
		run: func() (int, error) { return length(parsePacket(line)) },
	}
}

func sendDiscarded() row {
	transport, data := outofproc.NewTransport(bytes.NewReader(nil), io.Discard), make([]byte, 1024)
	length := len(dataLine(data))
	run := func() (int, error) { return length, transport.SendData(identity, data) }
	return row{name: "outofproc_send_data", check: func() error { return nil }, run: run}
}

// roundTrip has the steps of the original: what is decoded in the end is the document, not what came out of the fragments.
func roundTrip(name string, value *serialization.PSObject, length int) row {
	run := func() ([]byte, []any, error) {
		serializer := serialization.NewSerializer()
		document, err := serializer.SerializeRaw(value)
		if err != nil {
			return nil, nil, err
		}
		serializer.Close()
		encoded, err := messages.NewCreatePipeline(uuid.New(), uuid.New(), document).Encode()
		if err != nil {
			return nil, nil, err
		}
		parts, err := fragments.NewFragmenter(4096).Fragment(encoded)
		if err != nil {
			return nil, nil, err
		}
		for _, part := range parts {
			if _, err := part.Encode(); err != nil {
				return nil, nil, err
			}
		}
		assembler := fragments.NewAssembler()
		for _, part := range parts {
			if _, _, err := assembler.Add(part); err != nil {
				return nil, nil, err
			}
		}
		if _, err := messages.Decode(encoded); err != nil {
			return nil, nil, err
		}
		deserializer := serialization.NewDeserializer()
		defer deserializer.Close()
		found, err := deserializer.Deserialize(document)
		return document, found, err
	}
	return row{
		name: name,
		check: func() error {
			document, found, err := run()
			if err != nil {
				return err
			}
			return same(found, value, len(document), length)
		},
		run: func() (int, error) {
			_, found, err := run()
			return members(found), err
		},
	}
}

func transportRoundTrip() row {
	data := make([]byte, 1024)
	run := func() (*outofproc.Packet, error) {
		var buffer bytes.Buffer
		transport := outofproc.NewTransport(&buffer, &buffer)
		if err := transport.SendData(identity, data); err != nil {
			return nil, err
		}
		return transport.ReceivePacket()
	}
	return row{
		name: "transport_round_trip",
		check: func() error {
			packet, err := run()
			if err != nil {
				return err
			}
			return equal(string(packet.Data), string(data), nil)
		},
		run: func() (int, error) { return length(run()) },
	}
}

func textRows() []row {
	text := func(name string, change func(string) string, from, to string) row {
		return row{
			name:  name,
			check: func() error { return equal(change(from), to, nil) },
			run:   func() (int, error) { return len(change(from)), nil },
		}
	}
	const plain = "hello world this is a normal string with no escapes"
	const unencoded = "hello world this is a normal string with no encoding needed"
	return []row{
		text("clixml_string_decode_no_escapes", decodeString, plain, plain),
		text("clixml_string_decode_with_escapes", decodeString,
			"line1_x000D__x000A_line2_x0009_col2_x000D__x000A_line3", "line1\r\nline2\tcol2\r\nline3"),
		text("clixml_string_decode_surrogate_pair", decodeString,
			"music _xD834__xDD1E_ and _xD83D__xDE00_ emoji", "music \U0001D11E and \U0001F600 emoji"),
		text("clixml_string_encode_no_encoding_needed", encodeString, unencoded, unencoded),
		text("clixml_string_encode_with_control_chars", encodeString,
			"line1\r\nline2\tcol2\r\nline3", "line1_x000D__x000A_line2_x0009_col2_x000D__x000A_line3"),
		text("clixml_string_encode_escape_escape_pattern", encodeString,
			"literal _x000D_ and _X000A_ patterns", "literal _x005F_x000D_ and _x005F_X000A_ patterns"),
	}
}

// reads reads a document back.
func reads(document []byte, value any, length int, err error) error {
	if err != nil {
		return err
	}
	found, err := serialization.NewDeserializer().Deserialize(document)
	if err != nil {
		return err
	}
	return same(found, value, ours(document), length)
}

// members is how many an object has that was read.
func members(found []any) int {
	if len(found) == 1 {
		if object, ok := found[0].(*serialization.PSObject); ok {
			return len(object.Properties)
		}
	}
	return 0
}

func same(found []any, value any, length, expectedLength int) error {
	if length != expectedLength {
		return fmt.Errorf("%d bytes, expected %d", length, expectedLength)
	}
	if len(found) != 1 {
		return fmt.Errorf("%d values, expected one", len(found))
	}
	if shown, expected := show(found[0]), show(value); shown != expected {
		return fmt.Errorf("found %s, expected %s", shown, expected)
	}
	return nil
}

// show writes a value with what the original keeps when it reads: hashtables come back as maps, and a text form or an
// empty map of members is not part of what is compared.
func show(value any) string {
	switch value := value.(type) {
	case *serialization.PSObject:
		return fmt.Sprint(value.TypeNames, show(value.Properties), value.ToString)
	case map[string]any:
		shown := make(map[string]string, len(value))
		for name, member := range value {
			shown[name] = show(member)
		}
		return fmt.Sprint(shown)
	default:
		return fmt.Sprintf("%T %v", value, value)
	}
}

func equal[T comparable](found, expected T, err error) error {
	if err == nil && found != expected {
		err = fmt.Errorf("found %v, expected %v", found, expected)
	}
	return err
}

// identities are the keys of the two rows of maps.
func identities() []uuid.UUID {
	found := make([]uuid.UUID, 100)
	for i := range found {
		found[i] = uuid.New()
	}
	return found
}

// maps are the rows that look up keys in turn on all processors, in a map behind a lock and in a concurrent map.
var maps = map[string]func(keys []uuid.UUID) func(uuid.UUID) int{
	"runspace_map_rwmutex": func(keys []uuid.UUID) func(uuid.UUID) int {
		var lock sync.RWMutex
		values := map[uuid.UUID]int{}
		for i, key := range keys {
			values[key] = i
		}
		return func(key uuid.UUID) int {
			lock.RLock()
			found := values[key]
			lock.RUnlock()
			return found
		}
	},
	"runspace_map_syncmap": func(keys []uuid.UUID) func(uuid.UUID) int {
		var values sync.Map
		for i, key := range keys {
			values.Store(key, i)
		}
		return func(key uuid.UUID) int {
			found, _ := values.Load(key)
			return found.(int)
		}
	},
}

func lookUp(keys []uuid.UUID, value func(uuid.UUID) int) resident.Batch {
	return func(n int) (uint64, error) {
		workers := runtime.GOMAXPROCS(0)
		var group sync.WaitGroup
		var wrong atomic.Bool
		for worker := range workers {
			group.Go(func() {
				for i := worker; i < n; i += workers {
					if value(keys[i%100]) != i%100 {
						wrong.Store(true)
					}
				}
			})
		}
		group.Wait()
		if wrong.Load() {
			return 0, errors.New("another value")
		}
		return 1, nil
	}
}

func main() {
	rows := sync.OnceValue(rows)
	resident.Serve(func(name, implementation string) (resident.Batch, error) {
		if made, found := maps[name]; found {
			keys := identities()
			return lookUp(keys, made(keys)), nil
		}
		for _, row := range rows() {
			if row.name == name && implementation == "go-psrpcore" {
				return resident.Each(func() (uint64, error) {
					found, err := row.run()
					return uint64(found), err
				}), row.check()
			}
		}
		return nil, nil
	})
}
