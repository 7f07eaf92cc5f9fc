// Nothing throws across the public API: what memory has no room for is an error, or a denial.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "weir/result.h"

namespace weir::embedded {

// The result of work(), or why there is none. `where` and the sentence for want of memory are so short that they need
// none themselves.
template <class Work>
auto guarded(Work&& work) noexcept -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return failure("memory", "none is left");
  } catch (const std::exception& thrown) {
    return failure("engine", thrown.what());
  }
}

// The same for what has no errors: `otherwise` stands for the result.
template <class Work, class Otherwise>
auto guarded(Work&& work, Otherwise&& otherwise) noexcept -> decltype(work()) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::exception&) {
    return std::forward<Otherwise>(otherwise);
  }
}

}  // namespace weir::embedded
