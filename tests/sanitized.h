// The number of random cases that a test runs. The optimised build runs all of them. A sanitizer makes tests ten times
// as slow, and a tenth of the cases is enough for what it can find: memory errors, overflow and races, not wrong
// numbers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace weir {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif
#else
inline constexpr bool is_sanitized = false;
#endif

constexpr std::uint64_t cases(std::uint64_t whole) {
  return is_sanitized ? std::max<std::uint64_t>(1, whole / 10) : whole;
}

}  // namespace weir
