// The resource usage of a process or thread, as counted by the kernel.
#pragma once

#include <chrono>
#include <cstdint>

namespace bench::table {

// The resident bytes of this process.
[[nodiscard]] std::int64_t resident_bytes();

// Time on a core, of this thread and of all threads of this process: waiting for a core does not count.
[[nodiscard]] std::chrono::nanoseconds thread_cpu_time() noexcept;
[[nodiscard]] std::chrono::nanoseconds process_cpu_time() noexcept;

}  // namespace bench::table
