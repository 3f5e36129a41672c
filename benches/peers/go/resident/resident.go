// Package resident answers the requests of the suites: one line on standard input, one on standard output, as
// benches/README.md describes.
package resident

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Batch does what a row does, n times, and returns the check value of one operation.
type Batch func(n int) (uint64, error)

// Each repeats one operation.
func Each(operation func() (uint64, error)) Batch {
	return func(n int) (check uint64, err error) {
		for range n {
			if check, err = operation(); err != nil {
				return 0, err
			}
		}
		return check, nil
	}
}

// Checked repeats an operation that returns the length of what it wrote or read. check is the value of the row, which
// stands for that length where the implementation has another format than ours.
func Checked(length, check uint64, operation func() (int, error)) Batch {
	return Each(func() (uint64, error) {
		found, err := operation()
		if err == nil && uint64(found) != length {
			err = fmt.Errorf("a length of %d, expected %d", found, length)
		}
		return check, err
	})
}

// Serve answers requests until the end of input. setUp prepares an implementation of a row, and returns nil if there is
// none; it is called once for each.
func Serve(setUp func(row, implementation string) (Batch, error)) {
	type key struct{ row, implementation string }
	ready := map[key]Batch{}
	answer := func(request []string) (string, error) {
		if len(request) != 4 {
			return "", fmt.Errorf("%d fields, expected 4", len(request))
		}
		n, err := strconv.Atoi(request[3])
		if err != nil {
			return "", err
		}
		key := key{request[1], request[2]}
		batch, found := ready[key]
		if !found {
			if batch, err = setUp(key.row, key.implementation); err != nil {
				return "", err
			}
			ready[key] = batch
		}
		if batch == nil {
			return "none", nil
		}
		switch request[0] {
		case "run":
			start := time.Now()
			check, err := batch(n)
			return fmt.Sprintf("ok\t%d\t%d", time.Since(start).Nanoseconds(), check), err
		case "count":
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := batch(n)
			runtime.ReadMemStats(&after)
			return fmt.Sprintf("ok\t%d\t%d", after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs), err
		}
		return "", fmt.Errorf("unknown request %q", request[0])
	}
	for requests := bufio.NewScanner(os.Stdin); requests.Scan(); {
		text, err := guarded(func() (string, error) { return answer(strings.Split(requests.Text(), "\t")) })
		if err != nil {
			text = "error\t" + strings.Join(strings.Fields(err.Error()), " ")
		}
		fmt.Println(text)
	}
}

// guarded turns a panic into an error.
func guarded(answer func() (string, error)) (text string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panicked: %v", cause)
		}
	}()
	return answer()
}
