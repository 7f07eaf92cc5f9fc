// State shared by the frontends of one loop: the evaluator, the clock, the settings for answers and the sealed
// receipts. Used on the loop's thread only.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "answer/answer.h"
#include "engine/engine.h"
#include "engine/evaluation_batch.h"
#include "engine/evaluator.h"
#include "frontend/receipt_texts.h"
#include "net/session.h"
#include "weir/clock.h"
#include "weir/time.h"
#include "wire/fields/answer_fields.h"
#include "wire/fields/delta_seconds.h"

namespace weir::frontend {

// Settings for answers in every protocol. A reload may change them.
struct Settings {
  FieldChoice fields;
  Duration retry_jitter{};  // the maximum random addition to Retry-After, which spreads returning clients over time
};

class LoopContext {
 public:
  // The engine, the clock and the objects in `options` must outlive this object. Evaluations use this clock too.
  LoopContext(engine::Engine& engine, const Clock& clock, Settings settings, engine::EvaluatorOptions options = {},
              std::span<const ReceiptKey> receipt_keys = {})
      : evaluator_(engine.new_evaluator(with_clock(options, clock))),
        clock_(clock),
        settings_(settings),
        receipt_texts_(receipt_keys) {}

  [[nodiscard]] engine::Evaluator& evaluator() noexcept { return *evaluator_; }
  [[nodiscard]] Instant now() const noexcept { return clock_.now(); }

  [[nodiscard]] const Settings& settings() const noexcept { return settings_; }
  void change(Settings settings) { settings_ = settings; }

  // Without a key, no receipt is issued or accepted.
  [[nodiscard]] ReceiptTexts& receipt_texts() noexcept { return receipt_texts_; }
  void change_receipt_keys(std::span<const ReceiptKey> keys) { receipt_texts_ = ReceiptTexts(keys); }

  // Calls send(name, value) for each header of an answer. Retry-After includes jitter.
  template <class Send>
  void for_each_field(const policy::Ruleset& ruleset, const engine::Verdict& verdict, const Send& send) {
    const auto fields = answer::answer_fields(ruleset, verdict);
    for_each_field(fields, verdict.at, send);
    if (fields && verdict.reason == engine::Reason::warned) send(answer::warning_field, fields->policy);
    if (verdict.reason == engine::Reason::blocked_by_operator && verdict.retry_after) [[unlikely]] {
      send("Retry-After", std::to_string(wire::seconds_up(*verdict.retry_after + jitter())));
    }
  }
  template <class Send>
  void for_each_field(const answer::DescriptorVerdict& verdict, const Send& send) {
    for_each_field(answer::answer_fields(verdict), verdict.at, send);
  }

 private:
  template <class Send>
  void for_each_field(std::optional<wire::AnswerFields> fields, Instant at, const Send& send) {
    if (!fields) return;
    if (fields->retry_after) *fields->retry_after += jitter();
    wire::for_each_field(*fields, settings_.fields, at, send);
  }

  // A random duration from 0 to Settings::retry_jitter.
  [[nodiscard]] Duration jitter() {
    if (settings_.retry_jitter <= Duration::zero()) return Duration::zero();
    return Duration(std::uniform_int_distribution<Duration::rep>(0, settings_.retry_jitter.count())(random_));
  }

  static engine::EvaluatorOptions with_clock(engine::EvaluatorOptions options, const Clock& clock) noexcept {
    options.clock = &clock;
    return options;
  }

  const std::unique_ptr<engine::Evaluator> evaluator_;
  const Clock& clock_;
  Settings settings_;
  ReceiptTexts receipt_texts_;
  std::minstd_rand random_{std::random_device{}()};
};

// Submits a batch. If it is in flight afterwards, the link is resumed when it completes.
inline void submit(engine::EvaluationBatch& batch, const net::Link& link) {
  if (!batch.submit()) batch.on_done([link] { link.resume(); });
}

}  // namespace weir::frontend
