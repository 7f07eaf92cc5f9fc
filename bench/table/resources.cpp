#include "table/resources.h"

#include <unistd.h>

#include <ctime>
#include <fstream>

namespace bench::table {
namespace {

std::chrono::nanoseconds time_of(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total_pages = 0;
  std::int64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

std::chrono::nanoseconds thread_cpu_time() noexcept {
  return time_of(CLOCK_THREAD_CPUTIME_ID);
}

std::chrono::nanoseconds process_cpu_time() noexcept {
  return time_of(CLOCK_PROCESS_CPUTIME_ID);
}

}  // namespace bench::table
