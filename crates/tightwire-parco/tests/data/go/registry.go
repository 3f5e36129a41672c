package messages

import (
	"encoding/binary"

	"github.com/sonirico/parco"
)

type Frame0 struct {
	Specie string
	Age    uint8
}

var Frame0Builder = parco.Builder[Frame0](parco.ObjectFactory[Frame0]()).
	SmallVarchar(
		func(m *Frame0) string { return m.Specie },
		func(m *Frame0, v string) { m.Specie = v },
	).
	UInt8(
		func(m *Frame0) uint8 { return m.Age },
		func(m *Frame0, v uint8) { m.Age = v },
	)

type Frame1 struct {
	Price   float32
	Address string
}

var Frame1Builder = parco.Builder[Frame1](parco.ObjectFactory[Frame1]()).
	Float32(binary.LittleEndian,
		func(m *Frame1) float32 { return m.Price },
		func(m *Frame1, v float32) { m.Price = v },
	).
	SmallVarchar(
		func(m *Frame1) string { return m.Address },
		func(m *Frame1, v string) { m.Address = v },
	)

var FrameRegistry = parco.MultiBuilder[int](parco.UInt8Header())

func init() {
	FrameRegistry.MustRegister(0, Frame0Builder)
	FrameRegistry.MustRegister(1, Frame1Builder)
}

func (Frame0) ParcoID() int { return 0 }

func (Frame1) ParcoID() int { return 1 }
