// Descriptors as envoyproxy/ratelimit has them: at each level the exact value matches first, then wildcards, then any.
// So a new descriptor may take requests away from another one, which nobody can call tighter or looser.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "policy/diff/parts.h"
#include "policy/strictness.h"
#include "policy/words.h"

namespace weir::policy::diff_parts {
namespace {

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

// The tree, each descriptor under its path.
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

  // Whether it counts or denies anybody.
  [[nodiscard]] bool limits(const Descriptor& descriptor) const { return terms(descriptor) != Terms{}; }

  [[nodiscard]] std::string text(const Descriptor& descriptor, std::string_view without) const {
    if (limits(descriptor)) return numbers_text(ruleset.limits[*descriptor.limit].live, 0);
    return std::string(descriptor.unlimited ? "unlimited" : without);
  }

  // Whether what matches `path`, which is not here, is matched by something else here: at the first step that is
  // not here, by another of its key that comes later.
  [[nodiscard]] bool catches(const Path& path) const {
    Path prefix;
    for (const Step& step : path) {
      prefix.push_back(step);
      if (by_path.contains(prefix)) continue;
      return std::any_of(order.begin(), order.end(), [&](const Path& other) {
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

// A descriptor that only `here` has.
std::optional<Change> lone(const std::string& subject, const Path& path, const Tree& here, const Tree& there,
                           std::string_view verb, Direction direction) {
  const Descriptor& descriptor = *here.find(path);
  const bool is_caught = there.catches(path);
  if (!here.limits(descriptor) && !descriptor.unlimited && !is_caught) return {};  // only leads to others
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
  const auto tell = [&](std::string sentence, Direction direction) {
    changes.push_back({subject, std::move(sentence), direction});
  };
  const auto unless_watched = [&](Direction direction) { return is_watched ? Direction::neutral : direction; };
  if (was.shadow_mode != is.shadow_mode) {
    const Direction direction = is.shadow_mode ? Direction::looser : Direction::tighter;
    const bool matters = before.limits(was) || after.limits(is);
    tell(fmt::format("{} {}", name, is.shadow_mode ? "only watched now, shadow_mode" : "enforced now"),
         matters ? direction : Direction::neutral);
  }
  const Terms old_terms = before.terms(was);
  const Terms new_terms = after.terms(is);
  if (old_terms != new_terms) {
    const bool is_afresh =
        old_terms.numbers && new_terms.numbers && old_terms.numbers->rate().per != new_terms.numbers->rate().per;
    const std::string_view afresh = is_afresh ? ", states start afresh" : "";
    tell(fmt::format("{} {} -> {}{}", name, before.text(was, "no limit"), after.text(is, "no limit"), afresh),
         unless_watched(
             direction_of(at_least_as_strict(new_terms, old_terms), at_least_as_strict(old_terms, new_terms))));
  }
  if (was.banned_per && is.banned_per && was.banned_per != is.banned_per) {
    tell(fmt::format("{} banned per {} -> per {}", name, duration_text(*was.banned_per), duration_text(*is.banned_per)),
         Direction::neutral);
  }
  if (was.unlimited != is.unlimited && old_terms == new_terms) {
    tell(fmt::format("{} {}", name, is.unlimited ? "unlimited now" : "not unlimited any more"), Direction::neutral);
  }
  if (was.quota_mode != is.quota_mode) {
    tell(fmt::format("{} {}", name,
                     is.quota_mode ? "denies only together with all other quotas of a request now, quota_mode"
                                   : "denies by itself now, no quota_mode"),
         unless_watched(!before.limits(was) && !after.limits(is) ? Direction::neutral
                        : is.quota_mode                          ? Direction::looser
                                                                 : Direction::tighter));
  }
  if (was.metadata != is.metadata) tell(fmt::format("{} has other metadata", name), Direction::neutral);
  if (was.share_threshold != is.share_threshold) {
    tell(fmt::format("{} {}", name,
                     is.share_threshold ? "all values share a counter now" : "each value has its counter now"),
         unless_watched(is.share_threshold ? Direction::tighter : Direction::looser));
  }
  if (was.name != is.name) tell(fmt::format("{} is named '{}'", name, is.name), Direction::neutral);
  if (was.replaces != is.replaces) {
    const auto text = [](const std::vector<std::string>& names) {
      return names.empty() ? "nothing" : list_text(names);
    };
    tell(fmt::format("{} replaces {} -> {}", name, text(was.replaces), text(is.replaces)), Direction::different);
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
  const auto found = std::find_if(ruleset.domains.begin(), ruleset.domains.end(),
                                  [&](const Domain& domain) { return domain.name == name; });
  return found == ruleset.domains.end() ? nullptr : &*found;
}

}  // namespace

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
