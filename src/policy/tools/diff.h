// What changes for whom between two policies, in words that a reviewer reads in a pull request.
//
// Limits are known by their names, descriptors by their place in the tree. Texts that mean the same do not differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/limit_fields.h"
#include "policy/ruleset.h"

namespace weir::policy {

enum class Direction : std::uint8_t {
  tighter,    // somebody who was admitted could now be denied, and nobody gets more
  looser,     // the other way round
  different,  // some may get more and some less, or it is not known
  neutral,    // nobody's verdict changes, once states that start afresh have caught up
};

[[nodiscard]] std::string_view name_of(Direction direction) noexcept;

struct Change {
  std::string subject;  // a limit, or `identity`, `tiers`, `domain NAME`, `routes`
  std::string sentence;
  Direction direction = Direction::neutral;

  friend bool operator==(const Change&, const Change&) = default;
};

// Swapping the two swaps tighter and looser. Empty for two that mean the same.
[[nodiscard]] std::vector<Change> diff(const Ruleset& before, const Ruleset& after,
                                       LimitFields fields = limit_fields());

// Whether somebody could be denied who was not before: tighter or different.
[[nodiscard]] bool may_deny_more(const std::vector<Change>& changes) noexcept;

// One line each: `api-by-user: pro 1000/min -> 500/min (tighter)`.
[[nodiscard]] std::string render_text(const std::vector<Change>& changes);

// A table under a line that counts. What policies contain cannot become markup or a mention.
[[nodiscard]] std::string render_markdown(const std::vector<Change>& changes);

// {"changes": [{"subject", "sentence", "direction"}...], "tighter": 1, "looser": 0, "different": 0, "neutral": 0}
[[nodiscard]] std::string render_json(const std::vector<Change>& changes);

}  // namespace weir::policy
