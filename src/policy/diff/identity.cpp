#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "policy/coverage.h"
#include "policy/diff/parts.h"
#include "policy/strictness.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

constexpr std::string_view identity_subject = "identity";
constexpr std::string_view tiers_subject = "tiers";

void tell(Changes& changes, std::string_view subject, std::string sentence, Direction direction) {
  changes.push_back({std::string(subject), std::move(sentence), direction});
}

const AddressRange* wider(const AddressRange& range, const std::vector<AddressRange>& others) {
  const auto found = std::find_if(others.begin(), others.end(), [&](const AddressRange& other) {
    return other.prefix <= range.prefix && other.contains(range.network);
  });
  return found == others.end() ? nullptr : &*found;
}

bool is_among(const AddressRange& range, const std::vector<AddressRange>& others) {
  return std::find(others.begin(), others.end(), range) != others.end();
}

// Who is believed decides who is counted as whom: some get more by it and some less.
void compare_proxies(const std::vector<AddressRange>& was, const std::vector<AddressRange>& is, Changes& changes) {
  for (const AddressRange& range : is) {
    if (is_among(range, was)) continue;
    if (const AddressRange* whole = wider(range, was)) {
      tell(changes, identity_subject, fmt::format("trusted proxy {} added, part of {}", range.text(), whole->text()),
           Direction::neutral);
    } else {
      tell(changes, identity_subject,
           fmt::format("trusted proxy {} added: whoever connects from there can say which user, tier, cost and address "
                       "a request has",
                       range.text()),
           Direction::different);
    }
  }
  for (const AddressRange& range : was) {
    if (is_among(range, is)) continue;
    if (const AddressRange* whole = wider(range, is)) {
      tell(changes, identity_subject, fmt::format("trusted proxy {} removed, part of {}", range.text(), whole->text()),
           Direction::neutral);
    } else {
      tell(
          changes, identity_subject,
          fmt::format("trusted proxy {} removed: user, tier, cost and address in requests from there are not believed, "
                      "so they count as anonymous and under the proxy's own address",
                      range.text()),
          Direction::different);
    }
  }
}

bool counts_by(KeyPart::Kind kind, const Ruleset& ruleset) {
  return std::any_of(ruleset.limits.begin(), ruleset.limits.end(),
                     [&](const CompiledLimit& limit) { return has_part(limit.consumer_key, kind); });
}

void compare_headers(const Identity& was, const Identity& is, Changes& changes) {
  const auto header = [&](std::string_view what, const std::string& before, const std::string& after) {
    if (before == after) return;
    tell(changes, identity_subject,
         fmt::format("{} read from {} -> {}: the old header says nothing any more", what, before, after),
         Direction::different);
  };
  header("user", was.user_header, is.user_header);
  header("api_key", was.api_key_header, is.api_key_header);
  if (was.address_header != is.address_header) {
    tell(changes, identity_subject,
         fmt::format("client address read from {} -> {}", was.address_header.value_or("the forwarding headers"),
                     is.address_header.value_or("the forwarding headers")),
         Direction::different);
  }
}

// What a request without a known tier gets, over all limits that are in both.
Direction direction_of_default(const Ruleset& before, const Ruleset& after) {
  std::map<std::string_view, const CompiledLimit*> old_limits;
  for (const CompiledLimit& limit : before.limits) old_limits.emplace(limit.name, &limit);
  Direction all = Direction::neutral;
  for (const CompiledLimit& limit : after.limits) {
    const auto found = old_limits.find(limit.name);
    if (found == old_limits.end() || limit.live.by_tier.empty() || found->second->live.by_tier.empty()) continue;
    if (limit.mode == Mode::shadow || found->second->mode == Mode::shadow) continue;
    const Terms is = terms_of(limit.live, 0);
    const Terms was = terms_of(found->second->live, 0);
    all = together(all, direction_of(at_least_as_strict(is, was), at_least_as_strict(was, is)));
  }
  return all;
}

std::vector<std::string> names_only_in(const Tiers& some, const Tiers& others) {
  std::vector<std::string> names;
  for (const std::string& name : some.names) {
    if (std::find(others.names.begin(), others.names.end(), name) == others.names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

void compare_identity(const Ruleset& before, const Ruleset& after, Changes& changes) {
  const Identity& was = before.identity;
  const Identity& is = after.identity;
  compare_proxies(was.trusted_proxies, is.trusted_proxies, changes);
  compare_headers(was, is, changes);
  if (was.api_key_verified != is.api_key_verified) {
    tell(changes, identity_subject,
         is.api_key_verified
             ? "api_key is verified: only trusted proxies can name one, and it authenticates"
             : "api_key is not verified any more: any client can make one up, and it does not authenticate",
         Direction::different);
  }
  if (was.ipv6_prefix != is.ipv6_prefix) {
    const bool matters = counts_by(KeyPart::Kind::ip, before) || counts_by(KeyPart::Kind::ip, after);
    const bool more_share = is.ipv6_prefix < was.ipv6_prefix;
    tell(changes, identity_subject,
         fmt::format("ipv6_prefix {} -> {}: {} addresses share a counter", was.ipv6_prefix, is.ipv6_prefix,
                     more_share ? "more" : "fewer"),
         matters ? direction_of_more(is.ipv6_prefix, was.ipv6_prefix) : Direction::neutral);
  }
}

void compare_tiers(const Ruleset& before, const Ruleset& after, Changes& changes) {
  const Tiers& was = before.tiers;
  const Tiers& is = after.tiers;
  if (was.from_header != is.from_header) {
    tell(changes, tiers_subject,
         fmt::format("read from {} -> {}", was.from_header.value_or("nowhere"), is.from_header.value_or("nowhere")),
         before.tiers.names.size() > 1 || after.tiers.names.size() > 1 ? Direction::different : Direction::neutral);
  }
  if (!was.names.empty() && !is.names.empty() && was.names.front() != is.names.front()) {
    tell(changes, tiers_subject, fmt::format("default {} -> {}", was.names.front(), is.names.front()),
         direction_of_default(before, after));
  }
  const auto names = [&](const std::vector<std::string>& some, std::string_view verb) {
    if (!some.empty()) tell(changes, tiers_subject, fmt::format("{} {}", list_text(some), verb), Direction::neutral);
  };
  names(names_only_in(was, is), "removed");
  names(names_only_in(is, was), "added");
}

}  // namespace weir::policy::diff_parts
