// Simulated Envoys that enforce the actions of QuotaBuckets, on simulated time.
//
// They behave like Envoy 1.38: an assignment with different numbers is a new, full bucket; one with the same numbers
// renews the time to live and keeps the tokens; after it expires everything is denied; the fill interval is in whole
// seconds. Responses arrive in order and within the delivery time, or not at all if the stream breaks.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/rls/quota_bucket.h"

namespace weir::frontend {

// Checks that requests stay within a limit in every period, as the level of a leaky bucket.
class BoundCheck {
 public:
  explicit BoundCheck(const QuotaAssigner::Numbers& numbers) : numbers_(numbers) {}

  // Returns false if there were more than burst + T x rate in some period T that ends now.
  [[nodiscard]] bool admit(std::uint64_t units, Instant now) {
    const auto per = static_cast<std::uint64_t>(numbers_.rate.per.count());
    const auto passed = static_cast<std::uint64_t>((now - at_).count());
    level_ -= std::min(level_, Wide{passed} * numbers_.rate.count);
    level_ += Wide{units} * per;
    at_ = now;
    return level_ <= Wide{numbers_.burst} * per;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  QuotaAssigner::Numbers numbers_;
  Wide level_ = 0;
  Instant at_;
};

enum class Filling : std::uint8_t { steady, in_whole_intervals };

// One bucket of one Envoy.
class SimulatedEnvoy {
 public:
  explicit SimulatedEnvoy(Filling filling = Filling::steady) : filling_(filling) {}

  void receive(const QuotaAction& action, Instant now) {
    const bool is_same = action_ && action_->kind == action.kind && action_->max_tokens == action.max_tokens &&
                         action_->tokens_per_fill == action.tokens_per_fill &&
                         action_->fill_interval == action.fill_interval;
    action_ = action;
    ends_ = now + action.time_to_live;
    if (action.kind == QuotaAction::Kind::abandon) action_.reset();
    if (is_same || action.kind != QuotaAction::Kind::token_bucket) return;
    filled_at_ = now;
    tokens_ = full();
  }

  [[nodiscard]] bool admits(Instant now) {
    const bool admitted = decide(now);
    ++requests_;
    return admitted;
  }
  // Returns the requests since the last report.
  [[nodiscard]] std::uint64_t take_requests() { return std::exchange(requests_, 0); }
  [[nodiscard]] const std::optional<QuotaAction>& action() const { return action_; }

 private:
  [[nodiscard]] std::uint64_t token() const {
    return static_cast<std::uint64_t>(Duration(action_->fill_interval).count());
  }
  [[nodiscard]] std::uint64_t full() const { return action_->max_tokens * token(); }

  [[nodiscard]] bool decide(Instant now) {
    if (action_ && now >= ends_) action_.reset();
    if (!action_ || action_->kind != QuotaAction::Kind::token_bucket) {
      return action_ && action_->kind == QuotaAction::Kind::allow_all;
    }
    Duration passed = now - filled_at_;
    if (filling_ == Filling::in_whole_intervals) passed -= passed % Duration(action_->fill_interval);
    filled_at_ += passed;
    tokens_ = std::min(full(), tokens_ + static_cast<std::uint64_t>(passed.count()) * action_->tokens_per_fill);
    if (tokens_ < token()) return false;
    tokens_ -= token();
    return true;
  }

  Filling filling_;
  std::optional<QuotaAction> action_;
  Instant ends_;
  Instant filled_at_;
  std::uint64_t tokens_ = 0;  // x microseconds of the fill interval
  std::uint64_t requests_ = 0;
};

// An Envoy, its stream to Weir, and the bucket at Weir.
class Connected {
 public:
  Connected(std::vector<QuotaBucket::Part> parts, Duration report_every, Filling filling = Filling::steady,
            const QuotaTimes& times = {})
      : parts_(std::move(parts)), report_every_(report_every), times_(times), envoy_(filling) {}

  // Opens a stream, which begins with a report.
  void connect(Instant now) {
    bucket_ = std::make_unique<QuotaBucket>(parts_, times_, now);
    report(now);
  }
  // Breaks the stream. Responses in transit are lost; Envoy keeps its assignment.
  void disconnect() {
    bucket_.reset();
    in_flight_.clear();
  }
  [[nodiscard]] bool connected() const { return bucket_ != nullptr; }

  // Reports if a report is due, and receives the response.
  void serve(Instant now, Duration delay = {}) {
    if (!bucket_) return;
    if (now >= reported_at_ + report_every_) report(now);
    const auto action = bucket_->next(now);
    if (!action) return;
    if (action->is_new) new_actions.push_back(*action);
    const Instant arrival = in_flight_.empty() ? now + delay : std::max(now + delay, in_flight_.back().second);
    in_flight_.emplace_back(*action, arrival);
    if (action->kind == QuotaAction::Kind::abandon) bucket_.reset();
  }
  // Delivers the responses that are due.
  void receive(Instant now) {
    for (; !in_flight_.empty() && in_flight_.front().second <= now; in_flight_.pop_front()) {
      envoy_.receive(in_flight_.front().first, in_flight_.front().second);
    }
  }

  [[nodiscard]] bool admits(Instant now) { return envoy_.admits(now); }
  // In requests per second; zero: no assignment.
  [[nodiscard]] double rate() const {
    const auto& action = envoy_.action();
    if (!action || action->kind != QuotaAction::Kind::token_bucket) return 0;
    return static_cast<double>(action->tokens_per_fill) / static_cast<double>(action->fill_interval.count());
  }
  [[nodiscard]] const std::optional<QuotaAction>& action() const { return envoy_.action(); }

  std::vector<QuotaAction> new_actions;

 private:
  void report(Instant now) {
    bucket_->report(envoy_.take_requests(), now);
    reported_at_ = now;
  }

  std::vector<QuotaBucket::Part> parts_;
  Duration report_every_;
  QuotaTimes times_;
  SimulatedEnvoy envoy_;
  std::unique_ptr<QuotaBucket> bucket_;
  std::deque<std::pair<QuotaAction, Instant>> in_flight_;
  Instant reported_at_;
};

}  // namespace weir::frontend
