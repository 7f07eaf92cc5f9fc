#include "wire/resp/throttle.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "base/ascii.h"
#include "base/number.h"
#include "wire/resp/integer_text.h"

namespace weir::wire::resp {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t max_quoted_length = 128;

auto refusal(std::string_view problem, std::string_view argument = {}) {
  std::string what = "Store error: ";
  what += problem;
  what += argument.substr(0, max_quoted_length);
  return failure("Cell error", std::move(what));
}

// Parses like Rust's i64, as redis-cell does: an optional sign and any number of leading zeros.
std::optional<std::int64_t> parse_any_number(std::string_view text) noexcept {
  if (text.size() > 1 && text[0] == '+' && base::is_digit(text[1])) text.remove_prefix(1);
  return base::parse_number<std::int64_t>(text);
}

// The fast path for a few digits.
inline std::optional<std::int64_t> parse_number(std::string_view text) noexcept {
  constexpr std::size_t never_too_large = std::numeric_limits<std::int64_t>::digits10;
  if (text.empty() || text.size() > never_too_large) return parse_any_number(text);
  std::int64_t number = 0;
  for (const char c : text) {
    const unsigned digit = static_cast<std::uint8_t>(c) - unsigned{'0'};
    if (digit > 9) return parse_any_number(text);
    number = number * 10 + digit;
  }
  return number;
}

std::int64_t whole_seconds(Duration duration) noexcept {
  return std::chrono::ceil<std::chrono::seconds>(duration).count();
}

std::int64_t saturated(std::uint64_t number) noexcept {
  return static_cast<std::int64_t>(std::min(number, static_cast<std::uint64_t>(largest)));
}

}  // namespace

Result<ThrottleArguments> parse_throttle(std::span<const std::string_view> arguments) {
  if (arguments.size() != 5 && arguments.size() != 6) {
    return refusal("Usage: cl.throttle <key> <max_burst> <count per period> <period> [<quantity>]");
  }
  std::array<std::int64_t, 4> numbers{0, 0, 0, 1};
  const auto texts = arguments.subspan(2);
  std::int64_t least = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto number = parse_number(texts[i]);
    if (!number) return refusal("Couldn't parse as integer: ", texts[i]);
    numbers[i] = *number;
    least = std::min(least, *number);
  }
  if (least < 0) {
    const auto negative = std::ranges::find_if(numbers, [](std::int64_t number) { return number < 0; });
    return refusal("Negative numbers are not supported: ", texts[static_cast<std::size_t>(negative - numbers.begin())]);
  }
  const auto [max_burst, count, period, quantity] = numbers;
  if (count == 0 || period == 0) return refusal("Zero rates are not supported");
  if (period > std::chrono::floor<std::chrono::seconds>(Duration::max()).count()) {
    return refusal("Period is too long: ", texts[2]);
  }
  const Rate rate{static_cast<std::uint64_t>(count), std::chrono::seconds{period}};
  const auto burst = static_cast<std::uint64_t>(max_burst) + 1;
  return ThrottleArguments{
      .key = arguments[1], .numbers = {rate, burst}, .quantity = Cost(static_cast<std::uint64_t>(quantity))};
}

ThrottleReply throttle_reply(const Decision& decision) noexcept {
  ThrottleReply reply{.limited = decision.admitted ? 0 : 1,
                      .limit = saturated(decision.limit),
                      .remaining = saturated(decision.remaining),
                      .reset_after = whole_seconds(decision.reset_after)};
  if (!decision.admitted && decision.retry_after) reply.retry_after = whole_seconds(*decision.retry_after);
  return reply;
}

void append_throttle_reply(std::string& out, const ThrottleReply& reply) {
  constexpr std::string_view header = "*5\r\n";
  std::array<char, header.size() + 5 * (max_integer_text_length + 3)> room;
  char* end = std::ranges::copy(header, room.data()).out;
  const auto put = [&](std::int64_t number) {
    *end++ = ':';
    end = write_integer_line(end, number);
  };
  put(reply.limited);
  put(reply.limit);
  put(reply.remaining);
  put(reply.retry_after);
  put(reply.reset_after);
  out.append(room.data(), static_cast<std::size_t>(end - room.data()));
}

void append_throttle_reply(std::string& out, const Decision& decision) {
  append_throttle_reply(out, throttle_reply(decision));
}

}  // namespace weir::wire::resp
