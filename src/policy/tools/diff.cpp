#include "policy/tools/diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "policy/tools/diff_parts.h"
#include "policy/words.h"
#include "text/json.h"
#include "text/utf8.h"

namespace weir::policy {
namespace {

using diff_parts::Changes;
using diff_parts::Side;

using LimitsByName = std::map<std::string_view, const CompiledLimit*>;

LimitsByName limits_by_name(const Ruleset& ruleset) {
  LimitsByName limits;
  for (const CompiledLimit& limit : ruleset.limits) {
    if (!limit.by_descriptor()) limits.emplace(limit.name, &limit);
  }
  return limits;
}

const CompiledLimit* find(const LimitsByName& limits, std::string_view name) {
  const auto found = limits.find(name);
  return found == limits.end() ? nullptr : found->second;
}

Changes changes_between(const Side& before, const Side& after, LimitFields fields) {
  Changes changes;
  diff_parts::compare_limit(before, after, fields, changes);
  if (before.limit.mode == after.limit.mode && after.limit.mode == Mode::enforce) return changes;
  // A limit in shadow mode, before or after, denies nothing by its numbers.
  for (Change& change : changes) change.direction = Direction::neutral;
  if (before.limit.mode != after.limit.mode) {
    const bool enforced = after.limit.mode == Mode::enforce;
    changes.insert(changes.begin(), {after.limit.name, enforced ? "now enforced" : "no longer enforced, mode: shadow",
                                     enforced ? Direction::tighter : Direction::looser});
  }
  return changes;
}

bool can_deny(const CompiledLimit& limit) {
  return limit.mode == Mode::enforce &&
         (!limit.live.banned.empty() ||
          std::ranges::any_of(limit.live.by_tier, [](const auto& numbers) { return numbers.has_value(); }));
}

Change whole_limit(const CompiledLimit& limit, std::string_view verb, Direction direction) {
  const std::string_view mode = limit.mode == Mode::shadow ? ", mode: shadow" : "";
  const std::string algorithm = limit.live.bans(0) ? "" : fmt::format("{} ", name_of(limit.algorithm));
  return {limit.name, fmt::format("{}, {}{}{}", verb, algorithm, limit_text(limit), mode),
          can_deny(limit) ? direction : Direction::neutral};
}

// Returns a text that is equal for limits with the same meaning, however their numbers were written.
std::string meaning_of(CompiledLimit limit) {
  limit.live.rates.clear();
  return limit_text(limit);
}

// Limits that only one of the policies has. Detects those that were renamed.
class UnmatchedLimits {
 public:
  UnmatchedLimits(const Ruleset& before, const Ruleset& after, LimitFields fields)
      : before_(before), after_(after), fields_(fields) {}

  void removed(const CompiledLimit& limit) { removed_.push_back(&limit); }
  void added(const CompiledLimit& limit) { added_[meaning_of(limit)].push_back(&limit); }

  // Reports renamed limits, which then count neither as added nor as removed.
  void match(Changes& changes) {
    for (const CompiledLimit*& limit : removed_) {
      const auto found = added_.find(meaning_of(*limit));
      if (found == added_.end()) continue;
      auto& alike = found->second;
      const auto same = std::ranges::find_if(alike, [&](const CompiledLimit* other) {
        return changes_between({before_, *limit}, {after_, *other}, fields_).empty();
      });
      if (same == alike.end()) continue;
      changes.push_back(
          {(*same)->name, fmt::format("renamed from '{}', counters restart", limit->name), Direction::neutral});
      alike.erase(same);
      limit = nullptr;
    }
  }

  void report(Changes& changes) const {
    for (const CompiledLimit* limit : removed_) {
      if (limit != nullptr) changes.push_back(whole_limit(*limit, "removed", Direction::looser));
    }
    std::vector<const CompiledLimit*> added;
    for (const auto& [text, alike] : added_) added.insert(added.end(), alike.begin(), alike.end());
    std::ranges::sort(added);  // the pointers refer to one vector, so this is file order
    for (const CompiledLimit* limit : added) changes.push_back(whole_limit(*limit, "added", Direction::tighter));
  }

 private:
  const Ruleset& before_;
  const Ruleset& after_;
  LimitFields fields_;
  std::vector<const CompiledLimit*> removed_;
  std::map<std::string, std::vector<const CompiledLimit*>> added_;
};

void compare_limits(const Ruleset& before, const Ruleset& after, LimitFields fields, Changes& changes) {
  const LimitsByName old_limits = limits_by_name(before);
  const LimitsByName new_limits = limits_by_name(after);
  UnmatchedLimits unmatched(before, after, fields);
  for (const CompiledLimit& limit : before.limits) {
    if (limit.by_descriptor()) continue;
    const CompiledLimit* now = find(new_limits, limit.name);
    if (now == nullptr) {
      unmatched.removed(limit);
    } else {
      const Changes some = changes_between({before, limit}, {after, *now}, fields);
      changes.insert(changes.end(), some.begin(), some.end());
    }
  }
  for (const CompiledLimit& limit : after.limits) {
    if (!limit.by_descriptor() && find(old_limits, limit.name) == nullptr) unmatched.added(limit);
  }
  unmatched.match(changes);
  unmatched.report(changes);
}

std::vector<std::string> only_in(const std::vector<RouteTemplate>& some, const std::vector<RouteTemplate>& others) {
  std::vector<std::string> texts;
  texts.reserve(others.size());
  for (const RouteTemplate& route : others) texts.push_back(route.text());
  std::ranges::sort(texts);
  std::vector<std::string> only;
  for (const RouteTemplate& route : some) {
    if (!std::ranges::binary_search(texts, route.text())) only.push_back(route.text());
  }
  return only;
}

// Known routes are labels, which affect decisions only if a limit is keyed by route.
void compare_labels(const Ruleset& before, const Ruleset& after, Changes& changes) {
  const auto by_route = [](const Ruleset& ruleset) {
    return std::ranges::any_of(
        ruleset.limits, [](const CompiledLimit& limit) { return has_part(limit.consumer_key, KeyPart::Kind::route); });
  };
  const Direction direction = by_route(before) || by_route(after) ? Direction::different : Direction::neutral;
  const auto report = [&](const std::vector<std::string>& routes, std::string_view verb) {
    if (!routes.empty()) changes.push_back({"routes", fmt::format("{} {}", list_text(routes), verb), direction});
  };
  report(only_in(before.labels, after.labels), "no longer known");
  report(only_in(after.labels, before.labels), "now known");
}

constexpr std::array directions{Direction::tighter, Direction::looser, Direction::different, Direction::neutral};

std::ptrdiff_t count(const std::vector<Change>& changes, Direction direction) {
  return std::ranges::count_if(changes, [&](const Change& change) { return change.direction == direction; });
}

// Escapes names from the policy, whose author must not be able to inject markup into a reviewer's page.
std::string markdown_text(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool begins_link = text.substr(i).starts_with("://");
    const std::size_t length = text::utf8_length(text.substr(i));
    if (length == 0 || text::is_hidden(text::first_code_point(text.substr(i)))) {
      out += ' ';
      i += std::max<std::size_t>(length, 1) - 1;
    } else if (begins_link || std::string_view{"<&@|#"}.find(c) != std::string_view::npos) {
      out += fmt::format("&#{};", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else if (std::string_view{"\\`*_[]~"}.find(c) != std::string_view::npos) {
      out += '\\';
      out += c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string_view column_text(Direction direction) {
  return direction == Direction::neutral ? "" : name_of(direction);
}

}  // namespace

std::vector<Change> diff(const Ruleset& before, const Ruleset& after, LimitFields fields) {
  Changes changes;
  diff_parts::compare_identity(before, after, changes);
  diff_parts::compare_exempt(before, after, changes);
  diff_parts::compare_tiers(before, after, changes);
  compare_limits(before, after, fields, changes);
  diff_parts::compare_domains(before, after, changes);
  compare_labels(before, after, changes);
  return changes;
}

bool may_deny_more(const std::vector<Change>& changes) noexcept {
  return std::ranges::any_of(changes, [](const Change& change) {
    return change.direction == Direction::tighter || change.direction == Direction::different;
  });
}

std::string_view name_of(Direction direction) noexcept {
  static constexpr std::array<std::string_view, 4> words{"tighter", "looser", "different", "neutral"};
  return words[static_cast<std::size_t>(direction)];
}

std::string render_text(const std::vector<Change>& changes) {
  if (changes.empty()) return "no changes\n";
  std::string text;
  for (const Change& change : changes) {
    text += fmt::format("{}: {}", change.subject, change.sentence);
    if (change.direction != Direction::neutral) text += fmt::format(" ({})", name_of(change.direction));
    text += '\n';
  }
  return text;
}

std::string render_markdown(const std::vector<Change>& changes) {
  if (changes.empty()) return "No changes.\n";
  std::string text = "**";
  for (const Direction direction : directions) {
    if (const auto number = count(changes, direction); number > 0) {
      if (text.size() > 2) text += ", ";
      text += fmt::format("{} {}", number, name_of(direction));
    }
  }
  text += "**\n\n| limit | change | |\n|---|---|---|\n";
  for (const Change& change : changes) {
    text += fmt::format("| {} | {} | {} |\n", markdown_text(change.subject), markdown_text(change.sentence),
                        column_text(change.direction));
  }
  return text;
}

std::string render_json(const std::vector<Change>& changes) {
  std::string text = "{\"changes\": [";
  for (const Change& change : changes) {
    if (&change != &changes.front()) text += ", ";
    text += fmt::format("{{\"subject\": {}, \"sentence\": {}, \"direction\": {}}}", text::json_text(change.subject),
                        text::json_text(change.sentence), text::json_text(name_of(change.direction)));
  }
  text += "]";
  for (const Direction direction : directions) {
    text += fmt::format(", \"{}\": {}", name_of(direction), count(changes, direction));
  }
  return text + "}\n";
}

}  // namespace weir::policy
