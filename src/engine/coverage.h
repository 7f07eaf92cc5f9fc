// From a query to what is asked of the limits: which of them cover it, for which consumer, at which cost.
// Charges nothing. One per thread; in the steady state nothing is allocated.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/caller.h"
#include "engine/path.h"
#include "engine/plan.h"
#include "engine/query.h"
#include "engine/route_tree.h"
#include "engine/verdict.h"
#include "table/table.h"

namespace weir::engine {

// A limit that covers a query: what to ask of which table.
struct Covered {
  std::uint32_t limit = 0;               // of Plan::limits
  std::uint32_t route = 0;               // of Plan::routes_of(limit)
  const TableRule* live = nullptr;       // null: unlimited in this tier
  const TableRule* candidate = nullptr;  // null: none
  bool is_shared = false;                // the key is missing, and all such share a counter
  table::Ask ask;
  std::size_t text_end = 0;  // of Coverage::consumers
};

// Why a limit that matches the route does not cover a query.
enum class Exemption : std::uint8_t { condition, key_missing, unlimited, banned };

// A limit that denies without being asked: it bans, or it lacks its key (`missing: deny`).
struct OutrightDenial {
  std::uint32_t limit = Verdict::no_limit;  // none: there is no such limit
  Reason reason = Reason::key_missing;

  explicit operator bool() const noexcept { return limit != Verdict::no_limit; }
};

struct Coverage {
  std::vector<Covered> covered;  // in file order
  std::string consumers;         // of each of them, as a shared store calls it; empty where there is none
  std::uint32_t label = 0;       // of Plan::labels
  Caller caller;
  OutrightDenial denied_outright;  // by the first such limit

  void deny_outright(std::uint32_t limit, Reason reason) noexcept {
    if (!denied_outright) denied_outright = {limit, reason};
  }

  // Limits that match the route and do not cover the query.
  struct Exempt {
    std::uint32_t limit;
    std::uint32_t route;
    Exemption why;
  };
  std::vector<Exempt> exempt;

  [[nodiscard]] std::string_view consumer_text(std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : covered[i - 1].text_end;
    return std::string_view(consumers).substr(begin, covered[i].text_end - begin);
  }

  // Brings the states on their way into the cache.
  void prefetch() const noexcept {
    for (const Covered& each : covered) {
      if (each.live != nullptr) each.live->table->prefetch(each.ask.key);
    }
  }
};

class CoverageFinder {
 public:
  explicit CoverageFinder(const Plan& plan) : plan_(plan), matches_(plan.routes()) {}

  // Overwrites `found`, reusing its memory.
  void find(const Query& query, Coverage& found);

  // The key of the consumer that a limit counts for, as consumer.h writes it; empty if it is missing.
  [[nodiscard]] std::string_view consumer_of(const Query& query, const Caller& caller, std::uint32_t limit,
                                             std::uint32_t route);

 private:
  void cover(const Query& query, std::uint32_t limit, std::uint32_t route, Coverage& found);
  [[nodiscard]] Cost cost_of(const Query& query, const Caller& caller, std::uint32_t limit) const noexcept;

  const Plan& plan_;
  PathReader paths_;
  Matches matches_;
  std::string key_;
  struct Matching {
    std::uint32_t limit;
    std::uint32_t order;  // of one limit's routes: the most specific first
    std::uint32_t route;

    friend auto operator<=>(const Matching&, const Matching&) = default;
  };
  std::vector<Matching> matching_;
  std::vector<std::pair<std::uint32_t, Cost>> costs_;  // by route: (limit, cost)
  std::vector<std::uint32_t> labels_;  // of all readings; filled where a limit without routes has counters for each
};

}  // namespace weir::engine
