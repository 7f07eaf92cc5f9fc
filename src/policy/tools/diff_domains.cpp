#include "policy/tools/diff_parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

constexpr std::string_view identity_subject = "identity";
constexpr std::string_view tiers_subject = "tiers";

void report(Changes& changes, std::string_view subject, std::string sentence, Direction direction) {
  changes.push_back({std::string(subject), std::move(sentence), direction});
}

const AddressRange* wider(const AddressRange& range, const std::vector<AddressRange>& others) {
  const auto found = std::ranges::find_if(
      others, [&](const AddressRange& other) { return other.prefix <= range.prefix && other.contains(range.network); });
  return found == others.end() ? nullptr : &*found;
}

// Reports proxies that only `some` has. Trusting a proxy changes which consumer a request counts for.
void report_proxies(const std::vector<AddressRange>& some, const std::vector<AddressRange>& others,
                    std::string_view verb, std::string_view effect, Changes& changes) {
  for (const AddressRange& range : some) {
    if (std::ranges::find(others, range) != others.end()) continue;
    const AddressRange* whole = wider(range, others);
    const std::string then = whole != nullptr ? ", part of " + whole->text() : fmt::format(": {}", effect);
    report(changes, identity_subject, fmt::format("trusted proxy {} {}{}", range.text(), verb, then),
           whole != nullptr ? Direction::neutral : Direction::different);
  }
}

bool counts_by(KeyPart::Kind kind, const Ruleset& ruleset) {
  return std::ranges::any_of(ruleset.limits,
                             [&](const CompiledLimit& limit) { return has_part(limit.consumer_key, kind); });
}

void compare_headers(const Identity& was, const Identity& is, Changes& changes) {
  const auto header = [&](std::string_view what, const std::string& before, const std::string& after) {
    if (before == after) return;
    report(changes, identity_subject,
           fmt::format("{} read from {} -> {}: the old header is ignored", what, before, after), Direction::different);
  };
  header("user", was.user_header, is.user_header);
  header("api_key", was.api_key_header, is.api_key_header);
  for (const NamedIdentity& each : was.named) {
    if (const NamedIdentity* now = is.find(each.name)) header(each.name, each.header, now->header);
  }
  if (was.address_header != is.address_header) {
    report(changes, identity_subject,
           fmt::format("client address read from {} -> {}", was.address_header.value_or("the forwarding headers"),
                       is.address_header.value_or("the forwarding headers")),
           Direction::different);
  }
}

// Combines the directions of two changes.
Direction together(Direction a, Direction b) noexcept {
  if (a == b || b == Direction::neutral) return a;
  return a == Direction::neutral ? b : Direction::different;
}

// The direction for a request without a known tier, over all limits that are in both policies.
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
    all = together(all, direction_between(was, is));
  }
  return all;
}

std::vector<std::string> names_only_in(const Tiers& some, const Tiers& others) {
  std::vector<std::string> names;
  for (const std::string& name : some.names) {
    if (std::ranges::find(others.names, name) == others.names.end()) names.push_back(name);
  }
  return names;
}

struct Step {
  std::string key;
  Descriptor::Value kind = Descriptor::Value::any;
  std::string value;

  friend auto operator<=>(const Step&, const Step&) = default;
};

using Path = std::vector<Step>;

std::string text_of(const Path& path) {
  std::string text;
  for (const Step& step : path) {
    if (!text.empty()) text += "/";
    text += step.key;
    if (step.kind != Descriptor::Value::any) text += "=" + step.value;
  }
  return text;
}

// The descriptors of a domain by path.
struct Tree {
  const Ruleset& ruleset;
  std::vector<Path> order;
  std::map<Path, const Descriptor*> by_path;

  void add(const std::vector<Descriptor>& descriptors, const Path& above) {
    for (const Descriptor& descriptor : descriptors) {
      Path path = above;
      path.push_back({descriptor.key, descriptor.kind, descriptor.value});
      if (by_path.emplace(path, &descriptor).second) order.push_back(path);
      add(descriptor.children, path);
    }
  }

  [[nodiscard]] const Descriptor* find(const Path& path) const {
    const auto found = by_path.find(path);
    return found == by_path.end() ? nullptr : found->second;
  }

  [[nodiscard]] Terms terms(const Descriptor& descriptor) const {
    if (!descriptor.limit || *descriptor.limit >= ruleset.limits.size()) return {};
    return terms_of(ruleset.limits[*descriptor.limit].live, 0);
  }

  // True if the descriptor has a limit or a ban.
  [[nodiscard]] bool limits(const Descriptor& descriptor) const { return terms(descriptor) != Terms{}; }

  [[nodiscard]] std::string text(const Descriptor& descriptor, std::string_view without) const {
    if (limits(descriptor)) return numbers_text(ruleset.limits[*descriptor.limit].live, 0);
    return std::string(descriptor.unlimited ? "unlimited" : without);
  }

  // True if requests for `path`, which this tree lacks, match another descriptor: one with the same key at the first
  // missing step.
  [[nodiscard]] bool catches(const Path& path) const {
    Path prefix;
    for (const Step& step : path) {
      prefix.push_back(step);
      if (by_path.contains(prefix)) continue;
      return std::ranges::any_of(order, [&](const Path& other) {
        return other.size() == prefix.size() && std::equal(other.begin(), other.end() - 1, prefix.begin()) &&
               other.back().key == step.key && other.back().kind != Descriptor::Value::exact &&
               step.kind != Descriptor::Value::any;
      });
    }
    return false;
  }
};

Tree tree_of(const Ruleset& ruleset, const Domain& domain) {
  Tree tree{.ruleset = ruleset, .order = {}, .by_path = {}};
  tree.add(domain.descriptors, {});
  return tree;
}

bool denies(const Tree& tree, const Descriptor& descriptor) {
  return tree.limits(descriptor) && !descriptor.shadow_mode;
}

// Describes a descriptor that only `here` has.
std::optional<Change> lone(const std::string& subject, const Path& path, const Tree& here, const Tree& there,
                           std::string_view verb, Direction direction) {
  const Descriptor& descriptor = *here.find(path);
  const bool is_caught = there.catches(path);
  if (!here.limits(descriptor) && !descriptor.unlimited && !is_caught) return {};  // an inner node without a limit
  const std::string what = here.text(descriptor, "without a limit");
  const Direction effect = is_caught ? Direction::different : denies(here, descriptor) ? direction : Direction::neutral;
  return Change{subject, fmt::format("{} {}, {}", text_of(path), verb, what), effect};
}

void compare_descriptor(const std::string& subject, const Path& path, const Tree& before, const Tree& after,
                        Changes& changes) {
  const Descriptor& was = *before.find(path);
  const Descriptor& is = *after.find(path);
  const std::string name = text_of(path);
  const bool is_watched = was.shadow_mode || is.shadow_mode;
  const auto report = [&](std::string sentence, Direction direction) {
    changes.push_back({subject, std::move(sentence), direction});
  };
  const auto unless_watched = [&](Direction direction) { return is_watched ? Direction::neutral : direction; };
  if (was.shadow_mode != is.shadow_mode) {
    const Direction direction = is.shadow_mode ? Direction::looser : Direction::tighter;
    const bool matters = before.limits(was) || after.limits(is);
    report(fmt::format("{} {}", name, is.shadow_mode ? "no longer enforced, shadow_mode" : "now enforced"),
           matters ? direction : Direction::neutral);
  }
  const Terms old_terms = before.terms(was);
  const Terms new_terms = after.terms(is);
  if (old_terms != new_terms) {
    const bool is_restarted =
        old_terms.numbers && new_terms.numbers && old_terms.numbers->rate().per != new_terms.numbers->rate().per;
    const std::string_view note = is_restarted ? ", counters restart" : "";
    report(fmt::format("{} {} -> {}{}", name, before.text(was, "no limit"), after.text(is, "no limit"), note),
           unless_watched(direction_between(old_terms, new_terms)));
  }
  if (was.banned_per && is.banned_per && was.banned_per != is.banned_per) {
    report(
        fmt::format("{} banned per {} -> per {}", name, duration_text(*was.banned_per), duration_text(*is.banned_per)),
        Direction::neutral);
  }
  if (was.unlimited != is.unlimited && old_terms == new_terms) {
    report(fmt::format("{} {}", name, is.unlimited ? "now unlimited" : "no longer unlimited"), Direction::neutral);
  }
  if (was.quota_mode != is.quota_mode) {
    report(fmt::format("{} {}", name,
                       is.quota_mode ? "now denies only if all quotas of a request are exceeded, quota_mode"
                                     : "now denies regardless of other quotas, no quota_mode"),
           unless_watched(!before.limits(was) && !after.limits(is) ? Direction::neutral
                          : is.quota_mode                          ? Direction::looser
                                                                   : Direction::tighter));
  }
  if (was.metadata != is.metadata) report(fmt::format("{} metadata changed", name), Direction::neutral);
  if (was.share_threshold != is.share_threshold) {
    report(fmt::format("{} {}", name,
                       is.share_threshold ? "all values now share a counter" : "each value now has its own counter"),
           unless_watched(is.share_threshold ? Direction::tighter : Direction::looser));
  }
  if (was.name != is.name) report(fmt::format("{} renamed to '{}'", name, is.name), Direction::neutral);
  if (was.replaces != is.replaces) {
    const auto text = [](const std::vector<std::string>& names) {
      return names.empty() ? "nothing" : list_text(names);
    };
    report(fmt::format("{} replaces {} -> {}", name, text(was.replaces), text(is.replaces)), Direction::different);
  }
}

void compare_domain(const std::string& subject, const Tree& before, const Tree& after, Changes& changes) {
  for (const Path& path : before.order) {
    if (after.find(path) != nullptr) {
      compare_descriptor(subject, path, before, after, changes);
    } else if (auto change = lone(subject, path, before, after, "removed", Direction::looser)) {
      changes.push_back(*std::move(change));
    }
  }
  for (const Path& path : after.order) {
    if (before.find(path) != nullptr) continue;
    if (auto change = lone(subject, path, after, before, "added", Direction::tighter))
      changes.push_back(*std::move(change));
  }
}

const Domain* find_domain(const Ruleset& ruleset, const std::string& name) {
  const auto found = std::ranges::find_if(ruleset.domains, [&](const Domain& domain) { return domain.name == name; });
  return found == ruleset.domains.end() ? nullptr : &*found;
}

// An identity that is added or removed matters only to the limits that name it, and these are compared themselves.
void compare_named_identities(const Identity& was, const Identity& is, Changes& changes) {
  for (const NamedIdentity& each : is.named) {
    const NamedIdentity* const before = was.find(each.name);
    if (before == nullptr) {
      report(changes, identity_subject, fmt::format("{} added, read from {}", each.name, each.header),
             Direction::neutral);
    } else if (before->verified != each.verified) {
      report(changes, identity_subject,
             fmt::format("{} is {}", each.name,
                         each.verified ? "now verified: only trusted proxies can set it"
                                       : "no longer verified: any client can choose it"),
             Direction::different);
    }
  }
  for (const NamedIdentity& each : was.named) {
    if (is.find(each.name) == nullptr)
      report(changes, identity_subject, fmt::format("{} removed", each.name), Direction::neutral);
  }
}

}  // namespace

void compare_identity(const Ruleset& before, const Ruleset& after, Changes& changes) {
  const Identity& was = before.identity;
  const Identity& is = after.identity;
  report_proxies(is.trusted_proxies, was.trusted_proxies, "added",
                 "it can set the user, tier, cost and address of a request", changes);
  report_proxies(was.trusted_proxies, is.trusted_proxies, "removed",
                 "user, tier, cost and address in its requests are ignored, so they count as anonymous and under the "
                 "proxy's own address",
                 changes);
  compare_headers(was, is, changes);
  if (was.api_key_verified != is.api_key_verified) {
    report(changes, identity_subject,
           is.api_key_verified
               ? "api_key is now verified: only trusted proxies can set it, and it authenticates"
               : "api_key is no longer verified: any client can make one up, and it does not authenticate",
           Direction::different);
  }
  compare_named_identities(was, is, changes);
  if (was.ipv6_prefix != is.ipv6_prefix) {
    const bool matters = counts_by(KeyPart::Kind::ip, before) || counts_by(KeyPart::Kind::ip, after);
    const bool more_share = is.ipv6_prefix < was.ipv6_prefix;
    report(changes, identity_subject,
           fmt::format("ipv6_prefix {} -> {}: {} addresses share a counter", was.ipv6_prefix, is.ipv6_prefix,
                       more_share ? "more" : "fewer"),
           matters ? direction_of_more(is.ipv6_prefix, was.ipv6_prefix) : Direction::neutral);
  }
}

void compare_exempt(const Ruleset& before, const Ruleset& after, Changes& changes) {
  const auto texts = [](const Exemptions& exempt) {
    std::vector<std::string> all;
    for (const AddressRange& range : exempt.addresses) all.push_back("address " + range.text());
    for (const IdentityValues& each : exempt.identities) {
      for (const std::string& value : each.values) all.push_back(each.identity + " " + value);
    }
    for (const RouteTemplate& route : exempt.routes) all.push_back("route " + route.text());
    return all;
  };
  const auto compare = [&](const std::vector<std::string>& some, const std::vector<std::string>& others,
                           std::string_view verb, Direction direction) {
    for (const std::string& text : some) {
      if (std::ranges::find(others, text) == others.end())
        report(changes, "exempt", fmt::format("{} {}", text, verb), direction);
    }
  };
  const auto was = texts(before.exemptions);
  const auto is = texts(after.exemptions);
  compare(is, was, "added: no limit covers it", Direction::looser);
  compare(was, is, "removed: limits cover it again", Direction::tighter);
}

void compare_tiers(const Ruleset& before, const Ruleset& after, Changes& changes) {
  const Tiers& was = before.tiers;
  const Tiers& is = after.tiers;
  if (was.from_header != is.from_header) {
    report(
        changes, tiers_subject,
        fmt::format("read from {} -> {}", was.from_header.value_or("no header"), is.from_header.value_or("no header")),
        before.tiers.names.size() > 1 || after.tiers.names.size() > 1 ? Direction::different : Direction::neutral);
  }
  if (!was.names.empty() && !is.names.empty() && was.names.front() != is.names.front()) {
    report(changes, tiers_subject, fmt::format("default {} -> {}", was.names.front(), is.names.front()),
           direction_of_default(before, after));
  }
  const auto names = [&](const std::vector<std::string>& some, std::string_view verb) {
    if (!some.empty()) report(changes, tiers_subject, fmt::format("{} {}", list_text(some), verb), Direction::neutral);
  };
  names(names_only_in(was, is), "removed");
  names(names_only_in(is, was), "added");
}

void compare_domains(const Ruleset& before, const Ruleset& after, Changes& changes) {
  const Domain none;
  for (const Domain& domain : before.domains) {
    const Domain* now = find_domain(after, domain.name);
    if (now == nullptr) changes.push_back({"domain " + domain.name, "removed", Direction::neutral});
    compare_domain("domain " + domain.name, tree_of(before, domain), tree_of(after, now == nullptr ? none : *now),
                   changes);
  }
  for (const Domain& domain : after.domains) {
    if (find_domain(before, domain.name) != nullptr) continue;
    changes.push_back({"domain " + domain.name, "added", Direction::neutral});
    compare_domain("domain " + domain.name, tree_of(before, none), tree_of(after, domain), changes);
  }
}

}  // namespace weir::policy::diff_parts
