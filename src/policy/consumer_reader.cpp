#include "policy/consumer_reader.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/core.h>

#include "policy/map_reader.h"
#include "policy/suggestion.h"

namespace weir::policy {
namespace {

constexpr std::string_view header_prefix = "header:";
constexpr std::size_t most_parts = 8;
constexpr std::size_t most_alternatives = 8;
constexpr std::size_t most_ranges = 10'000;

// A word that has the form of a header's name and of no other word: `X-Tenant`, `Authorization`.
bool is_like_header(std::string_view text) {
  if (!parse_header_name(text)) return false;
  return text.find('-') != std::string_view::npos || (text.front() >= 'A' && text.front() <= 'Z');
}

Result<KeyPart> parse_part(std::string_view text) {
  static const std::array<std::string, 6> words{"user", "api_key", "ip", "global", "route", "header:NAME"};
  if (text.starts_with(header_prefix)) {
    const auto header = parse_header_name(text.substr(header_prefix.size()));
    if (!header) return failure(quoted(text), "header: has to be followed by the name of a header, like X-User-Id");
    return KeyPart{KeyPart::Kind::header, *header};
  }
  const auto* found = std::find(words.begin(), words.end(), text);
  if (found < words.end() - 1) return KeyPart{static_cast<KeyPart::Kind>(found - words.begin()), {}};
  std::string near = did_you_mean(text, words);
  if (near.empty() && is_like_header(text)) near = fmt::format(", did you mean 'header:{}'?", text);
  return failure(quoted(text),
                 near.empty() ? "unknown; write user, api_key, ip, global, route or header:NAME" : "unknown" + near);
}

// `a+b`
Result<std::vector<KeyPart>> parse_together(std::string_view text) {
  std::vector<KeyPart> parts;
  for (std::string_view rest = text;;) {
    const std::size_t plus = rest.find('+');
    const auto part = parse_part(rest.substr(0, plus));
    if (!part) return tl::unexpected<Error>(part.error());
    if (std::find(parts.begin(), parts.end(), *part) != parts.end()) {
      return failure(quoted(text), fmt::format("{} is in it twice", text_of(*part)));
    }
    parts.push_back(*part);
    if (parts.size() > most_parts) return failure(quoted(text), fmt::format("at most {} parts", most_parts));
    if (plus == std::string_view::npos) return parts;
    rest.remove_prefix(plus + 1);
  }
}

// Present in every request, so that nothing after it is ever used.
bool always_present(const std::vector<KeyPart>& parts) {
  return std::all_of(parts.begin(), parts.end(), [](const KeyPart& part) {
    return part.kind == KeyPart::Kind::global || part.kind == KeyPart::Kind::route;
  });
}

// What is wrong with one more alternative after those that are there.
std::optional<std::string> wrong_next(const ConsumerKey& key, const std::vector<KeyPart>& next) {
  const auto& before = key.alternatives;
  if (before.size() == most_alternatives) return fmt::format("at most {} alternatives", most_alternatives);
  if (std::find(before.begin(), before.end(), next) != before.end()) {
    return fmt::format("{} is in the list twice", text_of(ConsumerKey{{next}}));
  }
  if (!before.empty() && always_present(before.back())) {
    return fmt::format("nothing after {} is ever used: every request has it", text_of(ConsumerKey{{before.back()}}));
  }
  return {};
}

}  // namespace

std::optional<Written<ConsumerKey>> read_consumer_key(const yaml::Node& node, Problems& problems) {
  constexpr std::string_view field = "consumer_key";
  if (node.is_map()) {
    problems.error(node.at, "consumer_key has to be a word or a list of words, not a map: write header:NAME");
    return {};
  }
  const std::vector<yaml::Node> alone{node.is_scalar() ? node : yaml::Node{}};
  const std::vector<yaml::Node>* words = node.is_scalar() ? &alone : items_of(node, field, problems);
  if (words == nullptr) return {};
  const std::size_t errors = problems.errors();
  ConsumerKey key;
  for (const yaml::Node& word : *words) {
    auto parts = read_value(word, field, Form::text, parse_together, problems);
    if (!parts) continue;
    if (const auto wrong = wrong_next(key, parts->value)) {
      problems.error(word.at, fmt::format("consumer_key: {}", *wrong));
      break;
    }
    key.alternatives.push_back(std::move(parts->value));
  }
  if (problems.errors() > errors) return {};
  return Written<ConsumerKey>{std::move(key), node.at};
}

std::optional<Written<When>> read_when(const yaml::Node& node, Problems& problems) {
  Written<When> when{{}, node.at};
  if (node.is_scalar()) {
    static const std::array<std::string, 2> words{"authenticated", "anonymous"};
    const auto* found = std::find(words.begin(), words.end(), node.text);
    if (found == words.end()) {
      const std::string near = did_you_mean(node.text, words);
      problems.error(node.at, fmt::format("when {}: unknown{}", quoted(node.text),
                                          near.empty() ? "; write authenticated, anonymous, { ip_in: [...] } or "
                                                         "{ ip_not_in: [...] }, or leave it out"
                                                       : near));
      return {};
    }
    when.value.kind = found == words.begin() ? When::Kind::authenticated : When::Kind::anonymous;
    return when;
  }
  if (!node.is_map()) {
    problems.error(node.at, fmt::format("when has to be a word or a map, not {}", name_of(node.kind)));
    return {};
  }
  const std::size_t errors = problems.errors();
  MapReader map(node, "when", problems);
  const yaml::Node* in = map.find("ip_in");
  const yaml::Node* not_in = map.find("ip_not_in");
  map.finish();
  if (problems.errors() > errors) return {};
  if ((in == nullptr) == (not_in == nullptr)) {
    problems.error(node.at, "when takes one of ip_in and ip_not_in");
    return {};
  }
  when.value.kind = in != nullptr ? When::Kind::ip_in : When::Kind::ip_not_in;
  const yaml::Node& list = in != nullptr ? *in : *not_in;
  const std::string_view field = in != nullptr ? "ip_in" : "ip_not_in";
  if (items_of(list, field, problems) == nullptr) return {};
  auto ranges = read_ranges(list, field, problems);
  if (!ranges) return {};
  when.value.ranges = *std::move(ranges);
  return when;
}

std::optional<std::vector<AddressRange>> read_ranges(const yaml::Node& node, std::string_view field,
                                                     Problems& problems) {
  if (node.is_sequence() && node.items.empty()) return std::vector<AddressRange>{};
  const auto* items = items_of(node, field, problems);
  if (items == nullptr) return {};
  if (items->size() > most_ranges) {
    problems.error(node.at, fmt::format("{} has {} ranges: at most {}", field, items->size(), most_ranges));
    return {};
  }
  std::vector<AddressRange> ranges;
  bool good = true;
  const auto parse = [](std::string_view text) -> Result<AddressRange> {
    auto range = AddressRange::parse(text);
    if (!range) return failure(quoted(text), range.error().what);
    return range;
  };
  for (const yaml::Node& item : *items) {
    const auto range = read_value(item, field, Form::text, parse, problems);
    good = good && range;
    if (!range) continue;
    if (std::find(ranges.begin(), ranges.end(), range->value) != ranges.end()) {
      problems.error(item.at, fmt::format("{} {}: is in the list twice", field, quoted(item.text)));
      good = false;
    }
    ranges.push_back(range->value);
  }
  if (!good) return {};
  return ranges;
}

}  // namespace weir::policy
