// The statistics of one policy beyond the engine's counters. Not thread-safe.
//
// A request costs a few increments, and one access to a sample of consumers per limit; rankings change only on denials.
// Memory is bounded by the policy, not by the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bindings.h"
#include "engine/engine.h"
#include "engine/verdict.h"
#include "simulate/demand.h"
#include "simulate/ranking.h"
#include "simulate/rates.h"
#include "simulate/report.h"
#include "weir/query.h"
#include "weir/time.h"

namespace weir::simulate {

// How consumers appear in a report.
enum class Names : std::uint8_t { hashed, shown };

// Names a consumer whose key is not shown, given the key in the encoding of match/consumer.h. Without this function the
// name is 12 digits of the hash of its state.
using HashedName = std::function<std::string(std::string_view key)>;

// The time from the first request to the last.
struct Stretch {
  Instant first{};
  Instant last{};

  [[nodiscard]] double seconds() const noexcept;  // at least 1
};

[[nodiscard]] Pace pace_of(const RatePeak& rate, const Stretch& stretch) noexcept;

class PolicyTally {
 public:
  // `max_consumers` bounds the samples of all limits together.
  PolicyTally(const engine::Bindings& bindings, Names names, HashedName hashed_name, std::size_t max_consumers);

  // Must be called in order of time. Each span has one element per request.
  void add(std::span<const engine::Query> queries, std::span<const engine::Verdict> verdicts,
           std::span<const Instant> times);

  // Adds a request that this policy denies but the other one admits.
  void add_difference(const engine::Query& query, const engine::Verdict& verdict);

  [[nodiscard]] PolicyReport report(const engine::Engine& engine, const Stretch& stretch) const;

  struct Difference {
    std::uint32_t limit = 0;
    std::string limit_name;
    std::string route;
    std::uint64_t count = 0;
  };
  [[nodiscard]] std::vector<Difference> differences() const;
  [[nodiscard]] HardestHit consumers_of_differences(std::uint32_t limit) const;

 private:
  struct OfLimit {
    OfLimit(const policy::CompiledLimit& limit, Names names, std::size_t max_consumers);

    bool is_shown;  // the report shows its consumers by their keys

    RatePeak rate;
    LimitDemand demand;
    Ranking denied;
    Ranking candidate_denies;
    Ranking candidate_admits;
    Ranking differs;
    std::map<std::uint32_t, std::uint64_t> differences;  // keyed by index in Matcher::labels
  };
  struct OfRoute {
    RatePeak rate;
    std::uint64_t admitted = 0;
    std::uint64_t denied = 0;
  };

  struct Time {
    Instant at;
    std::int64_t second;
  };
  void add_one(const engine::Query& query, const engine::Verdict& verdict, const Time& time);
  void add_outcome(const engine::Query& query, const engine::Verdict& verdict, const engine::Outcome& outcome,
                   const Time& time);
  void rank(Ranking& ranking, const engine::Query& query, const engine::Outcome& outcome);
  [[nodiscard]] std::string name_of(const engine::Query& query, const engine::Outcome& outcome) const;
  [[nodiscard]] static HardestHit hardest_hit(const Ranking& ranking);
  [[nodiscard]] LimitReport limit_report(std::size_t limit, const engine::Engine::Tally& counted,
                                         const Stretch& stretch) const;

  const engine::Bindings& bindings_;
  HashedName hashed_name_;  // may be empty
  std::vector<std::unique_ptr<OfLimit>> limits_;
  std::vector<OfRoute> routes_;  // indexed like Matcher::labels
  Timeline timeline_;
  std::uint64_t admitted_ = 0;
  std::uint64_t denied_ = 0;
  std::uint64_t warned_ = 0;
  std::uint64_t delayed_ = 0;
  std::uint64_t uncovered_ = 0;
};

}  // namespace weir::simulate
