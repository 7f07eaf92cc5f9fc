//! What the process and the thread have used so far, as the kernel counts it.

pub fn resident_bytes() -> i64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: i64 = statm.split(' ').nth(1).and_then(|field| field.parse().ok()).expect("resident pages");
    // SAFETY: no preconditions.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) }
}

pub fn thread_cpu_nanoseconds() -> i64 {
    nanoseconds_of(libc::CLOCK_THREAD_CPUTIME_ID)
}

pub fn process_cpu_nanoseconds() -> i64 {
    nanoseconds_of(libc::CLOCK_PROCESS_CPUTIME_ID)
}

fn nanoseconds_of(clock: libc::clockid_t) -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid to write to.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}
