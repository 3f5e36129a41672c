package main

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// data is the message of the report.
type data struct {
	Name    string
	Str     string           `json:"str"`
	Num     uint16           `json:"num"`
	Arr     []uint16         `json:"arr"`
	Map     map[string]uint8 `json:"map"`
	Bool    bool             `json:"bool"`
	Float32 float32          `json:"float32"`
	Float64 float64          `json:"float64"`
}

// workload is the message in one size, with the length that the original writes it as. Its numbers come from a
// generator, with the seeds that make the JSON as long as the report has it.
type workload struct {
	name  string
	data  data
	parco int
}

func workloads() []workload {
	return []workload{
		{"small", filled("small size", 1, 42, 10, 0), 91},
		{"medium", filled("medium size", 10, 42134, 100, 19), 742},
		{"large", filled("large size", 100, 65535, 1000, 17), 8123},
	}
}

func filled(name string, repeats int, num uint16, count int, seed uint64) data {
	text := "oh hi Mark"
	if repeats > 1 {
		text = strings.Repeat("oh hi Mark! ", repeats)
	}
	numbers := splitMix(seed)
	arr := make([]uint16, count)
	for i := range arr {
		arr[i] = uint16(numbers.next() % 65535)
	}
	entries := make(map[string]uint8, count)
	for i := range count {
		entries[strconv.Itoa(i)] = uint8(numbers.next() % 255)
	}
	return data{name, text, num, arr, entries, true, math.MaxFloat32, math.MaxFloat64}
}

// splitMix is the generator SplitMix64.
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// model is the schema of the message with so many elements, which decide on the header of the slice and the map.
func model(elements int) *Model[data] {
	le := binary.LittleEndian
	header := uint8Header()
	if elements > math.MaxUint8 {
		header = uint16Header(le)
	}
	varchar := stringType{uint16Header(le), math.MaxUint16}
	small := stringType{uint8Header(), math.MaxUint8}
	m := new(Model[data])
	with[data, string](m, varchar, func(d *data) string { return d.Name }, func(d *data, v string) { d.Name = v })
	with[data, string](m, varchar, func(d *data) string { return d.Str }, func(d *data, v string) { d.Str = v })
	with(m, uint16Type(le), func(d *data) uint16 { return d.Num }, func(d *data, v uint16) { d.Num = v })
	with[data, Iterable[uint16]](m, sliceType[uint16]{header, uint16Type(le)},
		func(d *data) Iterable[uint16] { return SliceView[uint16](d.Arr) },
		func(d *data, v Iterable[uint16]) { d.Arr = v.Unwrap() })
	with[data, map[string]uint8](m, mapType[string, uint8]{header, small, uint8Type()},
		func(d *data) map[string]uint8 { return d.Map }, func(d *data, v map[string]uint8) { d.Map = v })
	with(m, boolType(), func(d *data) bool { return d.Bool }, func(d *data, v bool) { d.Bool = v })
	with(m, float32Type(le), func(d *data) float32 { return d.Float32 }, func(d *data, v float32) { d.Float32 = v })
	with(m, float64Type(le), func(d *data) float64 { return d.Float64 }, func(d *data, v float64) { d.Float64 = v })
	return m
}
