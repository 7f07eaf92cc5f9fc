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

constexpr std::uint32_t max_sample = 1'000'000;
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

// Returns a value only if the whole text is one number that fits, without a leading zero.
template <class Number>
std::optional<Number> number_in(std::string_view text) noexcept {
  return text.size() > 1 && text.front() == '0' ? std::nullopt : base::parse_number<Number>(text);
}

std::optional<Share> share_in(std::string_view text) noexcept {
  const std::size_t slash = text.find('/');
  const auto part = number_in<std::uint32_t>(text.substr(0, slash));
  const auto whole = number_in<std::uint32_t>(text.substr(std::min(slash + 1, text.size())));
  if (!part || !whole || *part == 0 || *part > *whole || *whole > max_sample) return {};
  return Share{*part, *whole};
}

Share reduced(Share share) noexcept {
  const std::uint32_t common = std::gcd(share.part, share.whole);
  return {share.part / common, share.whole / common};
}

// True if the host has IPv6, which containers may lack.
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
    return wrong(text, "invalid size; write it like 64KiB, 256MiB or 2GiB");
  }
  const auto count = number_in<std::uint64_t>(digits);
  if (!count || *count > bounds.max / unit->bytes) {
    return wrong(text, fmt::format("too large: at most {}", size_text(bounds.max)));
  }
  const std::size_t bytes = *count * unit->bytes;
  if (bytes < bounds.min) return wrong(text, fmt::format("too small: at least {}", size_text(bounds.min)));
  return bytes;
}

std::string size_text(std::size_t bytes, std::string_view separator) {
  const auto* const unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& each) { return bytes > 0 && bytes % each.bytes == 0; });
  if (unit == units.end()) return fmt::format("{} bytes", bytes);
  return fmt::format("{}{}{}", bytes / unit->bytes, separator, unit->name);
}

Result<Duration> parse_time(std::string_view text, TimeBounds bounds) {
  const auto time = text == "0s" ? Result<Duration>(Duration::zero()) : text::parse_duration(text);
  if (!time) return time;
  if (*time < bounds.min) {
    return wrong(text, fmt::format("too short: at least {}", policy::duration_text(bounds.min)));
  }
  if (*time > bounds.max) {
    return wrong(text, fmt::format("too long: at most {}", policy::duration_text(bounds.max)));
  }
  return *time;
}

Result<Share> parse_sample(std::string_view text) {
  if (text.find('/') != std::string_view::npos) {
    if (const auto share = share_in(text)) return reduced(*share);
    return wrong(
        text,
        "invalid share: write a fraction above 0 and at most 1, like 1/10; its denominator can be at most 1000000");
  }
  const auto millionths = text::parse_share(text);
  if (!millionths) return tl::unexpected<Error>(millionths.error());
  return reduced({*millionths, max_sample});
}

Result<mode_t> parse_mode(std::string_view text) {
  const std::string_view digits = text.size() == 4 && text.front() == '0' ? text.substr(1) : text;
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  if (digits.size() != 3 || !std::ranges::all_of(digits, is_octal)) {
    return wrong(text, "invalid file mode; write it like \"0660\"");
  }
  mode_t mode = 0;
  for (const char digit : digits) mode = mode * 8 + static_cast<mode_t>(digit - '0');
  return mode;
}

Result<net::Address> parse_listen(std::string_view text) {
  const bool is_port = !text.empty() && std::ranges::all_of(text, base::is_digit);
  const bool is_any_host = text.starts_with(':') && text.size() > 1 && text[1] != ':';
  const std::string_view host = is_port ? "127.0.0.1:" : !is_any_host ? "" : has_ipv6() ? "[::]" : "0.0.0.0";
  auto address = net::Address::parse(std::string(host) + std::string(text));
  if (!address) return wrong(text, std::move(address.error().what));
  if (address->unix_socket() && !address->host().starts_with('/')) {
    return wrong(text, "unix socket path must be absolute; write unix:/run/weir/http.sock");
  }
  return *std::move(address);
}

Result<std::string> parse_host(std::string_view text) {
  const auto fits = [](char c) { return base::is_letter_or_digit(c) || c == '-' || c == '.' || c == '_'; };
  if (text == "*") return std::string(text);
  if (text.empty() || text.size() > max_host_length || !std::ranges::all_of(text, fits)) {
    return wrong(text, "invalid host name; write it like limits.example.com, without a port, or \"*\" for any");
  }
  return std::string(text);
}

Result<std::filesystem::path> parse_path(std::string_view text, const std::filesystem::path& folder) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (text.empty() || std::ranges::any_of(text, is_control)) {
    return wrong(text, "invalid path: empty, or contains control characters");
  }
  if (text.starts_with("~/")) return wrong(text, "~ is not expanded; write an absolute path");
  if (text.size() > max_path_length) return wrong(text, fmt::format("too long: at most {} bytes", max_path_length));
  return (folder / text).lexically_normal();
}

Result<std::string> parse_word(std::string_view text) {
  if (text.empty() || text.size() > max_word_length || !std::ranges::all_of(text, is_visible)) {
    return wrong(text,
                 fmt::format("invalid name: expected 1 to {} printable characters without spaces", max_word_length));
  }
  return std::string(text);
}

Result<std::string> parse_prefix(std::string_view text) {
  const auto fits = [](char c) { return is_visible(c) && c != '{' && c != '}'; };
  if (text.empty() || text.size() > max_prefix_length || !std::ranges::all_of(text, fits)) {
    return wrong(
        text, fmt::format(
                  "invalid key prefix: expected 1 to {} printable characters without spaces or braces, like \"weir:\"",
                  max_prefix_length));
  }
  return std::string(text);
}

}  // namespace weir::server
