// What a process or a thread has used so far, as the kernel counts it.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench::table {

// Bytes of this process in memory now.
[[nodiscard]] std::int64_t resident_bytes();

// The time this thread has run on a core: what other processes do to the machine does not count.
[[nodiscard]] std::chrono::nanoseconds thread_cpu_time() noexcept;

}  // namespace bench::table
