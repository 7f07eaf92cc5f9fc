// Shared by the tests of the table: one limit of each kind, and verbs.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "core/rule.h"
#include "table/table.h"

namespace weir {

inline std::ostream& operator<<(std::ostream& out, const Decision& decision) {
  return out << (decision.admitted ? "admitted" : "denied") << " limit " << decision.limit << " remaining "
             << decision.remaining << " retry_after "
             << (decision.retry_after ? std::to_string(decision.retry_after->count()) : "never") << " reset_after "
             << decision.reset_after.count() << " delay " << decision.delay.count() << " charged_at "
             << decision.charged_at.time_since_epoch().count();
}

}  // namespace weir

namespace weir::table {

using namespace std::chrono_literals;

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;
inline constexpr Instant noon{std::chrono::microseconds{1'790'000'000'000'000}};

struct NamedLimit {
  std::string name;
  Limit limit;
};

// Every algorithm, narrow and wide.
inline std::vector<NamedLimit> all_limits() {
  return {
      {"token_bucket", *Limit::token_bucket({.rate = {100, 1min}, .burst = 20})},
      {"gcra", *Limit::gcra({.rate = {7, 3s}, .burst = 5})},
      {"gcra_wide", *Limit::gcra({.rate = {10'007, 1h}, .burst = 13})},
      {"leaky_bucket_meter", *Limit::leaky_bucket(BucketNumbers{.rate = {3, 1s}, .burst = 4})},
      {"leaky_bucket_queue", *Limit::leaky_bucket(QueueNumbers{.rate = {10, 1s}, .queue = 6})},
      {"fixed_window", *Limit::fixed_window({.limit = 9, .window = 10s})},
      {"fixed_window_wide", *Limit::fixed_window({.limit = 5'000, .window = 10s})},
      {"sliding_window_log", *Limit::sliding_window_log({.limit = 9, .window = 10s})},
      {"sliding_window_counter", *Limit::sliding_window_counter({.limit = 9, .window = 10s})},
  };
}

// The hashes that this processor supports.
inline std::vector<HashKind> hash_kinds() {
  return can_hash(HashKind::aes) ? std::vector{HashKind::siphash, HashKind::aes} : std::vector{HashKind::siphash};
}

// A table for one limit.
class LimitedTable {
 public:
  explicit LimitedTable(const Limit& limit, std::size_t budget = 64 * mebibyte, HashKind hash = hash_kinds().back())
      : rule_(core::compile(limit)), table_(*Table::create(rule_, budget, HashKey{1, 2, hash})) {}

  Decision decide(const std::string& key, Instant now, std::uint64_t cost = 1) {
    return table_->decide(rule_, request(key, cost), now);
  }
  Decision peek(const std::string& key, Instant now, std::uint64_t cost = 1) {
    return table_->peek(rule_, request(key, cost), now);
  }
  std::uint64_t left(const std::string& key, Instant now) { return peek(key, now, 0).remaining; }
  void refund(const std::string& key, std::uint64_t cost, const Decision& charge, Instant now) {
    table_->refund(rule_, table_->hash(key), Cost{cost}, core::charged_by(charge), now);
  }
  void reset(const std::string& key, Instant now) { table_->reset(rule_, table_->hash(key), now); }

  [[nodiscard]] HashedRequest request(const std::string& key, std::uint64_t cost = 1) const {
    return {.key = table_->hash(key), .cost = Cost{cost}};
  }
  [[nodiscard]] const core::Rule& rule() const { return rule_; }
  [[nodiscard]] Table& table() { return *table_; }

 private:
  core::Rule rule_;
  std::unique_ptr<Table> table_;
};

// Runs a test for each limit.
class ForEveryLimit : public testing::TestWithParam<NamedLimit> {
 protected:
  [[nodiscard]] const Limit& limit() const { return GetParam().limit; }
  [[nodiscard]] std::uint64_t capacity() const { return limit().capacity(); }
};

inline std::string limit_name(const testing::TestParamInfo<NamedLimit>& info) {
  return info.param.name;
}

}  // namespace weir::table
