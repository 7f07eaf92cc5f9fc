// Resolves records under a policy: the limit, the key of the consumer and the numbers for each tier of an override; the
// identity and the routes of a block. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "match/exceptions.h"
#include "match/matcher.h"
#include "overrides/record.h"
#include "weir/result.h"
#include "weir/time.h"

namespace weir::overrides {

// The limit and the consumer of an override.
struct Target {
  std::uint32_t limit = 0;  // index in Ruleset::limits
  std::string key;          // in the encoding of match/consumer.h
  std::string consumer;     // its full text: `user=alice`
};
[[nodiscard]] Result<Target> find_target(const match::Matcher& matcher, const Record& record);

// The end of the current window of a limit, when a grant expires. Fails if the limit is not a fixed window, or if the
// windows of its tiers differ.
[[nodiscard]] Result<Instant> window_end(const policy::CompiledLimit& limit, Instant now);

// The numbers of an override for each tier, plus the units of grants. `terms` may be null: grants on the limit itself.
[[nodiscard]] Result<match::Replacement> replacement_for(const policy::Ruleset& ruleset, std::uint32_t number,
                                                         const Terms* terms, std::uint64_t granted);

// Fails if the override admits more than the limit, and any client can claim to be its consumer.
[[nodiscard]] Result<void> check_trust(const policy::Ruleset& ruleset, const Target& target,
                                       const match::Replacement& replacement);

struct ResolvedBlock {
  match::BlockedIdentity identity;
  match::Block block;
};
[[nodiscard]] Result<ResolvedBlock> resolve_block(const Record& record, match::ExceptionNumber number);

// Shares equal replacements of a policy, so that a million equal overrides have one. Must be dropped with the policy.
class ReplacementCache {
 public:
  [[nodiscard]] Result<std::shared_ptr<const match::Replacement>> get(const policy::Ruleset& ruleset,
                                                                      std::uint32_t limit, const Terms* terms,
                                                                      std::uint64_t granted);

 private:
  static constexpr std::size_t max_kept = 10'000;  // further ones are not shared

  std::map<std::pair<std::uint32_t, std::string>, std::weak_ptr<const match::Replacement>> known_;
};

}  // namespace weir::overrides
