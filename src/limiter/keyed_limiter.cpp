#include "weir/keyed_limiter.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "core/rule.h"
#include "limiter/acquire.h"
#include "limiter/receipt_ids.h"
#include "table/snapshot.h"
#include "table/table.h"
#include "table/together.h"

namespace weir {

struct KeyedLimiter::Body {
  std::shared_ptr<const Clock> clock;
  core::Rule rule;
  std::unique_ptr<table::Table> table;
  table::Table::DecideFunctions<bool> admit = table->decide_functions<bool>(rule);
  table::Table::DecideFunctions<Decision> check = table->decide_functions<Decision>(rule);
  limiter::ReceiptIds ids{};

  Decision decide(table::KeyHash key, Cost cost, Duration max_wait) {
    return table->decide(rule, {key, cost, max_wait}, clock->now());
  }

  [[nodiscard]] Decision peek(table::KeyHash key, Cost cost) {
    const table::HashedRequest request{.key = key, .cost = cost};
    if (!core::is_concurrency(rule)) return table->peek(rule, request, clock->now());
    const core::ReceiptUse any{.id = {1, 1}, .lasts = limiter::lasting(rule, Duration::zero())};
    return table->peek_holds(rule, request, any, clock->now());
  }

  // Answers as many requests as both spans hold.
  template <class Answer>
  void answer(const table::Table::DecideFunctions<Answer>& functions, std::span<const Request> requests,
              std::span<Answer> answers) {
    const Instant now = clock->now();
    while (!requests.empty() && !answers.empty()) {
      const std::size_t count = std::min({requests.size(), answers.size(), table::Table::max_batch_size});
      functions.several(*table, rule, requests.first(count), now, answers.data());
      requests = requests.subspan(count);
      answers = answers.subspan(count);
    }
  }
};

Result<KeyedLimiter> KeyedLimiter::create(const Limit& limit, std::shared_ptr<const Clock> clock, Options options) {
  if (!clock) return failure("clock", "must not be null: pass a WallClock, or a ManualClock in a test");
  const core::Rule rule = core::compile(limit);
  auto made = table::Table::create(rule, options.memory_budget, table::HashKey::random());
  if (!made) return tl::unexpected(made.error());
  return KeyedLimiter(std::unique_ptr<Body>(new Body{std::move(clock), rule, std::move(*made)}));
}

Result<KeyedLimiter> KeyedLimiter::create(const Limit& limit, std::shared_ptr<const Clock> clock) {
  return create(limit, std::move(clock), Options{});
}

Result<KeyedLimiter> KeyedLimiter::create(const Limit& limit, Options options) {
  return create(limit, std::make_shared<WallClock>(), options);
}

Result<KeyedLimiter> KeyedLimiter::create(const Limit& limit) {
  return create(limit, Options{});
}

Result<KeyedLimiter> KeyedLimiter::restore(const std::filesystem::path& path, const Limit& limit, Options options) {
  return restore(path, limit, std::make_shared<WallClock>(), options);
}

Result<KeyedLimiter> KeyedLimiter::restore(const std::filesystem::path& path, const Limit& limit,
                                           std::shared_ptr<const Clock> clock, Options options) {
  if (!clock) return failure("clock", "must not be null: pass a WallClock, or a ManualClock in a test");
  const core::Rule rule = core::compile(limit);
  auto restored = table::restore(path, rule, options.memory_budget, clock->now());
  if (!restored) return tl::unexpected(restored.error());
  return KeyedLimiter(std::unique_ptr<Body>(new Body{std::move(clock), rule, std::move(*restored)}));
}

KeyedLimiter::KeyedLimiter(std::unique_ptr<Body> body) noexcept : body_(std::move(body)) {}
KeyedLimiter::KeyedLimiter(KeyedLimiter&&) noexcept = default;
KeyedLimiter& KeyedLimiter::operator=(KeyedLimiter&&) noexcept = default;
KeyedLimiter::~KeyedLimiter() = default;

Decision KeyedLimiter::check(std::string_view key, Cost cost) {
  return body_->check.one(*body_->table, body_->rule, key, cost, body_->clock->now());
}

void KeyedLimiter::check(std::span<const Request> requests, std::span<Decision> decisions) {
  body_->answer(body_->check, requests, decisions);
}

bool KeyedLimiter::admit(std::string_view key, Cost cost) {
  return body_->admit.one(*body_->table, body_->rule, key, cost, body_->clock->now());
}

void KeyedLimiter::admit(std::span<const Request> requests, std::span<bool> admitted) {
  body_->answer(body_->admit, requests, admitted);
}

Decision KeyedLimiter::peek(std::string_view key, Cost cost) const {
  return body_->peek(body_->table->hash(key), cost);
}

Decision KeyedLimiter::acquire(std::string_view key, Cost cost, Instant deadline, std::stop_token stop) {
  struct Limited {
    Body& body;
    table::KeyHash key;
    Cost cost;
    [[nodiscard]] bool is_queue() const {
      return std::holds_alternative<core::RuleOf<core::LeakyBucketQueue>>(body.rule);
    }
    Decision peek() { return body.peek(key, cost); }
    Decision decide(Duration max_wait) { return body.decide(key, cost, max_wait); }
    void give_back(const Decision& charge) {
      body.table->refund(body.rule, key, cost, core::charged_by(charge), body.clock->now());
    }
  };
  return limiter::acquire(*body_->clock, Limited{*body_, body_->table->hash(key), cost}, deadline, stop);
}

Decision KeyedLimiter::acquire_within(std::string_view key, Cost cost, Duration at_most, std::stop_token stop) {
  return acquire(key, cost, limiter::later(body_->clock->now(), at_most), std::move(stop));
}

Reservation KeyedLimiter::reserve(std::string_view key, Cost cost, Duration lasts, std::string_view id) {
  const table::KeyHash hash = body_->table->hash(key);
  core::ReceiptUse use{.id = body_->ids.next(id), .lasts = limiter::lasting(body_->rule, lasts)};
  Decision decision;
  const std::array checks{table::Check{body_->table.get(), &body_->rule, {hash, cost}, &decision}};
  const std::array uses{&use};
  std::ignore = table::reserve_together(checks, uses, body_->clock->now());
  Reservation reservation = limiter::reservation_of(decision, use);
  if (limiter::has_receipt(use.result)) reservation.receipt = {hash.value, use.id.high, use.id.low};
  return reservation;
}

ReceiptAnswer KeyedLimiter::settle(const Receipt& receipt, Cost actual) {
  core::ReceiptUse use{.id = {receipt.high_, receipt.low_}, .actual = actual};
  std::ignore = body_->table->settle(body_->rule, {receipt.key_}, use, body_->clock->now());
  return limiter::answer_of(use);
}

ReceiptAnswer KeyedLimiter::extend(const Receipt& receipt, Duration lasts) {
  core::ReceiptUse use{.id = {receipt.high_, receipt.low_}, .lasts = limiter::lasting(body_->rule, lasts)};
  std::ignore = body_->table->extend(body_->rule, {receipt.key_}, use, body_->clock->now());
  return limiter::answer_of(use);
}

ReceiptAnswer KeyedLimiter::report(std::string_view key, Cost cost, std::string_view id) {
  if (core::is_concurrency(body_->rule)) return {};
  core::ReceiptUse use;
  if (!id.empty()) use.id = limiter::ReceiptIds::of(id);
  std::ignore = body_->table->report(body_->rule, body_->table->hash(key), cost, use, body_->clock->now());
  return limiter::answer_of(use);
}

bool KeyedLimiter::reset(std::string_view key) {
  return body_->table->reset(body_->rule, body_->table->hash(key), body_->clock->now());
}

KeyedLimiter::Usage KeyedLimiter::usage() const noexcept {
  return {.bytes = body_->table->bytes_used(), .overflowed = body_->table->overflowed()};
}

Result<void> KeyedLimiter::save(const std::filesystem::path& path) const {
  return table::save(*body_->table, body_->rule, path, body_->clock->now());
}

}  // namespace weir
