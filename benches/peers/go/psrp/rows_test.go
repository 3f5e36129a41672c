package psrp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/smnsjas/go-psrpcore/fragments"
	"github.com/smnsjas/go-psrpcore/messages"
	"github.com/smnsjas/go-psrpcore/outofproc"
	"github.com/smnsjas/go-psrpcore/serialization"

	"peers/sampler"
)

// row is one row of the suite. Its operation leaves a result, which is looked at before the timing.
type row struct {
	name string
	// payload is the length of what is written or read.
	payload int
	check   func() error
	run     func() error
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
		serialize("with_references", references(), 314, document),
		serialize("string", "test string value", 24, element),
		serialize("int32", int32(12345), 16, element),
		serialize("hashtable", map[string]any{"Key1": "Value1", "Key2": int32(123), "Key3": true, "Key4": []byte("data")}, 313, element),
		serializeUnsafe(),
		serializeAgain(),
		deserialize("deserialize_small_object", small(), 183),
		deserialize("deserialize_ps_object", described(int32(123)), 273),
		fragmentEncode("fragment_encode_1kb", 1024),
		fragmentDecode(),
		fragmentEncode("fragment_encode_large_32kb", 32768),
		fragmentAssemble(),
		messageEncode("message_encode", messages.DestinationServer, messages.MessageTypeCreatePipeline),
		messageDecode("message_decode", messages.DestinationServer, messages.MessageTypeCreatePipeline),
		messageEncode("messages_message_encode", messages.DestinationClient, messages.MessageTypePipelineOutput),
		messageDecode("messages_message_decode", messages.DestinationClient, messages.MessageTypePipelineOutput),
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

// serialize writes a value with a method of the serializer, which copies what it has written.
func serialize(name string, value any, length int, write func(*serialization.Serializer, any) ([]byte, error)) row {
	serializer := serialization.NewSerializer()
	run := func() ([]byte, error) {
		defer serializer.Reset()
		return write(serializer, value)
	}
	return row{
		name:    "serialize_" + name,
		payload: length,
		check: func() error {
			document, err := run()
			return reads(document, value, length, err)
		},
		run: func() error {
			_, err := run()
			return err
		},
	}
}

// serializeUnsafe borrows the buffer. The objects seen before are kept, so that a reference is all that it writes.
func serializeUnsafe() row {
	serializer, value := serialization.NewSerializer(), small()
	if _, err := serializer.SerializeUnsafe(value); err != nil {
		panic(err)
	}
	return row{
		name:    "serialize_unsafe_small_object",
		payload: 103,
		check: func() error {
			document, err := serializer.SerializeUnsafe(value)
			return equal(string(document), head+`<Ref RefId="0"/>`+tail, err)
		},
		run: func() error {
			_, err := serializer.SerializeUnsafe(value)
			return err
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

// serializeAgain copies, and keeps the objects seen before as well. Its buffer grows document by document.
func serializeAgain() row {
	serializer, value := serialization.NewSerializer(), described(123)
	if _, err := serializer.Serialize(value); err != nil {
		panic(err)
	}
	return row{
		name:    "serialize_ps_object",
		payload: 103,
		check: func() error {
			document, err := serializer.Serialize(value)
			return equal(string(document), head+`<Ref RefId="0"/>`+tail, err)
		},
		run: func() error {
			_, err := serializer.Serialize(value)
			return err
		},
	}
}

func deserialize(name string, value *serialization.PSObject, length int) row {
	document, err := serialization.NewSerializer().Serialize(value)
	if err != nil {
		panic(err)
	}
	deserializer := serialization.NewDeserializer()
	return row{
		name:    name,
		payload: length,
		check:   func() error { return reads(document, value, length, nil) },
		run: func() error {
			_, err := deserializer.Deserialize(document)
			return err
		},
	}
}

func fragment(length int) *fragments.Fragment {
	return &fragments.Fragment{ObjectID: 1, Start: true, End: true, Data: make([]byte, length)}
}

func fragmentEncode(name string, length int) row {
	value := fragment(length)
	return row{
		name:    name,
		payload: length + 21,
		check: func() error {
			encoded, err := value.Encode()
			return equal(len(encoded), length+21, err)
		},
		run: func() error {
			_, err := value.Encode()
			return err
		},
	}
}

func fragmentDecode() row {
	encoded, err := fragment(1024).Encode()
	if err != nil {
		panic(err)
	}
	return row{
		name:    "fragment_decode_1kb",
		payload: len(encoded),
		check: func() error {
			found, err := fragments.Decode(encoded)
			if err != nil {
				return err
			}
			defer found.Release()
			return equal(fmt.Sprint(found.ObjectID, found.FragmentID, found.Start, found.End, len(found.Data)), "1 0 true true 1024", nil)
		},
		run: func() error {
			found, err := fragments.Decode(encoded)
			if err != nil {
				return err
			}
			found.Release()
			return nil
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
		name:    "fragment_assemble_4",
		payload: 4096,
		check: func() error {
			found, err := run()
			return equal(len(found)+len(parts), 4096+5, err)
		},
		run: func() error {
			_, err := run()
			return err
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
		name:    name,
		payload: 1064,
		check: func() error {
			encoded, err := value.Encode()
			return equal(len(encoded), 1064, err)
		},
		run: func() error {
			_, err := value.Encode()
			return err
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
		name:    name,
		payload: 1064,
		check: func() error {
			found, err := messages.Decode(encoded)
			if err == nil && !reflect.DeepEqual(found, value) {
				err = errors.New("another message")
			}
			return err
		},
		run: func() error {
			_, err := messages.Decode(encoded)
			return err
		},
	}
}

func sendData(name string, length int) row {
	var buffer bytes.Buffer
	transport, data := outofproc.NewTransport(&buffer, &buffer), make([]byte, length)
	run := func() error {
		buffer.Reset()
		return transport.SendData(identity, data)
	}
	return row{
		name:    name,
		payload: len(dataLine(data)),
		check: func() error {
			err := run()
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
	run := func() error {
		buffer.Reset()
		return transport.SendCommand(identity)
	}
	return row{
		name:    "transport_send_command",
		payload: 58,
		check: func() error {
			err := run()
			return equal(buffer.String(), fmt.Sprintf("<Command PSGuid='%s' />\n", identity), err)
		},
		run: run,
	}
}

// receive makes its transport for every packet, as the original does.
func receive(name, line string, expected []byte) row {
	run := func() (*outofproc.Packet, error) {
		return outofproc.NewTransport(bytes.NewBufferString(line), io.Discard).ReceivePacket()
	}
	return row{
		name:    name,
		payload: len(line),
		check: func() error {
			packet, err := run()
			if err != nil {
				return err
			}
			return equal(string(packet.Data), string(expected), nil)
		},
		run: func() error {
			_, err := run()
			return err
		},
	}
}

func parseLine() row {
	line := strings.TrimSuffix(dataLine([]byte("some test data payload")), "\n")
	return row{
		name:    "outofproc_parse_packet",
		payload: len(line),
		check: func() error {
			packet, err := parsePacket(line)
			if err != nil {
				return err
			}
			return equal(string(packet.Data), "some test data payload", nil)
		},
		run: func() error {
			_, err := parsePacket(line)
			return err
		},
	}
}

func sendDiscarded() row {
	transport, data := outofproc.NewTransport(bytes.NewReader(nil), io.Discard), make([]byte, 1024)
	run := func() error { return transport.SendData(identity, data) }
	return row{name: "outofproc_send_data", payload: len(dataLine(data)), check: run, run: run}
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
		name:    name,
		payload: length,
		check: func() error {
			document, found, err := run()
			if err != nil {
				return err
			}
			return same(found, value, len(document), length)
		},
		run: func() error {
			_, _, err := run()
			return err
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
		name:    "transport_round_trip",
		payload: len(dataLine(data)),
		check: func() error {
			packet, err := run()
			if err != nil {
				return err
			}
			return equal(string(packet.Data), string(data), nil)
		},
		run: func() error {
			_, err := run()
			return err
		},
	}
}

func textRows() []row {
	text := func(name string, change func(string) string, from, to string) row {
		return row{
			name:    name,
			payload: len(from),
			check:   func() error { return equal(change(from), to, nil) },
			run: func() error {
				change(from)
				return nil
			},
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
	return same(found, value, len(document), length)
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

// BenchmarkRow has a sub-benchmark for every row. Each is checked before it is timed.
func BenchmarkRow(b *testing.B) {
	for _, row := range rows() {
		b.Run(row.name, func(b *testing.B) {
			b.Run("go-psrpcore", func(b *testing.B) {
				if err := row.check(); err != nil {
					b.Fatal(err)
				}
				sampler.Run(b, row.payload, row.run)
			})
		})
	}
	b.Run("runspace_map_rwmutex", func(b *testing.B) { b.Run("go-psrpcore", lockedMap) })
	b.Run("runspace_map_syncmap", func(b *testing.B) { b.Run("go-psrpcore", concurrentMap) })
}

// identities are the keys of the two rows of maps.
func identities() []uuid.UUID {
	found := make([]uuid.UUID, 100)
	for i := range found {
		found[i] = uuid.New()
	}
	return found
}

func lockedMap(b *testing.B) {
	keys, values := identities(), map[uuid.UUID]int{}
	for i, key := range keys {
		values[key] = i
	}
	var lock sync.RWMutex
	b.ReportAllocs()
	b.RunParallel(func(workers *testing.PB) {
		for i := 0; workers.Next(); i++ {
			lock.RLock()
			found := values[keys[i%100]]
			lock.RUnlock()
			if found != i%100 {
				b.Error("another value")
			}
		}
	})
}

func concurrentMap(b *testing.B) {
	keys := identities()
	var values sync.Map
	for i, key := range keys {
		values.Store(key, i)
	}
	b.ReportAllocs()
	b.RunParallel(func(workers *testing.PB) {
		for i := 0; workers.Next(); i++ {
			if found, _ := values.Load(keys[i%100]); found != i%100 {
				b.Error("another value")
			}
		}
	})
}

// TestRowsAreRight runs what is checked before the timing.
func TestRowsAreRight(t *testing.T) {
	for _, row := range rows() {
		if err := row.check(); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
