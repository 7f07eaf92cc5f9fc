// Proves bounds from the limits of a policy: how many requests of a kind can be admitted to one caller, at most, in any
// span of time. A limit takes part if it covers every such request and counts all of them together.
//
// Sound: no sequence of requests exceeds a proved number while the store answers and nothing is given back. Exact for a
// single limit (max_admitted.h). docs/decisions/0033-policy-tests.md has the reasons.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "match/matcher.h"
#include "policy_test/max_admitted.h"
#include "policy_test/test_file.h"

namespace weir::policy_test {

// The proof for one tier.
struct Proof {
  std::optional<Wide> at_most;      // unset: no limit bounds these requests
  std::vector<std::string> limits;  // those that the proof uses, in file order
  std::string gap;                  // if unset: which callers are unlimited, and why each limit does not bound them
};

struct BoundResult {
  std::vector<std::string> tiers;  // those with the highest number; all tiers have the same if it is empty
  Proof proof;                     // of these tiers
  bool holds = false;
  std::string problem;  // if it does not hold

  // `proved: 10, by login-by-ip`, or the problem.
  [[nodiscard]] std::string text() const;
};

// Fails if the policy does not have the bound's tier.
[[nodiscard]] BoundResult prove(const BoundSpec& bound, const match::Matcher& matcher, std::uint64_t nodes);

// The proof for one tier, an index in Tiers::names.
[[nodiscard]] Proof prove_tier(const BoundSpec& bound, const match::Matcher& matcher, std::uint32_t tier,
                               std::uint64_t nodes);

}  // namespace weir::policy_test
