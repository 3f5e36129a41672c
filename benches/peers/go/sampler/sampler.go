// Package sampler times operations while the thread has its core for itself, as benches/src/sampler.rs does for the
// suites in Rust, which gives the reasons.
package sampler

import (
	"cmp"
	"flag"
	"math"
	"math/bits"
	"slices"
	"testing"
	"time"
)

const (
	samples     = 100
	enough      = 10
	limit       = 20
	limitLong   = 10
	undisturbed = 0.1
)

type sample struct{ disturbance, time float64 }

// Run counts the allocations of an operation and reports the mean time of its undisturbed samples, which contains the
// work of the garbage collector. The duration of the measurement is that of -test.benchtime.
func Run(b *testing.B, payload int, operation func() error) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(payload))
	for b.Loop() {
		if err := operation(); err != nil {
			b.Fatal(err)
		}
	}
	measurement, err := time.ParseDuration(flag.Lookup("test.benchtime").Value.String())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(measure(measurement, float64(b.Elapsed())/float64(b.N), func(repetitions int) {
		for range repetitions {
			if err := operation(); err != nil {
				b.Fatal(err)
			}
		}
	}), "ns/op")
	if payload > 0 {
		b.ReportMetric(float64(payload), "payload_bytes/op")
	}
}

func measure(measurement time.Duration, each float64, operations func(repetitions int)) float64 {
	repetitions := int(max(1, float64(measurement/samples)/each))
	longest := measurement * limit
	if each > float64(measurement)/10 {
		longest = measurement * limitLong
	}
	var times, disturbances []float64
	disturbances = append(disturbances, disturbance(), disturbance())
	run, accepted := 0, 0
	for start := time.Now(); ; {
		elapsed := time.Since(start)
		if elapsed >= measurement && (accepted >= enough || elapsed >= longest) {
			break
		}
		begin := time.Now()
		operations(repetitions)
		times = append(times, float64(time.Since(begin))/float64(repetitions))
		latest := disturbance()
		disturbances = append(disturbances, latest)
		if run++; latest >= undisturbed {
			run = 0
		}
		if run >= 4 {
			accepted++
		}
	}
	disturbances = append(disturbances, disturbance())
	taken := make([]sample, len(times))
	for i, time := range times {
		taken[i] = sample{slices.Max(disturbances[i : i+4]), time}
	}
	slices.SortStableFunc(taken, func(a, b sample) int { return cmp.Compare(a.disturbance, b.disturbance) })
	taken = taken[:min(len(taken), max(accepted, enough))]
	sum := 0.0
	for _, sample := range taken {
		sum += sample.time
	}
	return sum / float64(len(taken))
}

// disturbance returns how much longer three independent calculations take than one, as a part of that time. The loops
// are unrolled, because their own instructions would need the same parts of the core.
func disturbance() float64 {
	const steps = 1_250
	start := time.Now()
	a := uint64(start.Nanosecond())
	for range steps {
		a = step(step(a))
		a = step(step(a))
		a = step(step(a))
		a = step(step(a))
	}
	one := float64(time.Since(start))
	b, c := a+1, a+2
	for range steps {
		a, b, c = step(step(a)), step(step(b)), step(step(c))
		a, b, c = step(step(a)), step(step(b)), step(step(c))
		a, b, c = step(step(a)), step(step(b)), step(step(c))
		a, b, c = step(step(a)), step(step(b)), step(step(c))
	}
	three := float64(time.Since(start)) - one
	result = a + b + c
	return math.Abs(three/one - 1)
}

func step(value uint64) uint64 { return bits.RotateLeft64(value, 5) + 7 }

// result keeps the calculations from being left out.
var result uint64
