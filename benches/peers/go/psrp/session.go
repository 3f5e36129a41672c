package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"sync"

	"github.com/google/uuid"
	"github.com/smnsjas/go-psrpcore/fragments"
	"github.com/smnsjas/go-psrpcore/messages"
	"github.com/smnsjas/go-psrpcore/outofproc"
	"github.com/smnsjas/go-psrpcore/runspace"
	"github.com/smnsjas/go-psrpcore/serialization"
)

// link is how the pool talks to the packets. The adapter of the original would do, but it sleeps for two milliseconds
// before it writes anything, and acknowledges what servers send.
type link struct {
	packets *outofproc.Transport
	rest    []byte
}

func (l *link) Read(into []byte) (int, error) {
	for len(l.rest) == 0 {
		packet, err := l.packets.ReceivePacket()
		if err != nil {
			return 0, err
		}
		if packet.Type == outofproc.PacketTypeData {
			l.rest = packet.Data
		}
	}
	count := copy(into, l.rest)
	l.rest = l.rest[count:]
	return count, nil
}

func (l *link) Write(data []byte) (int, error) {
	return len(data), l.packets.SendData(outofproc.NullGUID, data)
}

func (l *link) SendCommand(id uuid.UUID) error { return l.packets.SendCommand(id) }

func (l *link) SendPipelineData(id uuid.UUID, data []byte) error { return l.packets.SendData(id, data) }

// pipe is a pipe in memory that never blocks who writes.
type pipe struct {
	lock   sync.Mutex
	ready  sync.Cond
	data   bytes.Buffer
	closed bool
}

func newPipe() *pipe {
	found := &pipe{}
	found.ready.L = &found.lock
	return found
}

func (p *pipe) Write(data []byte) (int, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.ready.Signal()
	return p.data.Write(data)
}

func (p *pipe) Read(into []byte) (int, error) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for p.data.Len() == 0 {
		if p.closed {
			return 0, io.EOF
		}
		p.ready.Wait()
	}
	return p.data.Read(into)
}

func (p *pipe) Close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.closed = true
	p.ready.Broadcast()
}

// server has as much of a server as the pool needs; the original has none. What it writes goes through the original's
// serializer, messages, fragments and packets.
type server struct {
	packets    *outofproc.Transport
	fragmenter *fragments.Fragmenter
}

var script = regexp.MustCompile(`<S N="Cmd">(\d+)</S>`)

func (s *server) send(message *messages.Message) error {
	encoded, err := message.Encode()
	if err != nil {
		return err
	}
	parts, err := s.fragmenter.Fragment(encoded)
	if err != nil {
		return err
	}
	for _, part := range parts {
		data, err := part.Encode()
		if err != nil {
			return err
		}
		if err := s.packets.SendData(message.PipelineID, data); err != nil {
			return err
		}
	}
	return nil
}

func member(name string, number int) []byte {
	return fmt.Appendf(nil, `<Obj RefId="0"><MS><I32 N="%s">%d</I32></MS></Obj>`, name, number)
}

// take answers a message; it says whether the session is over.
func (s *server) take(message *messages.Message) (bool, error) {
	pool := message.RunspaceID
	state := func(state messages.RunspacePoolState) error {
		return s.send(messages.NewRunspacePoolStateMessage(pool, state, member("RunspaceState", int(state))))
	}
	answer := func(made *messages.Message) *messages.Message {
		made.Destination = messages.DestinationClient
		return made
	}
	switch message.Type {
	case messages.MessageTypeSessionCapability:
		return false, s.send(answer(messages.NewSessionCapability(pool, message.Data)))
	case messages.MessageTypeInitRunspacePool:
		return false, state(messages.RunspacePoolStateOpened)
	case messages.MessageTypeCreatePipeline:
		found := script.FindSubmatch(message.Data)
		if found == nil {
			return false, errors.New("no script")
		}
		count, err := strconv.Atoi(string(found[1]))
		if err != nil {
			return false, err
		}
		for number := range count {
			serializer := serialization.NewSerializer()
			document, err := serializer.SerializeRaw(int32(number))
			if err != nil {
				return false, err
			}
			if err := s.send(messages.NewPipelineOutput(pool, message.PipelineID, document)); err != nil {
				return false, err
			}
			serializer.Close()
		}
		done := messages.PipelineStateCompleted
		return false, s.send(messages.NewPipelineState(pool, message.PipelineID, done, member("PipelineState", int(done))))
	case messages.MessageTypeRunspacePoolState:
		return true, state(messages.RunspacePoolStateClosed)
	default:
		return false, fmt.Errorf("message of type %v", message.Type)
	}
}

func (s *server) serve() error {
	assembler := fragments.NewAssembler()
	for {
		packet, err := s.packets.ReceivePacket()
		if err != nil {
			return err
		}
		if packet.Type == outofproc.PacketTypeCommand {
			continue
		}
		fragment, err := fragments.Decode(packet.Data)
		if err != nil {
			return err
		}
		complete, encoded, err := assembler.Add(fragment)
		if err != nil || !complete {
			return errors.Join(err, errors.New("a message of the client in parts"))
		}
		message, err := messages.Decode(encoded)
		if err != nil {
			return err
		}
		if err := s.packets.SendDataAck(packet.PSGuid); err != nil {
			return err
		}
		if over, err := s.take(message); over || err != nil {
			return err
		}
	}
}

// session is an open pool and its server.
type session struct {
	pool  *runspace.Pool
	pipes [2]*pipe
	done  chan error
}

func openSession() (*session, error) {
	up, down := newPipe(), newPipe()
	far := &server{outofproc.NewTransport(up, down), fragments.NewFragmenter(32768)}
	pool := runspace.New(&link{packets: outofproc.NewTransport(down, up)}, uuid.New())
	found := &session{pool, [2]*pipe{up, down}, make(chan error, 1)}
	go func() { found.done <- far.serve() }()
	return found, pool.Open(context.Background())
}

func (s *session) close() error {
	err := s.pool.Close(context.Background())
	for _, pipe := range s.pipes {
		pipe.Close()
	}
	return errors.Join(err, <-s.done)
}

// numbers has a pipeline write numbers, and gives how many came, and their sum.
func (s *session) numbers(count int) (int, int, error) {
	run, err := s.pool.CreatePipeline(strconv.Itoa(count))
	if err != nil {
		return 0, 0, err
	}
	if err := run.Invoke(context.Background()); err != nil {
		return 0, 0, err
	}
	found, sum := 0, 0
	take := func(message *messages.Message) error {
		reader := serialization.NewDeserializer()
		defer reader.Close()
		values, err := reader.Deserialize(message.Data)
		if err != nil {
			return err
		}
		found++
		sum += int(values[0].(int32))
		return nil
	}
	for {
		select {
		case message, open := <-run.Output():
			if !open {
				return found, sum, run.Wait()
			}
			if err := take(message); err != nil {
				return 0, 0, err
			}
		case <-run.Done():
			for len(run.Output()) > 0 {
				if message, open := <-run.Output(); open {
					if err := take(message); err != nil {
						return 0, 0, err
					}
				}
			}
			return found, sum, run.Wait()
		}
	}
}

func wholeSession() row {
	run := func() (int, error) {
		session, err := openSession()
		if err != nil {
			return 0, err
		}
		found, _, err := session.numbers(1)
		return found, errors.Join(err, session.close())
	}
	return row{name: "session_open_invoke_close", check: func() error { return nil }, run: run}
}

// manyObjects keeps a session for as long as the process lasts.
func manyObjects() row {
	const count = 10_000
	open := sync.OnceValues(openSession)
	run := func() (int, error) {
		session, err := open()
		if err != nil {
			return 0, err
		}
		found, sum, err := session.numbers(count)
		if err == nil && found != count {
			err = fmt.Errorf("%d objects", found)
		}
		return sum, err
	}
	return row{name: "session_10000_objects", check: func() error { return nil }, run: run}
}
