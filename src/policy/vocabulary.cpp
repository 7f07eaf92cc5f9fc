#include "policy/vocabulary.h"

#include <array>
#include <cstddef>

namespace weir::policy {
namespace {

template <std::size_t N, class Enum>
std::string_view word(const std::array<std::string_view, N>& words, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? words[index] : "unknown";
}

template <class Range, class Text>
std::string joined(const Range& range, std::string_view separator, Text text) {
  std::string all;
  bool first = true;
  for (const auto& each : range) {
    if (!first) all += separator;
    first = false;
    all += text(each);
  }
  return all;
}

std::string text_of(const std::vector<AddressRange>& ranges) {
  return "[" + joined(ranges, ", ", [](const AddressRange& range) { return range.text(); }) + "]";
}

}  // namespace

std::string_view name_of(PolicyAlgorithm algorithm) noexcept {
  static constexpr std::array<std::string_view, 6> words{
      "token_bucket", "gcra", "leaky_bucket", "fixed_window", "sliding_window_log", "sliding_window_counter"};
  return word(words, algorithm);
}

std::string_view name_of(Missing missing) noexcept {
  static constexpr std::array<std::string_view, 3> words{"skip", "share", "deny"};
  return word(words, missing);
}

std::string_view name_of(Mode mode) noexcept {
  static constexpr std::array<std::string_view, 2> words{"enforce", "shadow"};
  return word(words, mode);
}

std::string_view name_of(OnStoreFailure choice) noexcept {
  static constexpr std::array<std::string_view, 3> words{"local", "open", "closed"};
  return word(words, choice);
}

std::string_view name_of(Consistency consistency) noexcept {
  static constexpr std::array<std::string_view, 3> words{"exact", "leased", "approximate"};
  return word(words, consistency);
}

std::string_view name_of(KeyPart::Kind kind) noexcept {
  static constexpr std::array<std::string_view, 6> words{"user", "api_key", "ip", "global", "route", "header:"};
  return word(words, kind);
}

std::string text_of(const KeyPart& part) {
  std::string text{name_of(part.kind)};
  if (part.kind == KeyPart::Kind::header) text += part.header;
  return text;
}

std::string text_of(const ConsumerKey& key) {
  const auto together = [](const std::vector<KeyPart>& parts) {
    return joined(parts, "+", [](const KeyPart& part) { return text_of(part); });
  };
  std::string text = joined(key.alternatives, ", ", together);
  return key.alternatives.size() == 1 ? text : "[" + text + "]";
}

std::string text_of(const When& when) {
  switch (when.kind) {
    case When::Kind::always:
      return "always";
    case When::Kind::authenticated:
      return "authenticated";
    case When::Kind::anonymous:
      return "anonymous";
    case When::Kind::ip_in:
      return "{ ip_in: " + text_of(when.ranges) + " }";
    case When::Kind::ip_not_in:
      return "{ ip_not_in: " + text_of(when.ranges) + " }";
  }
  return "unknown";
}

Identity Identity::defaults() {
  Identity identity;
  Address loopback;
  loopback.bytes[0] = 127;
  identity.trusted_proxies.push_back({loopback, 8});
  Address loopback6{.family = Address::Family::v6};
  loopback6.bytes[15] = 1;
  identity.trusted_proxies.push_back({loopback6, 128});
  return identity;
}

}  // namespace weir::policy
