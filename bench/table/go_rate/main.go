// go_rate SEQUENCE KEYS BURST: Go's golang.org/x/time/rate, one limiter per key.
//
// It takes the orders of table/contender_main.cpp and goes through the steps of table/measure.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_rate:", err)
		os.Exit(1)
	}
}

// fill gives the worst and the final bytes per key.
func fill(l *limiters, keys uint32, residentBefore int64) (worst, last float64) {
	const firstSample, keysPerSample = 1_000_000, 512 * blockLength
	numbers := make([]uint32, blockLength)
	for done := uint32(0); done < keys; {
		for i := range numbers {
			numbers[i] = done
			done++
		}
		l.decideAll(numbers)
		if done >= firstSample && (done%keysPerSample == 0 || done >= keys) {
			last = float64(residentBytes()-residentBefore) / float64(done)
			worst = max(worst, last)
		}
	}
	return worst, last
}

func exhaust(l *limiters, keys, stride uint32) {
	var k key
	now := time.Now()
	for number := uint32(0); number < keys; number += stride {
		writeKey(number, &k)
		for l.decide(&k, now) {
		}
	}
}

// run gives the time from the first thread's start to the last one's end, the time on a core in
// nanoseconds, and the number admitted.
func run(l *limiters, numbers []uint32, threads int) (wall time.Duration, cpu int64, admitted int) {
	cpuBefore := timeOf(processCPU)
	type part struct {
		start, end time.Time
		admitted   int
	}
	parts := make([]part, threads)
	var ready, done sync.WaitGroup
	ready.Add(threads)
	done.Add(threads)
	for i := range parts {
		go func() {
			defer done.Done()
			length := len(numbers) / threads
			ready.Done()
			ready.Wait()
			parts[i].start = time.Now()
			parts[i].admitted = l.decideAll(numbers[i*length : (i+1)*length])
			parts[i].end = time.Now()
		}()
	}
	done.Wait()
	start, end := parts[0].start, parts[0].end
	for _, p := range parts {
		if p.start.Before(start) {
			start = p.start
		}
		if p.end.After(end) {
			end = p.end
		}
		admitted += p.admitted
	}
	return end.Sub(start), timeOf(processCPU) - cpuBefore, admitted
}

// grow gives the longest single insert, in nanoseconds of this thread.
func grow(l *limiters, keys uint32) (longest int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var k key
	var now time.Time
	for number := uint32(0); number < keys; number++ {
		if number%blockLength == 0 {
			now = time.Now()
		}
		writeKey(number, &k)
		before := timeOf(threadCPU)
		l.decide(&k, now)
		longest = max(longest, timeOf(threadCPU)-before)
	}
	return longest
}

func main() {
	if len(os.Args) != 4 {
		must(fmt.Errorf("usage: go_rate SEQUENCE KEYS BURST"))
	}
	sequence := readSequence(os.Args[1])
	keys, err := strconv.ParseUint(os.Args[2], 10, 32)
	must(err)
	burst, err := strconv.Atoi(os.Args[3])
	must(err)

	residentBefore := residentBytes()
	l := &limiters{byKey: make(map[string]*rate.Limiter), burst: burst}
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		var order string
		var first, count, threads int
		// Orders have one to four words.
		_, _ = fmt.Sscan(orders.Text(), &order, &first, &count, &threads)
		switch order {
		case "fill":
			worst, last := fill(l, uint32(keys), residentBefore)
			fmt.Println(worst, last)
		case "exhaust":
			exhaust(l, uint32(keys), uint32(first))
			fmt.Println("done")
		case "run":
			wall, cpu, admitted := run(l, sequence[first:first+count], threads)
			fmt.Println(wall.Nanoseconds(), cpu, admitted)
		case "grow":
			fmt.Println(grow(l, uint32(keys)))
		default:
			must(fmt.Errorf("%s: not an order", order))
		}
	}
}
