// What the frontends of one loop share: the evaluator, the clock, how answers are written, and the texts of receipts.
// All on the loop's thread.
#pragma once

#include <memory>
#include <optional>
#include <random>
#include <span>
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

namespace weir::frontend {

// How answers are written, in every protocol. May change while the server runs.
struct Settings {
  FieldChoice fields;
  Duration retry_jitter{};  // at most so much is added to Retry-After, at random, to spread the clients that come back
};

class LoopContext {
 public:
  // The engine, the clock and what the options point to stay longer. Evaluations go by this clock, too.
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

  // Without a key, no receipt is given and none opens.
  [[nodiscard]] ReceiptTexts& receipt_texts() noexcept { return receipt_texts_; }
  void change_receipt_keys(std::span<const ReceiptKey> keys) { receipt_texts_ = ReceiptTexts(keys); }

  // Calls send(name, value) for each header field of an answer; Retry-After has its jitter.
  template <class Send>
  void for_each_field(const policy::Ruleset& ruleset, const engine::Verdict& verdict, const Send& send) {
    const auto fields = answer::answer_fields(ruleset, verdict);
    for_each_field(fields, verdict.at, send);
    if (fields && verdict.reason == engine::Reason::warned) send(answer::warning_field, fields->policy);
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

  // From nothing to Settings::retry_jitter, another one each time.
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

// Evaluates a batch. If it is in flight afterwards, the link is resumed when it is done.
inline void submit(engine::EvaluationBatch& batch, const net::Link& link) {
  if (!batch.submit()) batch.on_done([link] { link.resume(); });
}

}  // namespace weir::frontend
