package messages

import (
	"encoding/binary"
	"time"

	"github.com/sonirico/parco"
)

type Scalars struct {
	Uint16Le     uint16
	Uint16Be     uint16
	Int16Le      int16
	Int16Be      int16
	Uint32Le     uint32
	Uint32Be     uint32
	Int32Le      int32
	Int32Be      int32
	Uint64Le     uint64
	Uint64Be     uint64
	Int64Le      int64
	Int64Be      int64
	IntLe        int
	IntBe        int
	UintLe       uint
	UintBe       uint
	Float32Le    float32
	Float32Be    float32
	Float64Le    float64
	Float64Be    float64
	Uint8        uint8
	Int8         int8
	Bool         bool
	TimeUtc      time.Time
	TimeLocation time.Time
	Count        int
	Text         string
	Count2       int
	Text2        string
	Count3       int
	Text3        string
	Count4       int
	Text4        string
	Count5       int
	Text5        string
	Count6       int
	Text6        string
	Count7       int
	Text7        string
	Count8       int
	Text8        string
	Count9       int
	Text9        string
	Count10      int
	Text10       string
	Count11      int
	Text11       string
	Count12      int
	Text12       string
	Count13      int
	Text13       string
	Count14      int
	Text14       string
	Count15      int
	Text15       string
	Count16      int
	Text16       string
	Count17      int
	Text17       string
	Blob         []byte
	Count18      int
	Text18       string
	Blob2        []byte
}

var ScalarsBuilder = parco.Builder[Scalars](parco.ObjectFactory[Scalars]()).
	UInt16LE(
		func(m *Scalars) uint16 { return m.Uint16Le },
		func(m *Scalars, v uint16) { m.Uint16Le = v },
	).
	UInt16BE(
		func(m *Scalars) uint16 { return m.Uint16Be },
		func(m *Scalars, v uint16) { m.Uint16Be = v },
	).
	Field(parco.FixedField[Scalars, int16]{
		Type:   parco.Int16LE(),
		Getter: func(m *Scalars) int16 { return m.Int16Le },
		Setter: func(m *Scalars, v int16) { m.Int16Le = v },
	}).
	Field(parco.FixedField[Scalars, int16]{
		Type:   parco.Int16BE(),
		Getter: func(m *Scalars) int16 { return m.Int16Be },
		Setter: func(m *Scalars, v int16) { m.Int16Be = v },
	}).
	UInt32(binary.LittleEndian,
		func(m *Scalars) uint32 { return m.Uint32Le },
		func(m *Scalars, v uint32) { m.Uint32Le = v },
	).
	UInt32(binary.BigEndian,
		func(m *Scalars) uint32 { return m.Uint32Be },
		func(m *Scalars, v uint32) { m.Uint32Be = v },
	).
	Int32(binary.LittleEndian,
		func(m *Scalars) int32 { return m.Int32Le },
		func(m *Scalars, v int32) { m.Int32Le = v },
	).
	Int32(binary.BigEndian,
		func(m *Scalars) int32 { return m.Int32Be },
		func(m *Scalars, v int32) { m.Int32Be = v },
	).
	UInt64(binary.LittleEndian,
		func(m *Scalars) uint64 { return m.Uint64Le },
		func(m *Scalars, v uint64) { m.Uint64Le = v },
	).
	UInt64(binary.BigEndian,
		func(m *Scalars) uint64 { return m.Uint64Be },
		func(m *Scalars, v uint64) { m.Uint64Be = v },
	).
	Int64(binary.LittleEndian,
		func(m *Scalars) int64 { return m.Int64Le },
		func(m *Scalars, v int64) { m.Int64Le = v },
	).
	Int64(binary.BigEndian,
		func(m *Scalars) int64 { return m.Int64Be },
		func(m *Scalars, v int64) { m.Int64Be = v },
	).
	Int(binary.LittleEndian,
		func(m *Scalars) int { return m.IntLe },
		func(m *Scalars, v int) { m.IntLe = v },
	).
	Int(binary.BigEndian,
		func(m *Scalars) int { return m.IntBe },
		func(m *Scalars, v int) { m.IntBe = v },
	).
	Field(parco.FixedField[Scalars, uint]{
		Type:   parco.UIntLE(),
		Getter: func(m *Scalars) uint { return m.UintLe },
		Setter: func(m *Scalars, v uint) { m.UintLe = v },
	}).
	Field(parco.FixedField[Scalars, uint]{
		Type:   parco.UIntBE(),
		Getter: func(m *Scalars) uint { return m.UintBe },
		Setter: func(m *Scalars, v uint) { m.UintBe = v },
	}).
	Float32(binary.LittleEndian,
		func(m *Scalars) float32 { return m.Float32Le },
		func(m *Scalars, v float32) { m.Float32Le = v },
	).
	Float32(binary.BigEndian,
		func(m *Scalars) float32 { return m.Float32Be },
		func(m *Scalars, v float32) { m.Float32Be = v },
	).
	Float64(binary.LittleEndian,
		func(m *Scalars) float64 { return m.Float64Le },
		func(m *Scalars, v float64) { m.Float64Le = v },
	).
	Float64(binary.BigEndian,
		func(m *Scalars) float64 { return m.Float64Be },
		func(m *Scalars, v float64) { m.Float64Be = v },
	).
	UInt8(
		func(m *Scalars) uint8 { return m.Uint8 },
		func(m *Scalars, v uint8) { m.Uint8 = v },
	).
	Int8(
		func(m *Scalars) int8 { return m.Int8 },
		func(m *Scalars, v int8) { m.Int8 = v },
	).
	Bool(
		func(m *Scalars) bool { return m.Bool },
		func(m *Scalars, v bool) { m.Bool = v },
	).
	TimeUTC(
		func(m *Scalars) time.Time { return m.TimeUtc },
		func(m *Scalars, v time.Time) { m.TimeUtc = v },
	).
	TimeLocation(
		func(m *Scalars) time.Time { return m.TimeLocation },
		func(m *Scalars, v time.Time) { m.TimeLocation = v },
	).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UInt16HeaderLE(),
		Getter: func(m *Scalars) int { return m.Count },
		Setter: func(m *Scalars, v int) { m.Count = v },
	}).
	Varchar(
		func(m *Scalars) string { return m.Text },
		func(m *Scalars, v string) { m.Text = v },
	).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UInt16HeaderBE(),
		Getter: func(m *Scalars) int { return m.Count2 },
		Setter: func(m *Scalars, v int) { m.Count2 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.VarcharOrder(binary.BigEndian),
		func(m *Scalars) string { return m.Text2 },
		func(m *Scalars, v string) { m.Text2 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.Int16LEHeader(),
		Getter: func(m *Scalars) int { return m.Count3 },
		Setter: func(m *Scalars, v int) { m.Count3 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.Int16LEHeader()),
		func(m *Scalars) string { return m.Text3 },
		func(m *Scalars, v string) { m.Text3 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.Int16BEHeader(),
		Getter: func(m *Scalars) int { return m.Count4 },
		Setter: func(m *Scalars, v int) { m.Count4 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.Int16BEHeader()),
		func(m *Scalars) string { return m.Text4 },
		func(m *Scalars, v string) { m.Text4 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UInt32LEHeader(),
		Getter: func(m *Scalars) int { return m.Count5 },
		Setter: func(m *Scalars, v int) { m.Count5 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.Text(binary.LittleEndian),
		func(m *Scalars) string { return m.Text5 },
		func(m *Scalars, v string) { m.Text5 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UInt32BEHeader(),
		Getter: func(m *Scalars) int { return m.Count6 },
		Setter: func(m *Scalars, v int) { m.Count6 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.Text(binary.BigEndian),
		func(m *Scalars) string { return m.Text6 },
		func(m *Scalars, v string) { m.Text6 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.Int32LEHeader(),
		Getter: func(m *Scalars) int { return m.Count7 },
		Setter: func(m *Scalars, v int) { m.Count7 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.Int32LEHeader()),
		func(m *Scalars) string { return m.Text7 },
		func(m *Scalars, v string) { m.Text7 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.Int32BEHeader(),
		Getter: func(m *Scalars) int { return m.Count8 },
		Setter: func(m *Scalars, v int) { m.Count8 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.Int32BEHeader()),
		func(m *Scalars) string { return m.Text8 },
		func(m *Scalars, v string) { m.Text8 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UInt64LEHeader(),
		Getter: func(m *Scalars) int { return m.Count9 },
		Setter: func(m *Scalars, v int) { m.Count9 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.LongText(binary.LittleEndian),
		func(m *Scalars) string { return m.Text9 },
		func(m *Scalars, v string) { m.Text9 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UInt64BEHeader(),
		Getter: func(m *Scalars) int { return m.Count10 },
		Setter: func(m *Scalars, v int) { m.Count10 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.LongText(binary.BigEndian),
		func(m *Scalars) string { return m.Text10 },
		func(m *Scalars, v string) { m.Text10 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.Int64LEHeader(),
		Getter: func(m *Scalars) int { return m.Count11 },
		Setter: func(m *Scalars, v int) { m.Count11 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.Int64LEHeader()),
		func(m *Scalars) string { return m.Text11 },
		func(m *Scalars, v string) { m.Text11 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.Int64BEHeader(),
		Getter: func(m *Scalars) int { return m.Count12 },
		Setter: func(m *Scalars, v int) { m.Count12 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.Int64BEHeader()),
		func(m *Scalars) string { return m.Text12 },
		func(m *Scalars, v string) { m.Text12 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.IntLEHeader(),
		Getter: func(m *Scalars) int { return m.Count13 },
		Setter: func(m *Scalars, v int) { m.Count13 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.IntLEHeader()),
		func(m *Scalars) string { return m.Text13 },
		func(m *Scalars, v string) { m.Text13 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.IntBEHeader(),
		Getter: func(m *Scalars) int { return m.Count14 },
		Setter: func(m *Scalars, v int) { m.Count14 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.IntBEHeader()),
		func(m *Scalars) string { return m.Text14 },
		func(m *Scalars, v string) { m.Text14 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UIntLEHeader(),
		Getter: func(m *Scalars) int { return m.Count15 },
		Setter: func(m *Scalars, v int) { m.Count15 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.UIntLEHeader()),
		func(m *Scalars) string { return m.Text15 },
		func(m *Scalars, v string) { m.Text15 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UIntBEHeader(),
		Getter: func(m *Scalars) int { return m.Count16 },
		Setter: func(m *Scalars, v int) { m.Count16 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.UIntBEHeader()),
		func(m *Scalars) string { return m.Text16 },
		func(m *Scalars, v string) { m.Text16 = v },
	)).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.UInt8Header(),
		Getter: func(m *Scalars) int { return m.Count17 },
		Setter: func(m *Scalars, v int) { m.Count17 = v },
	}).
	SmallVarchar(
		func(m *Scalars) string { return m.Text17 },
		func(m *Scalars, v string) { m.Text17 = v },
	).
	Field(parco.FixedField[Scalars, []byte]{
		Type:   parco.Blob(parco.UInt8Header()),
		Getter: func(m *Scalars) []byte { return m.Blob },
		Setter: func(m *Scalars, v []byte) { m.Blob = v },
	}).
	Field(parco.FixedField[Scalars, int]{
		Type:   parco.Int8Header(),
		Getter: func(m *Scalars) int { return m.Count18 },
		Setter: func(m *Scalars, v int) { m.Count18 = v },
	}).
	Field(parco.StringField[Scalars](
		parco.String(parco.Int8Header()),
		func(m *Scalars) string { return m.Text18 },
		func(m *Scalars, v string) { m.Text18 = v },
	)).
	Field(parco.FixedField[Scalars, []byte]{
		Type:   parco.Blob(parco.Int8Header()),
		Getter: func(m *Scalars) []byte { return m.Blob2 },
		Setter: func(m *Scalars, v []byte) { m.Blob2 = v },
	}).
	Field(parco.FixedField[Scalars, any]{
		Type:   parco.SkipType(10),
		Getter: func(*Scalars) any { return nil },
		Setter: func(*Scalars, any) {},
	})
