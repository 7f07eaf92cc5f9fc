#include "observe/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <system_error>

namespace weir::observe {
namespace {

std::uint64_t microseconds(const timeval& time) noexcept {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_usec);
}

void read_memory(ProcessFigures& figures) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen("/proc/self/statm", "re"), close);
  unsigned long long all = 0;
  unsigned long long resident = 0;
  if (!file || std::fscanf(file.get(), "%llu %llu", &all, &resident) != 2) return;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  figures.virtual_bytes = all * page;
  figures.resident_bytes = resident * page;
}

void count_descriptors(ProcessFigures& figures) {
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/self/fd", error);
  for (; !error && entries != std::filesystem::directory_iterator{}; entries.increment(error)) {
    ++figures.open_descriptors;
  }
  rlimit bound{};
  if (getrlimit(RLIMIT_NOFILE, &bound) == 0) figures.most_descriptors = bound.rlim_cur;
}

}  // namespace

ProcessFigures process_figures() {
  ProcessFigures figures;
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) == 0) {
    figures.cpu_microseconds = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
  }
  read_memory(figures);
  count_descriptors(figures);
  return figures;
}

}  // namespace weir::observe
