#include "store/redis/state_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "wire/resp/integer_text.h"

namespace weir::store::redis {
namespace {

constexpr std::int64_t exact = std::int64_t{1} << 53;
constexpr std::int64_t windows = std::int64_t{1} << 20;

struct Numbers {
  std::int64_t a = 0;
  std::int64_t b = 0;
};

std::optional<std::int64_t> number_in(std::string_view text) noexcept {
  const auto number = wire::resp::parse_integer(text);
  if (!number || *number < 0 || *number >= exact) return {};
  return number;
}

std::optional<Numbers> numbers_in(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  const auto a = number_in(text.substr(0, colon));
  if (!a) return {};
  if (colon == std::string_view::npos) return Numbers{*a, 0};
  const auto b = number_in(text.substr(colon + 1));
  if (!b) return {};
  return Numbers{*a, *b};
}

// A window's start and count. Its number is kept modulo 2^20, and is the one nearest to that of the present window.
struct CountedWindow {
  std::int64_t start = 0;
  std::uint64_t count = 0;
};

std::optional<CountedWindow> window_in(std::int64_t number, std::int64_t length, Instant now) noexcept {
  const std::int64_t present = core::window_start(core::micros(now), length) / length;
  std::int64_t ahead = (number - present) & (windows - 1);
  if (ahead >= windows / 2) ahead -= windows;
  const std::int64_t found = std::max<std::int64_t>(present + ahead, -2);  // long over
  if (found > exact / length - 2) return {};
  return CountedWindow{found * length, static_cast<std::uint64_t>(number / windows)};
}

}  // namespace

bool read_state(std::string_view text, const core::ArrivalLimit& /*limit*/, Instant /*now*/,
                core::ArrivalState& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  state = {numbers->a, numbers->b};
  return true;
}

bool read_state(std::string_view text, const core::WindowLimit& limit, Instant now,
                core::FixedWindow::State& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  const auto window = window_in(numbers->a, limit.window, now);
  if (!window) return false;
  state = {window->start + limit.window, window->count};
  return true;
}

bool read_state(std::string_view text, const core::WindowLimit& limit, Instant now,
                core::SlidingWindowCounter::State& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  const auto window = window_in(numbers->a, limit.window, now);
  if (!window) return false;
  state = {window->start, static_cast<std::uint64_t>(numbers->b), window->count};
  return true;
}

}  // namespace weir::store::redis
