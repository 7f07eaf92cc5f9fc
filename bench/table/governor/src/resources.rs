//! What the process and the thread have used so far, as the kernel counts it.

pub fn resident_bytes() -> i64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: i64 = statm.split(' ').nth(1).and_then(|field| field.parse().ok()).expect("resident pages");
    // SAFETY: no preconditions.
    pages * unsafe { libc::sysconf(libc::_SC_PAGESIZE) }
}

pub fn thread_cpu_nanoseconds() -> i64 {
    let mut used = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `used` is valid to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut used) };
    used.tv_sec * 1_000_000_000 + used.tv_nsec
}
