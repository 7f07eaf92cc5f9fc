// What one loop's judge decided, in numbers: how long it took, what is left of each limit, who was denied.
//
// The judge's thread records, any thread reads. A decision that admits takes no lock and allocates nothing; a denial
// takes the short one of DeniedMost. Peeks are not recorded.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/judge.h"
#include "engine/named.h"
#include "engine/witness.h"
#include "observe/consumer_names.h"
#include "observe/decision_log.h"
#include "observe/denied_most.h"
#include "observe/sampler.h"
#include "observe/scales.h"
#include "weir/result.h"

namespace weir::observe {

// Of all loops.
struct RecorderTotals {
  DurationHistogram::Totals durations;
  BatchHistogram::Totals batches;
  std::map<std::string, HeadroomHistogram::Totals> headroom;  // by limit, since the start, over reloads
};

class Recorder final : public engine::Witness {
 public:
  using Stopwatch = std::chrono::nanoseconds (*)() noexcept;
  [[nodiscard]] static std::chrono::nanoseconds steady_time() noexcept;

  // `names` and `log`, which may be null, stay longer. Recorders with one log have different seeds.
  explicit Recorder(const ConsumerNames& names, DecisionLog* log = nullptr, std::uint64_t seed = 0,
                    Stopwatch stopwatch = &steady_time);

  void entered(const engine::Plan& plan) override;
  std::chrono::nanoseconds begin() override;
  void resume(std::chrono::nanoseconds begun) override { begun_ = begun; }
  void judged(engine::Judge& judge, std::span<const engine::Query> queries, std::span<const engine::Verdict> verdicts,
              Instant now) override;
  void judged_by_name(engine::Judge& judge, std::span<const engine::NamedAsk> asks,
                      std::span<const Result<engine::Verdict>> verdicts, Instant now) override;
  void judged(engine::Judge& judge, std::span<const engine::DescriptorVerdict> verdicts, Instant now) override;

  // From any thread.
  void add_to(RecorderTotals& totals) const;
  [[nodiscard]] const DeniedMost& denied() const noexcept { return denied_; }

 private:
  using Limit = std::pair<const std::string, HeadroomHistogram>;  // its name, and what was left of it

  void record_time(std::uint64_t all, std::uint64_t counted) noexcept;
  void record_headroom(std::uint32_t limit, const Decision& decision) noexcept;

  // Of a query, or of a question by name.
  template <class Ask>
  void record(engine::Judge& judge, const Ask& ask, const engine::Verdict& verdict, Instant now);
  template <class Ask>
  void record_denial(engine::Judge& judge, const Ask& ask, const engine::Verdict& verdict, Instant now);
  template <class Ask>
  void log_denial(engine::Judge& judge, const Ask& ask, const engine::Verdict& verdict, Instant now);

  void record(const engine::DescriptorVerdict& verdict, Instant now);
  void record_denial(const engine::DescriptorAsk& ask, const engine::DescriptorStatus& status, Instant now);

  const ConsumerNames& names_;
  DecisionLog* const log_;
  const Stopwatch stopwatch_;
  std::chrono::nanoseconds begun_{};
  Sampler sampler_;
  std::string consumer_;  // scratch, and so is line_
  std::string line_;

  DurationHistogram durations_;
  BatchHistogram batches_;
  DeniedMost denied_;

  std::vector<Limit*> by_number_;  // of the policy in force; of the judge's thread
  mutable std::mutex mutex_;       // guards that limits_ grows, not what is counted in it
  std::map<std::string, HeadroomHistogram> limits_;
};

}  // namespace weir::observe
