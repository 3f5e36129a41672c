// Package sampler times operations while the thread has its core for itself, as benches/src/sampler.rs does for the
// suites in Rust, which gives the reasons.
package sampler

import (
	"cmp"
	"flag"
	"math/bits"
	"slices"
	"testing"
	"time"
)

const (
	samples     = 100
	enough      = 10
	limit       = 40
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

// disturbance returns how much longer three independent calculations take than one, as a part of that time.
func disturbance() float64 {
	start := time.Now()
	a := uint64(start.Nanosecond())
	for range 10_000 {
		a = bits.RotateLeft64(a, 5) + 7
	}
	one := float64(time.Since(start))
	b, c := a+1, a+2
	for range 10_000 {
		a = bits.RotateLeft64(a, 5) + 7
		b = bits.RotateLeft64(b, 5) + 7
		c = bits.RotateLeft64(c, 5) + 7
	}
	three := float64(time.Since(start)) - one
	result = a + b + c
	return max(three/one-1, 1-three/one)
}

// result keeps the calculations from being left out.
var result uint64
