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

// threadCPUTime is how long this thread has run on a core, in nanoseconds.
func threadCPUTime() int64 {
	const clockThreadCPUTime = 3
	var used syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockThreadCPUTime, uintptr(unsafe.Pointer(&used)), 0)
	return used.Nano()
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
