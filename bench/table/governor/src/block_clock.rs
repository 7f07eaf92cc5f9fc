//! The time of the block being decided: read once per 32 decisions, as in table/block_clock.h.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::Instant;

use governor::clock::Clock;
use governor::nanos::Nanos;

thread_local! {
    static BLOCK_TIME: Cell<u64> = const { Cell::new(0) };
}

static EPOCH: OnceLock<Instant> = OnceLock::new();

#[derive(Clone, Default)]
pub struct BlockClock;

impl BlockClock {
    pub fn refresh() {
        let elapsed = EPOCH.get_or_init(Instant::now).elapsed();
        BLOCK_TIME.set(elapsed.as_nanos() as u64);
    }
}

impl Clock for BlockClock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        Nanos::new(BLOCK_TIME.get())
    }
}
