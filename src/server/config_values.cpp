#include "server/config_values.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "base/ascii.h"
#include "base/number.h"
#include "policy/words.h"
#include "text/yaml/scalar.h"

namespace weir::server {
namespace {

constexpr std::uint32_t largest_sample = 1'000'000;
constexpr std::size_t max_host_length = 253;
constexpr std::size_t max_path_length = 4095;  // PATH_MAX, without its NUL
constexpr std::size_t max_prefix_length = 64;
constexpr std::size_t max_word_length = 128;

struct Unit {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array<Unit, 3> units{
    {{"GiB", std::size_t{1} << 30}, {"MiB", std::size_t{1} << 20}, {"KiB", std::size_t{1} << 10}}};

tl::unexpected<Error> wrong(std::string_view text, std::string what) {
  return failure(text::in_quotes(text), std::move(what));
}

constexpr bool is_visible(char c) noexcept {
  return c > ' ' && c < 0x7f;
}

// Empty unless all of the text is one number that fits, without a leading zero.
template <class Number>
std::optional<Number> number_in(std::string_view text) noexcept {
  return text.size() > 1 && text.front() == '0' ? std::nullopt : base::parse_number<Number>(text);
}

std::optional<Share> share_in(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const auto part = number_in<std::uint32_t>(text.substr(0, slash));
  const auto whole = number_in<std::uint32_t>(text.substr(std::min(slash + 1, text.size())));
  if (!part || !whole || *part == 0 || *part > *whole || *whole > largest_sample) return {};
  return Share{*part, *whole};
}

Share reduced(Share share) noexcept {
  const std::uint32_t common = std::gcd(share.part, share.whole);
  return {share.part / common, share.whole / common};
}

// Not in every container.
bool has_ipv6() noexcept {
  const int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return errno != EAFNOSUPPORT;
  ::close(probe);
  return true;
}

}  // namespace

Result<std::size_t> parse_size(std::string_view text, SizeBounds bounds) {
  const auto* const unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& each) { return text.ends_with(each.name); });
  const std::string_view digits = unit == units.end() ? "" : text.substr(0, text.size() - unit->name.size());
  if (digits.empty() || !std::ranges::all_of(digits, base::is_digit) || (digits.size() > 1 && digits.front() == '0')) {
    return wrong(text, "not a size: write it like 64KiB, 256MiB or 2GiB");
  }
  const auto count = number_in<std::uint64_t>(digits);
  if (!count || *count > bounds.most / unit->bytes) {
    return wrong(text, fmt::format("too large: at most {}", size_text(bounds.most)));
  }
  const std::size_t bytes = *count * unit->bytes;
  if (bytes < bounds.least) return wrong(text, fmt::format("too small: at least {}", size_text(bounds.least)));
  return bytes;
}

std::string size_text(std::size_t bytes) {
  const auto* const unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& each) { return bytes > 0 && bytes % each.bytes == 0; });
  return unit == units.end() ? fmt::format("{} bytes", bytes) : fmt::format("{}{}", bytes / unit->bytes, unit->name);
}

Result<Duration> parse_time(std::string_view text, TimeBounds bounds) {
  const auto time = text == "0s" ? Result<Duration>(Duration::zero()) : text::parse_duration(text);
  if (!time) return time;
  if (*time < bounds.least) {
    return wrong(text, fmt::format("too short: at least {}", policy::duration_text(bounds.least)));
  }
  if (*time > bounds.most) {
    return wrong(text, fmt::format("too long: at most {}", policy::duration_text(bounds.most)));
  }
  return *time;
}

Result<Share> parse_sample(std::string_view text) {
  if (text.find('/') != std::string_view::npos) {
    if (const auto share = share_in(text)) return reduced(*share);
    return wrong(text, "a share is above 0 and at most 1, like 1/10; its numbers are at most 1000000");
  }
  const auto millionths = text::parse_share(text);
  if (!millionths) return tl::unexpected<Error>(millionths.error());
  return reduced({*millionths, largest_sample});
}

Result<mode_t> parse_mode(std::string_view text) {
  const std::string_view digits = text.size() == 4 && text.front() == '0' ? text.substr(1) : text;
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  if (digits.size() != 3 || !std::ranges::all_of(digits, is_octal)) {
    return wrong(text, "not the mode of a file: write it like \"0660\"");
  }
  mode_t mode = 0;
  for (const char digit : digits) mode = mode * 8 + static_cast<mode_t>(digit - '0');
  return mode;
}

Result<net::Address> parse_listen(std::string_view text) {
  const bool is_port_alone = text.starts_with(':') && text.size() > 1 && text[1] != ':';
  auto address =
      net::Address::parse(is_port_alone ? (has_ipv6() ? "[::]" : "0.0.0.0") + std::string(text) : std::string(text));
  if (!address) return wrong(text, std::move(address.error().what));
  if (address->unix_socket() && !address->host().starts_with('/')) {
    return wrong(text, "the path of a unix socket begins at the root: write unix:/run/weir/http.sock");
  }
  return *std::move(address);
}

Result<std::string> parse_host(std::string_view text) {
  const auto fits = [](char c) { return base::is_letter_or_digit(c) || c == '-' || c == '.' || c == '_'; };
  if (text == "*") return std::string(text);
  if (text.empty() || text.size() > max_host_length || !std::ranges::all_of(text, fits)) {
    return wrong(text, "not the name of a host: write it like limits.example.com, without a port, or \"*\" for any");
  }
  return std::string(text);
}

Result<std::filesystem::path> parse_path(std::string_view text, const std::filesystem::path& folder) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (text.empty() || std::ranges::any_of(text, is_control)) {
    return wrong(text, "not the path of a file: it is empty, or has control characters in it");
  }
  if (text.starts_with("~/")) return wrong(text, "~ is not looked up here: write the path from the root");
  if (text.size() > max_path_length) return wrong(text, fmt::format("too long: at most {} bytes", max_path_length));
  return (folder / text).lexically_normal();
}

Result<std::string> parse_word(std::string_view text) {
  if (text.empty() || text.size() > max_word_length || !std::ranges::all_of(text, is_visible)) {
    return wrong(text, fmt::format("not a name: 1 to {} visible characters", max_word_length));
  }
  return std::string(text);
}

Result<std::string> parse_prefix(std::string_view text) {
  const auto fits = [](char c) { return is_visible(c) && c != '{' && c != '}'; };
  if (text.empty() || text.size() > max_prefix_length || !std::ranges::all_of(text, fits)) {
    return wrong(text, fmt::format("not a prefix of keys: 1 to {} visible characters without braces, like \"weir:\"",
                                   max_prefix_length));
  }
  return std::string(text);
}

}  // namespace weir::server
