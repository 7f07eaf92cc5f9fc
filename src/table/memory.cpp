#include "table/memory.h"

#include <sys/mman.h>

#include <cstring>
#include <string>
#include <utility>

namespace weir::table {

Result<Region> Region::reserve(std::size_t bytes) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    return failure("memory_budget", "cannot reserve " + std::to_string(bytes >> 20) +
                                        " MiB of address space: set a smaller budget, or raise the limit (ulimit -v, "
                                        "vm.overcommit_memory)");
  }
  // With huge pages the first write to a small part would cost two megabytes.
  madvise(at, bytes, MADV_NOHUGEPAGE);
  Region region;
  region.data_ = static_cast<std::byte*>(at);
  region.size_ = bytes;
  return region;
}

Region::Region(Region&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Region& Region::operator=(Region&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Region::~Region() {
  if (data_ != nullptr) munmap(data_, size_);
}

void Region::release(std::byte* from, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  if (madvise(from, bytes, MADV_DONTNEED) != 0) std::memset(from, 0, bytes);
}

}  // namespace weir::table
