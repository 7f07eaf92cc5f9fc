// What a process or a thread has used so far, as the kernel counts it.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench::table {

// Bytes of this process in memory now.
[[nodiscard]] std::int64_t resident_bytes();

// Time on a core, of this thread and of all threads of this process: waiting for a core does not count.
[[nodiscard]] std::chrono::nanoseconds thread_cpu_time() noexcept;
[[nodiscard]] std::chrono::nanoseconds process_cpu_time() noexcept;

}  // namespace bench::table
