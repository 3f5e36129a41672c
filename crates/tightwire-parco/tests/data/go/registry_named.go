package messages

import (
	"github.com/sonirico/parco"
)

type FrameAnimal struct {
	Specie string
	Age    uint8
}

var FrameAnimalBuilder = parco.Builder[FrameAnimal](parco.ObjectFactory[FrameAnimal]()).
	SmallVarchar(
		func(m *FrameAnimal) string { return m.Specie },
		func(m *FrameAnimal, v string) { m.Specie = v },
	).
	UInt8(
		func(m *FrameAnimal) uint8 { return m.Age },
		func(m *FrameAnimal, v uint8) { m.Age = v },
	)

type FrameEmpty struct{}

var FrameEmptyBuilder = parco.Builder[FrameEmpty](parco.ObjectFactory[FrameEmpty]())

type FrameAPet struct {
	Specie string
	Age    uint8
}

var FrameAPetBuilder = parco.Builder[FrameAPet](parco.ObjectFactory[FrameAPet]()).
	SmallVarchar(
		func(m *FrameAPet) string { return m.Specie },
		func(m *FrameAPet, v string) { m.Specie = v },
	).
	UInt8(
		func(m *FrameAPet) uint8 { return m.Age },
		func(m *FrameAPet, v uint8) { m.Age = v },
	)

var FrameRegistry = parco.MultiBuilder[string](parco.SmallVarchar())

func init() {
	FrameRegistry.MustRegister("animal", FrameAnimalBuilder)
	FrameRegistry.MustRegister("empty", FrameEmptyBuilder)
	FrameRegistry.MustRegister("a \"pet\"", FrameAPetBuilder)
}

func (FrameAnimal) ParcoID() string { return "animal" }

func (FrameEmpty) ParcoID() string { return "empty" }

func (FrameAPet) ParcoID() string { return "a \"pet\"" }
