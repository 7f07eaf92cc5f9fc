//! governor_contender SEQUENCE KEYS BURST: Rust's governor, keyed, on its DashMap store.
//!
//! Takes the orders of table/contender_main.cpp and goes through the steps of table/measure.h.

mod block_clock;
mod keys;
mod resources;

use std::io::{self, BufRead};
use std::num::NonZeroU32;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};

use block_clock::BlockClock;
use keys::{empty_slot, write_key, BLOCK_LENGTH};
use resources::{process_cpu_nanoseconds, resident_bytes, thread_cpu_nanoseconds};

type Limiter = RateLimiter<String, DashMapStateStore<String>, BlockClock, NoOpMiddleware<Nanos>>;

/// Seven per three hours, as in table/quota.h.
fn quota(burst: NonZeroU32) -> Quota {
    let token = Duration::from_secs(3 * 60 * 60) / 7;
    Quota::with_period(token).expect("a period above zero").allow_burst(burst)
}

fn decide_all(limiter: &Limiter, numbers: &[u32]) -> usize {
    let mut block: [String; BLOCK_LENGTH] = std::array::from_fn(|_| empty_slot());
    let mut admitted = 0;
    for part in numbers.chunks_exact(BLOCK_LENGTH) {
        BlockClock::refresh();
        for (number, slot) in part.iter().zip(&mut block) {
            write_key(*number, slot);
        }
        for key in &block {
            admitted += usize::from(limiter.check_key(key).is_ok());
        }
    }
    admitted
}

/// Worst and final bytes per key.
fn fill(limiter: &Limiter, keys: u32, resident_before: i64) -> (f64, f64) {
    const FIRST_SAMPLE: u32 = 1_000_000;
    const KEYS_PER_SAMPLE: u32 = 512 * BLOCK_LENGTH as u32;
    let (mut worst, mut last) = (0.0, 0.0);
    let mut done = 0;
    while done < keys {
        let numbers: [u32; BLOCK_LENGTH] = std::array::from_fn(|i| done + i as u32);
        decide_all(limiter, &numbers);
        done += BLOCK_LENGTH as u32;
        if done >= FIRST_SAMPLE && (done % KEYS_PER_SAMPLE == 0 || done >= keys) {
            last = (resident_bytes() - resident_before) as f64 / f64::from(done);
            worst = f64::max(worst, last);
        }
    }
    (worst, last)
}

fn exhaust(limiter: &Limiter, keys: u32, stride: usize) {
    let mut key = empty_slot();
    BlockClock::refresh();
    for number in (0..keys).step_by(stride) {
        write_key(number, &mut key);
        while limiter.check_key(&key).is_ok() {}
    }
}

/// Nanoseconds from the first thread's start to the last one's end, those on a core, and the number admitted.
fn run(limiter: &Limiter, numbers: &[u32], threads: usize) -> (u128, i64, usize) {
    let cpu_before = process_cpu_nanoseconds();
    let ready = Barrier::new(threads);
    let work = |part: &[u32]| {
        ready.wait();
        let start = Instant::now();
        let admitted = decide_all(limiter, part);
        (start, Instant::now(), admitted)
    };
    let parts: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> =
            numbers.chunks_exact(numbers.len() / threads).map(|part| scope.spawn(|| work(part))).collect();
        running.into_iter().map(|thread| thread.join().expect("a thread failed")).collect()
    });
    let start = parts.iter().map(|part| part.0).min().expect("a thread");
    let end = parts.iter().map(|part| part.1).max().expect("a thread");
    ((end - start).as_nanos(), process_cpu_nanoseconds() - cpu_before, parts.iter().map(|part| part.2).sum())
}

/// The longest single insert, in nanoseconds of this thread.
fn grow(limiter: &Limiter, keys: u32) -> i64 {
    let mut key = empty_slot();
    let mut longest = 0;
    for number in 0..keys {
        if number as usize % BLOCK_LENGTH == 0 {
            BlockClock::refresh();
        }
        write_key(number, &mut key);
        let before = thread_cpu_nanoseconds();
        let _ = limiter.check_key(&key);
        longest = longest.max(thread_cpu_nanoseconds() - before);
    }
    longest
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, sequence, keys, burst] = arguments.as_slice() else {
        panic!("usage: governor_contender SEQUENCE KEYS BURST");
    };
    let bytes = std::fs::read(sequence).expect("a readable key sequence");
    let numbers: Vec<u32> =
        bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    drop(bytes);
    let keys: u32 = keys.parse().expect("KEYS as a number");

    let resident_before = resident_bytes();
    let limiter = Limiter::dashmap_with_clock(quota(burst.parse().expect("BURST as a number")), BlockClock);
    for line in io::stdin().lock().lines() {
        let line = line.expect("an order");
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |i: usize| -> usize { words[i].parse().expect("a number") };
        match words.as_slice() {
            ["fill"] => {
                let (worst, last) = fill(&limiter, keys, resident_before);
                println!("{worst} {last}");
            }
            ["exhaust", _] => {
                exhaust(&limiter, keys, number(1));
                println!("done");
            }
            ["run", _, _, _] => {
                let (wall, cpu, admitted) = run(&limiter, &numbers[number(1)..][..number(2)], number(3));
                println!("{wall} {cpu} {admitted}");
            }
            ["grow"] => println!("{}", grow(&limiter, keys)),
            _ => panic!("{line}: not an order"),
        }
    }
}
