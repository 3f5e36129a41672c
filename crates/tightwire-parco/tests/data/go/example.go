package messages

import (
	"encoding/binary"
	"time"

	"github.com/sonirico/parco"
)

type ExamplePet struct {
	Specie string
	Age    uint8
}

var ExamplePetBuilder = parco.Builder[ExamplePet](parco.ObjectFactory[ExamplePet]()).
	SmallVarchar(
		func(m *ExamplePet) string { return m.Specie },
		func(m *ExamplePet, v string) { m.Specie = v },
	).
	UInt8(
		func(m *ExamplePet) uint8 { return m.Age },
		func(m *ExamplePet, v uint8) { m.Age = v },
	)

type Example struct {
	Greet              string
	LifeSense          uint8
	Grades             map[string]uint8
	Friends            []string
	EvenOrOdd          bool
	Pet                ExamplePet
	Pointer            *int
	Flags              []bool
	Balance            float32
	MorePreciseBalance float64
	CreatedAt          time.Time
}

var ExampleBuilder = parco.Builder[Example](parco.ObjectFactory[Example]()).
	SmallVarchar(
		func(m *Example) string { return m.Greet },
		func(m *Example, v string) { m.Greet = v },
	).
	UInt8(
		func(m *Example) uint8 { return m.LifeSense },
		func(m *Example, v uint8) { m.LifeSense = v },
	).
	Map(parco.MapField[Example, string, uint8](
		parco.UInt8Header(), parco.SmallVarchar(), parco.UInt8(),
		func(m *Example, v map[string]uint8) { m.Grades = v },
		func(m *Example) map[string]uint8 { return m.Grades },
	)).
	Slice(parco.SliceField[Example, string](
		parco.UInt8Header(), parco.SmallVarchar(),
		func(m *Example, v parco.SliceView[string]) { m.Friends = v },
		func(m *Example) parco.SliceView[string] { return m.Friends },
	)).
	Bool(
		func(m *Example) bool { return m.EvenOrOdd },
		func(m *Example, v bool) { m.EvenOrOdd = v },
	).
	Struct(parco.StructField[Example, ExamplePet](
		func(m *Example) ExamplePet { return m.Pet },
		func(m *Example, v ExamplePet) { m.Pet = v },
		ExamplePetBuilder,
	)).
	Option(parco.OptionField[Example, int](
		parco.IntLE(),
		func(m *Example, v *int) { m.Pointer = v },
		func(m *Example) *int { return m.Pointer },
	)).
	Array(parco.ArrayField[Example, bool](
		5, parco.Bool(),
		func(m *Example, v parco.SliceView[bool]) { m.Flags = v },
		func(m *Example) parco.SliceView[bool] { return m.Flags },
	)).
	Float32(binary.LittleEndian,
		func(m *Example) float32 { return m.Balance },
		func(m *Example, v float32) { m.Balance = v },
	).
	Float64(binary.LittleEndian,
		func(m *Example) float64 { return m.MorePreciseBalance },
		func(m *Example, v float64) { m.MorePreciseBalance = v },
	).
	TimeUTC(
		func(m *Example) time.Time { return m.CreatedAt },
		func(m *Example, v time.Time) { m.CreatedAt = v },
	)
