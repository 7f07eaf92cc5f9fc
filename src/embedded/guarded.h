// Keeps exceptions from crossing the public API: running out of memory becomes an error or a denial.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "weir/result.h"

namespace weir::embedded {

// Returns the result of work(), or an error. "out of memory" fits into the small buffer of std::string, so the error
// itself allocates nothing.
template <class Work>
auto guarded(Work&& work) noexcept -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return failure("engine", "out of memory");
  } catch (const std::exception& thrown) {
    return failure("engine", thrown.what());
  }
}

// Returns `otherwise` on an exception.
template <class Work, class Otherwise>
auto guarded(Work&& work, Otherwise&& otherwise) noexcept -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception&) {
    return std::forward<Otherwise>(otherwise);
  }
}

}  // namespace weir::embedded
