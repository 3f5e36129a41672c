package messages

import (
	"encoding/binary"
	"time"

	"github.com/sonirico/parco"
)

type NestedPoints struct {
	X int32
	Y int32
}

var NestedPointsBuilder = parco.Builder[NestedPoints](parco.ObjectFactory[NestedPoints]()).
	Int32(binary.LittleEndian,
		func(m *NestedPoints) int32 { return m.X },
		func(m *NestedPoints, v int32) { m.X = v },
	).
	Int32(binary.BigEndian,
		func(m *NestedPoints) int32 { return m.Y },
		func(m *NestedPoints, v int32) { m.Y = v },
	)

type Nested struct {
	Rows      []parco.Iterable[uint8]
	Points    []NestedPoints
	PointById map[uint8]NestedPoints
	Maybe     *NestedPoints
	Corner    NestedPoints
	Tables    map[uint8]parco.Iterable[bool]
	Maps      []map[uint8]uint8
	Gaps      []any
	Blobs     [][]byte
	Times     []time.Time
}

var NestedBuilder = parco.Builder[Nested](parco.ObjectFactory[Nested]()).
	Slice(parco.SliceField[Nested, parco.Iterable[uint8]](
		parco.UInt32BEHeader(), parco.Slice[uint8](parco.UInt32BEHeader(), parco.UInt8()),
		func(m *Nested, v parco.SliceView[parco.Iterable[uint8]]) { m.Rows = v },
		func(m *Nested) parco.SliceView[parco.Iterable[uint8]] { return m.Rows },
	)).
	Slice(parco.SliceField[Nested, NestedPoints](
		parco.UInt32BEHeader(), parco.Struct[NestedPoints](NestedPointsBuilder),
		func(m *Nested, v parco.SliceView[NestedPoints]) { m.Points = v },
		func(m *Nested) parco.SliceView[NestedPoints] { return m.Points },
	)).
	Map(parco.MapField[Nested, uint8, NestedPoints](
		parco.UInt32BEHeader(), parco.UInt8(), parco.Struct[NestedPoints](NestedPointsBuilder),
		func(m *Nested, v map[uint8]NestedPoints) { m.PointById = v },
		func(m *Nested) map[uint8]NestedPoints { return m.PointById },
	)).
	Option(parco.OptionField[Nested, NestedPoints](
		parco.Struct[NestedPoints](NestedPointsBuilder),
		func(m *Nested, v *NestedPoints) { m.Maybe = v },
		func(m *Nested) *NestedPoints { return m.Maybe },
	)).
	Struct(parco.StructField[Nested, NestedPoints](
		func(m *Nested) NestedPoints { return m.Corner },
		func(m *Nested, v NestedPoints) { m.Corner = v },
		NestedPointsBuilder,
	)).
	Map(parco.MapField[Nested, uint8, parco.Iterable[bool]](
		parco.UInt32BEHeader(), parco.UInt8(), parco.Array[bool](3, parco.Bool()),
		func(m *Nested, v map[uint8]parco.Iterable[bool]) { m.Tables = v },
		func(m *Nested) map[uint8]parco.Iterable[bool] { return m.Tables },
	)).
	Slice(parco.SliceField[Nested, map[uint8]uint8](
		parco.UInt32BEHeader(), parco.MapType[uint8, uint8](parco.UInt32BEHeader(), parco.UInt8(), parco.UInt8()),
		func(m *Nested, v parco.SliceView[map[uint8]uint8]) { m.Maps = v },
		func(m *Nested) parco.SliceView[map[uint8]uint8] { return m.Maps },
	)).
	Array(parco.ArrayField[Nested, any](
		3, parco.SkipType(2),
		func(m *Nested, v parco.SliceView[any]) { m.Gaps = v },
		func(m *Nested) parco.SliceView[any] { return m.Gaps },
	)).
	Slice(parco.SliceField[Nested, []byte](
		parco.UInt32BEHeader(), parco.Blob(parco.UInt32BEHeader()),
		func(m *Nested, v parco.SliceView[[]byte]) { m.Blobs = v },
		func(m *Nested) parco.SliceView[[]byte] { return m.Blobs },
	)).
	Array(parco.ArrayField[Nested, time.Time](
		3, parco.TimeLocation(),
		func(m *Nested, v parco.SliceView[time.Time]) { m.Times = v },
		func(m *Nested) parco.SliceView[time.Time] { return m.Times },
	))
