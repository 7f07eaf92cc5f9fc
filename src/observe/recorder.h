// Records the decisions of one loop's evaluator: durations, headroom of limits, denied consumers.
//
// The evaluator's thread records, any thread reads. An admitted decision takes no lock and allocates nothing; a denial
// briefly locks TopDenied. Peeks are not recorded.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/counter.h"
#include "engine/evaluation_batch.h"
#include "observe/consumer_names.h"
#include "observe/decision_log.h"
#include "observe/scales.h"
#include "observe/top_denied.h"

namespace weir::observe {

enum class ReceiptEvent : std::uint8_t {
  reserved,
  not_kept,
  settled,
  released,
  extended,
  ended,
  reported,
  id_not_recorded
};

inline constexpr std::array<std::string_view, 8> receipt_event_names{
    "reserved", "not_kept", "settled", "released", "extended", "ended", "reported", "id_not_recorded"};

struct ReceiptTotals {
  std::array<std::uint64_t, receipt_event_names.size()> events{};
  std::uint64_t lost_units = 0;
};

// Sums over all loops since the start, across reloads.
struct RecorderTotals {
  DurationHistogram::Totals durations;
  BatchHistogram::Totals batches;
  std::map<std::string, HeadroomHistogram::Totals> headroom;  // by limit
  std::map<std::string, ReceiptTotals> receipts;              // by limit
};

class Recorder final : public engine::Observer {
 public:
  using Stopwatch = std::chrono::nanoseconds (*)() noexcept;
  [[nodiscard]] static std::chrono::nanoseconds steady_time() noexcept;

  // `names` and `log` must outlive the recorder. `log` may be null. Recorders that share a log need different seeds.
  explicit Recorder(const ConsumerNames& names, DecisionLog* log = nullptr, std::uint64_t seed = 0,
                    Stopwatch stopwatch = &steady_time);

  void bindings_changed(const engine::Bindings& bindings) override;
  std::chrono::nanoseconds begin() override { return stopwatch_(); }
  void evaluated(const engine::EvaluationBatch& batch, std::chrono::nanoseconds started, Instant now) override;

  // Sets how the log names overrides and blocks. Must be called before the first request.
  using IdOf = std::function<std::string(match::ExceptionNumber)>;
  void name_exceptions(IdOf id_of) { id_of_ = std::move(id_of); }

  // Thread-safe.
  void add_to(RecorderTotals& totals) const;
  void add_to(DurationHistogram::Totals& durations) const noexcept { durations_.add_to(durations); }
  [[nodiscard]] const TopDenied& denied() const noexcept { return denied_; }

 private:
  struct LimitFigures {
    HeadroomHistogram headroom;
    std::array<base::Counter, receipt_event_names.size()> receipts;
    base::Counter lost_units;
  };
  using Limit = std::pair<const std::string, LimitFigures>;  // an element of limits_

  // One request of a batch.
  struct Evaluated {
    const engine::EvaluationBatch& batch;
    std::size_t number;
    Instant now;
  };

  void record_time(std::chrono::nanoseconds started, std::uint64_t all, std::uint64_t counted) noexcept;
  void record_headroom(std::uint32_t limit, const Decision& decision) noexcept;
  void record_verdict(const Evaluated& evaluated);
  void record_receipts(const engine::EvaluationBatch& batch, std::size_t i) noexcept;
  void record_denial(const Evaluated& evaluated);
  void log_denial(const Evaluated& evaluated);
  void record_descriptors(const Evaluated& evaluated);
  void record_denial(const engine::DescriptorQuery& ask, const engine::DescriptorStatus& status, Instant now);

  const ConsumerNames& names_;
  DecisionLog* const log_;
  const Stopwatch stopwatch_;
  Sampler sampler_;
  IdOf id_of_;
  std::string consumer_;  // scratch
  std::string line_;      // scratch

  DurationHistogram durations_;
  BatchHistogram batches_;
  TopDenied denied_;

  std::vector<Limit*> by_number_;  // the limits of the active policy; used only by the evaluator's thread
  mutable std::mutex mutex_;       // guards the structure of limits_; its counters are atomic
  std::map<std::string, LimitFigures> limits_;
};

}  // namespace weir::observe
