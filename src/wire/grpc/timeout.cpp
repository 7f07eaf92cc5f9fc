#include "wire/grpc/timeout.h"

#include <charconv>
#include <cstdint>
#include <system_error>

namespace weir::wire::grpc {

std::optional<Duration> parse_timeout(std::string_view text) noexcept {
  constexpr std::size_t most_digits = 8;
  if (text.size() < 2 || text.size() > most_digits + 1 || text.front() == '-') return std::nullopt;
  std::int64_t number = 0;
  const char* const unit = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(text.data(), unit, number);
  if (error != std::errc{} || end != unit) return std::nullopt;
  switch (*unit) {
    case 'H':
      return std::chrono::hours{number};
    case 'M':
      return std::chrono::minutes{number};
    case 'S':
      return std::chrono::seconds{number};
    case 'm':
      return std::chrono::milliseconds{number};
    case 'u':
      return std::chrono::microseconds{number};
    case 'n':
      return std::chrono::floor<Duration>(std::chrono::nanoseconds{number});
    default:
      return std::nullopt;
  }
}

}  // namespace weir::wire::grpc
