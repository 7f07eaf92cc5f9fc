// What the scenarios of a policy have touched: limits, their routes and tiers, and their rules. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "engine/verdict.h"
#include "match/matcher.h"
#include "policy/ruleset.h"
#include "text/yaml/problem.h"

namespace weir::policy_test {

// A part of a policy that no test touches.
struct Untouched {
  text::Mark at;      // the limit in the policy file
  std::string limit;  // its name
  std::string what;   // `route POST /login`, `denial`, `tier pro`
};

struct CoverageReport {
  std::uint64_t parts = 0;
  std::vector<Untouched> untouched;  // in file order

  [[nodiscard]] std::uint64_t touched() const noexcept { return parts - untouched.size(); }
};

class Coverage {
 public:
  explicit Coverage(std::shared_ptr<const policy::Ruleset> ruleset) : ruleset_(std::move(ruleset)) {}

  void add(const match::Matched& matched, const engine::Verdict& verdict);
  // Adds the counters of a scenario's engine, by limit and route.
  void add(const engine::Engine::Totals& totals);

  [[nodiscard]] CoverageReport report() const;

 private:
  [[nodiscard]] bool has(const std::string& limit, engine::Event event) const;

  std::shared_ptr<const policy::Ruleset> ruleset_;
  engine::Engine::Tally tally_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> tiers_;  // (limit, tier) of requests that the limit covers
  std::set<std::uint32_t> conditions_;                       // limits whose `when` did not hold for a request
  std::set<std::uint32_t> excepted_;                         // limits that a route of `except` took out
  std::set<std::uint32_t> bans_;
  std::set<std::uint32_t> missing_;  // limits that met a request without their key
};

}  // namespace weir::policy_test
