package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// residentBytes is how much of this process is in memory now.
func residentBytes() int64 {
	statm, err := os.ReadFile("/proc/self/statm")
	must(err)
	var total, resident int64
	_, err = fmt.Sscan(string(statm), &total, &resident)
	must(err)
	return resident * int64(os.Getpagesize())
}

// Clocks of the time on a core, by the kernel's numbers.
const (
	processCPU = 2
	threadCPU  = 3
)

// timeOf reads one of them, in nanoseconds.
func timeOf(clock uintptr) int64 {
	var time syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}

// readSequence maps a file of 32-bit numbers.
func readSequence(path string) []uint32 {
	file, err := os.Open(path)
	must(err)
	defer file.Close()
	about, err := file.Stat()
	must(err)
	const populate = syscall.MAP_SHARED | syscall.MAP_POPULATE
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(about.Size()), syscall.PROT_READ, populate)
	must(err)
	return unsafe.Slice((*uint32)(unsafe.Pointer(&bytes[0])), len(bytes)/4)
}
