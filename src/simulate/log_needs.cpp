#include "simulate/log_needs.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "policy/tools/strictness.h"

namespace weir::simulate {
namespace {

bool differs_by_tier(const policy::TieredLimit& limits) {
  for (std::size_t tier = 1; tier < limits.by_tier.size(); ++tier) {
    if (policy::terms_of(limits, tier) != policy::terms_of(limits, 0)) return true;
  }
  return false;
}

bool has_header(const LogEntry& entry, std::string_view name) noexcept {
  return std::ranges::any_of(entry.headers, [&](const Header& header) {
    return base::equals_ignoring_case(header.name, name) && !header.value.empty();
  });
}

}  // namespace

void LogNeeds::add(const policy::Ruleset& ruleset) {
  for (const policy::CompiledLimit& limit : ruleset.limits) {
    if (limit.by_descriptor()) continue;
    if (differs_by_tier(limit.live) || (limit.candidate && differs_by_tier(*limit.candidate))) {
      need(Kind::tier, {}, limit.name);
    }
    for (const auto& parts : limit.consumer_key.alternatives) {
      for (const policy::KeyPart& part : parts) {
        if (part.kind == policy::KeyPart::Kind::user) need(Kind::user, {}, limit.name);
        if (part.kind == policy::KeyPart::Kind::api_key) {
          need(Kind::api_key, ruleset.identity.api_key_verified ? "" : ruleset.identity.api_key_header, limit.name);
        }
        if (part.kind == policy::KeyPart::Kind::identity) {
          need(Kind::header, ruleset.identity.find(part.name)->header, limit.name);
        }
        if (part.kind == policy::KeyPart::Kind::header) need(Kind::header, part.name, limit.name);
      }
    }
  }
}

void LogNeeds::need(Kind kind, const std::string& header, const std::string& limit) {
  auto found = std::ranges::find_if(
      open_, [&](const Need& each) { return each.kind == kind && (kind != Kind::header || each.header == header); });
  if (found == open_.end()) found = open_.insert(open_.end(), Need{kind, header, {}});
  if (std::ranges::find(found->limits, limit) == found->limits.end()) found->limits.push_back(limit);
}

bool LogNeeds::is_in(const LogEntry& entry, const Need& need) noexcept {
  switch (need.kind) {
    case Kind::tier:
      return !entry.tier.empty();
    case Kind::user:
      return !entry.user.empty();
    case Kind::api_key:
      return !entry.api_key.empty() || (!need.header.empty() && has_header(entry, need.header));
    case Kind::header:
      break;
  }
  return has_header(entry, need.header);
}

void LogNeeds::look(const LogEntry& entry) noexcept {
  std::erase_if(open_, [&](const Need& need) { return is_in(entry, need); });
}

std::vector<LogGap> LogNeeds::gaps() const {
  constexpr std::array<std::string_view, 4> names{"tier", "user", "api_key", "header:"};
  std::vector<Need> sorted = open_;
  std::ranges::stable_sort(sorted, {}, &Need::kind);
  std::vector<LogGap> gaps;
  for (const Need& need : sorted) {
    std::string what(names[static_cast<std::size_t>(need.kind)]);
    if (need.kind == Kind::header) what += need.header;
    gaps.push_back({std::move(what), need.limits});
  }
  return gaps;
}

}  // namespace weir::simulate
