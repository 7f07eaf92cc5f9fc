// Finds the limits that cover a query, with consumer and cost. Reads no states and charges nothing.
//
// A Matcher is immutable and shared by all threads. A MatchScratch belongs to one thread. Matching does not allocate in
// the steady state.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "match/caller.h"
#include "match/exceptions.h"
#include "match/path.h"
#include "match/route_tree.h"
#include "policy/ruleset.h"
#include "weir/cost.h"
#include "weir/query.h"
#include "weir/result.h"

namespace weir::match {

inline constexpr std::uint32_t no_limit = ~std::uint32_t{0};
// The value of Matched::denied_by for a request that an operator's block denies, whatever its limits.
inline constexpr std::uint32_t by_block = no_limit - 1;
// The maximum number of enforced limits evaluated together. A request that more of them cover is denied.
inline constexpr std::size_t max_limits = 64;

// A limit that covers a query.
struct MatchedLimit {
  std::uint32_t limit = 0;  // index in Ruleset::limits
  std::uint32_t route = 0;  // index in Matcher::routes_of(limit)
  bool is_shared = false;   // no key: counted in the shared counter
  Cost cost;
  bool takes_cost = false;                      // the policy sets none: the caller's cost applies
  std::size_t key_end = 0;                      // offset in Matched::keys
  const Replacement::Tier* replaced = nullptr;  // numbers of an override, instead of the tier's; null: none
  ExceptionNumber exception = 0;                // the override of `replaced`
};

// Why a limit that matches the route does not cover a query.
// `reserve_too_large` is set by the evaluation of a reservation.
enum class Exemption : std::uint8_t { excepted, condition, key_missing, unlimited, banned, reserve_too_large, blocked };

// The part of `exempt` by which no limit covers a query.
enum class ExemptBy : std::uint8_t { nothing, address, identity, route };

struct Matched {
  std::vector<MatchedLimit> limits;  // in file order
  std::string keys;                  // keys of their consumers, concatenated, in the encoding of consumer.h
  std::uint32_t label = 0;           // index in Matcher::labels
  Caller caller;

  // The first limit that denies without being evaluated, because it bans (Exemption::banned) or because the query lacks
  // its key (`missing: deny`); no_limit if none; by_block if an operator blocked the caller (Exemption::blocked).
  std::uint32_t denied_by = no_limit;
  Exemption denied_for = Exemption::key_missing;
  ExemptBy exempt_by = ExemptBy::nothing;  // otherwise `limits` and `exempt` are empty

  // Limits that match the route and do not cover the query.
  struct Exempt {
    std::uint32_t limit;
    std::uint32_t route;
    Exemption why;
    ExceptionNumber exception = 0;  // the override that makes the consumer unlimited or banned; zero: none
  };
  std::vector<Exempt> exempt;

  // Keep MatchedLimit::replaced valid while the request is in flight; empty if no override applies.
  std::vector<std::shared_ptr<const Replacement>> replacements;
  Block block;  // the block that denies the request; valid if denied_by is by_block

  void clear() noexcept;
  void exempt_from(const Exempt& part, bool denies);
  void block_by(const Block& by);
  [[nodiscard]] std::string_view key(std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : limits[i - 1].key_end;
    return std::string_view(keys).substr(begin, limits[i].key_end - begin);
  }
};

class Matcher;

// Scratch memory of match(). Belongs to one matcher and one thread.
class MatchScratch {
 public:
  explicit MatchScratch(const Matcher& matcher);

 private:
  friend class Matcher;

  struct Candidate {
    std::uint32_t limit;
    std::uint32_t order;  // within one limit: the most specific route first
    std::uint32_t route;

    friend auto operator<=>(const Candidate&, const Candidate&) = default;
  };

  PathReader paths_;
  Matches matches_;
  std::vector<Candidate> candidates_;
  std::vector<std::pair<std::uint32_t, Cost>> costs_;  // costs by route, as (limit, cost)
  std::vector<std::uint32_t> labels_;                  // labels of all readings; used if counts_by_label_
  std::string buffer_;                                 // for lookups of blocks
};

class Matcher {
 public:
  static constexpr std::string_view other = "other";

  // Fails if more than max_limits cover a route.
  static Result<std::shared_ptr<const Matcher>> create(std::shared_ptr<const policy::Ruleset> ruleset);

  // Overwrites `matched`, reusing its memory.
  void match(const Query& query, MatchScratch& scratch, Matched& matched, const ExceptionsAt& exceptions = {}) const;

  [[nodiscard]] const policy::Ruleset& ruleset() const noexcept { return *ruleset_; }
  [[nodiscard]] const std::shared_ptr<const policy::Ruleset>& shared_ruleset() const noexcept { return ruleset_; }
  [[nodiscard]] std::optional<std::uint32_t> find_limit(std::string_view name) const noexcept;

  // The names of all known routes; the last one is `other`.
  [[nodiscard]] const std::vector<std::string>& labels() const noexcept { return labels_; }
  [[nodiscard]] std::uint32_t other_label() const noexcept { return static_cast<std::uint32_t>(labels_.size() - 1); }

  // The routes by which a limit is counted: its own, or all labels for a limit without routes; the last is `other`.
  [[nodiscard]] std::span<const std::string> routes_of(std::uint32_t limit) const noexcept {
    return ruleset_->limits[limit].routes.empty() ? std::span(labels_) : std::span(limits_[limit].route_names);
  }

  // Writes the key of the consumer into `key`. Returns false if it is missing.
  [[nodiscard]] bool write_key(const Query& query, const Caller& caller, std::uint32_t limit, std::uint32_t route,
                               std::string& key) const;

 private:
  friend class MatchScratch;

  struct LimitRoutes {
    bool keyed_by_route = false;
    bool is_conditional = false;           // has `when` or `except`
    std::vector<std::string> route_names;  // names of its own routes, and `other`
  };
  // The meaning of an entry of the route tree.
  struct EntryMeaning {
    std::uint32_t route = 0;  // index in the limit's routes, or in its costs by route
    std::uint32_t label = 0;
  };

  // Each limit has two groups in the route tree: one for coverage and one for costs by route.
  [[nodiscard]] static std::uint32_t coverage_group(std::uint32_t limit) noexcept { return 2 * limit; }
  [[nodiscard]] static std::uint32_t cost_group(std::uint32_t limit) noexcept { return 2 * limit + 1; }
  // The group of known routes without a limit or, with counts_by_label_, of all known routes.
  [[nodiscard]] std::uint32_t label_group() const noexcept {
    return coverage_group(static_cast<std::uint32_t>(limits_.size()));
  }

  void build_routes();
  [[nodiscard]] Result<void> check_bound() const;
  void find_candidates(const Query& query, MatchScratch& scratch, Matched& matched) const;
  [[nodiscard]] std::optional<Exemption> exclusion(const Query& query, const Caller& caller,
                                                   std::uint32_t limit) const noexcept;
  void cover(const Query& query, std::uint32_t limit, std::uint32_t route, const MatchScratch& scratch,
             Matched& matched) const;
  // The same for a limit of which some consumers have overrides.
  void cover_with(const Exceptions::OfLimit& tables, Instant now, const Query& query, std::uint32_t limit,
                  std::uint32_t route, const MatchScratch& scratch, Matched& matched) const;
  void add_covered(const Query& query, std::uint32_t limit, std::uint32_t route, bool is_shared,
                   const MatchScratch& scratch, Matched& matched) const;
  [[nodiscard]] Cost cost_of(const Query& query, const Caller& caller, std::uint32_t limit,
                             const MatchScratch& scratch) const noexcept;

  std::shared_ptr<const policy::Ruleset> ruleset_;
  std::optional<RouteTree> routes_;  // set by build_routes()
  std::vector<LimitRoutes> limits_;
  std::unordered_map<std::string_view, std::uint32_t> by_name_;
  std::vector<std::uint32_t> everywhere_;  // limits that cover every route, in file order
  std::vector<std::string> labels_;
  std::vector<EntryMeaning> meanings_;
  bool counts_by_label_ = false;  // a limit without routes is keyed by route
  bool exempts_ = false;          // the policy has `exempt`
};

}  // namespace weir::match
