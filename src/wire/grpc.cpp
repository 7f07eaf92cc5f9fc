#include "wire/grpc.h"

#include <array>

#include "base/ascii.h"
#include "base/number.h"
#include "base/percent.h"

namespace weir::wire::grpc {

MessageStep first_message(std::string_view body, std::size_t max_size) noexcept {
  using Kind = MessageStep::Kind;
  if (body.size() < message_prefix) return {Kind::partial};
  std::size_t size = 0;
  for (std::size_t i = 1; i < message_prefix; ++i) size = size << 8U | static_cast<std::uint8_t>(body[i]);
  if (body[0] == 1) return {Kind::compressed};
  if (body[0] != 0) return {Kind::malformed};
  if (size > max_size) return {Kind::too_long};
  if (body.size() - message_prefix < size) return {Kind::partial};
  return {Kind::whole, body.substr(message_prefix, size), message_prefix + size};
}

std::optional<Duration> parse_timeout(std::string_view text) noexcept {
  constexpr std::size_t max_digits = 8;
  if (text.size() < 2 || text.size() > max_digits + 1 || text.front() == '-') return std::nullopt;
  const auto number = base::parse_number<std::int64_t>(text.substr(0, text.size() - 1));
  if (!number) return std::nullopt;
  const char unit = text.back();
  if (unit == 'n') return std::chrono::floor<Duration>(std::chrono::nanoseconds{*number});
  constexpr std::string_view units = "HMSmu";
  constexpr std::array<Duration, units.size()> lengths{std::chrono::hours{1}, std::chrono::minutes{1},
                                                       std::chrono::seconds{1}, std::chrono::milliseconds{1},
                                                       std::chrono::microseconds{1}};
  const std::size_t at = units.find(unit);
  return at < units.size() ? std::optional{*number * lengths[at]} : std::nullopt;
}

std::string_view text_of(Status status) noexcept {
  static constexpr std::array<std::string_view, 17> texts{"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                                          "9", "10", "11", "12", "13", "14", "15", "16"};
  return texts[static_cast<std::size_t>(status)];
}

std::string encode_message(std::string_view message) {
  return base::percent_encoded(message, [](char c) { return base::is_printable(c) && c != '%'; });
}

}  // namespace weir::wire::grpc
