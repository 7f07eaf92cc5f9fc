// A question about one limit by its name and one consumer in words, without a request: for programs that know
// themselves what they limit.
//
// It is judged as a query would be that this limit alone covers; the limit's routes and `when` are not asked.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/coverage.h"
#include "engine/plan.h"
#include "weir/cost.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::engine {

struct NamedAsk {
  std::string_view limit;
  std::string_view consumer{};  // as consumer_text.h reads it
  std::string_view tier{};      // empty: the default
  std::optional<Cost> cost{};   // none: the limit's own
  Duration max_wait = Duration::max();
  bool peek = false;  // only look, charge nothing
  // A consumer whose words could mean two is refused: for who looks or resets. Where requests are decided they are
  // read as the first that they fit, because what a stranger calls himself must not become an error.
  bool one_meaning = false;
};

// From such a question to what is asked of the limit. One per thread; what is found allocates nothing in the steady
// state.
class NamedFinder {
 public:
  explicit NamedFinder(const Plan& plan) : plan_(plan) {}

  // Overwrites `found`, reusing its memory.
  Result<void> find(const NamedAsk& ask, Coverage& found);

  // The limit and the key of the consumer, as consumer.h writes it; the key is good until the next call.
  struct Named {
    std::uint32_t limit = 0;  // of Plan::limits
    std::uint32_t route = 0;  // of Plan::routes_of(limit): the consumer's own, or `other`
    bool is_shared = false;
    std::string_view key;
  };
  Result<Named> read(const NamedAsk& ask);

 private:
  [[nodiscard]] std::uint32_t label_of(const PlannedLimit& limit, std::uint32_t route) const noexcept;

  const Plan& plan_;
  std::string key_;
};

}  // namespace weir::engine
