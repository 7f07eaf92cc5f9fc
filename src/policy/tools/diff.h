// Compares two policies, for reviewers of a pull request. Limits are identified by name, descriptors by their path in
// the tree. Policies with the same meaning do not differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/limit_fields.h"
#include "policy/ruleset.h"

namespace weir::policy {

enum class Direction : std::uint8_t {
  tighter,    // some admitted requests could now be denied, and no denied ones admitted
  looser,     // some denied requests could now be admitted, and no admitted ones denied
  different,  // both, or unknown
  neutral,    // no decision changes, apart from counters that restart
};

[[nodiscard]] std::string_view name_of(Direction direction) noexcept;

struct Change {
  std::string subject;  // a limit, or `identity`, `tiers`, `domain NAME`, `routes`
  std::string sentence;
  Direction direction = Direction::neutral;

  friend bool operator==(const Change&, const Change&) = default;
};

// Swapping the arguments swaps tighter and looser. Empty for rulesets with the same meaning.
[[nodiscard]] std::vector<Change> diff(const Ruleset& before, const Ruleset& after,
                                       LimitFields fields = limit_fields());

// True if a request could be denied that was admitted before: tighter or different.
[[nodiscard]] bool may_deny_more(const std::vector<Change>& changes) noexcept;

// One line each: `api-by-user: pro 1000/min -> 500/min (tighter)`.
[[nodiscard]] std::string render_text(const std::vector<Change>& changes);

// Returns a summary line and a table. Text of the policies is escaped: it cannot become markup or a mention.
[[nodiscard]] std::string render_markdown(const std::vector<Change>& changes);

// {"changes": [{"subject", "sentence", "direction"}...], "tighter": 1, "looser": 0, "different": 0, "neutral": 0}
[[nodiscard]] std::string render_json(const std::vector<Change>& changes);

}  // namespace weir::policy
