// Random groups: several limits under changing numbers, repeated keys and groups, every operation, costs at the edges.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/rule.h"
#include "store/store.h"
#include "tests/core/uneven_calendar.h"
#include "tests/store/memory_store.h"
#include "weir/limit.h"

namespace weir::store::redis {

class GroupTrace {
 public:
  explicit GroupTrace(std::uint64_t seed) : random_(seed), name_("t" + std::to_string(seed) + ":") {}

  // Adds slice messages to decisions.
  void lease() { leases_ = true; }

  // Opens receipts by decisions, settles and extends them, and reports in between.
  void reserve() { reserves_ = true; }

  // The time of the last batch, if the test sets it.
  void set_time(Instant now) { time_ = now; }

  // Uses durations that pass while a test runs.
  void be_quick() { is_quick_ = true; }

  // Numbers that alternate on the same states.
  void add_family(Algorithm algorithm) {
    Family family;
    family.window = length();
    const std::size_t count = 1 + below(3);
    while (family.rules.size() < count) {
      if (auto limit = some_limit(algorithm, family.window)) family.rules.push_back(core::compile(*limit));
    }
    for (core::Rule& rule : family.rules) {
      if (!one_in(3)) core::bound_reach(rule, core::time_to_fill(family.rules[below(family.rules.size())]));
    }
    families_.push_back(std::move(family));
  }

  // One fixed limit.
  void add_family(const Limit& limit) { families_.push_back({limit.rate().per, {core::compile(limit)}}); }

  // Windows of calendars, like those of different zones, on the same states.
  void add_calendars() {
    Family family;
    family.window = Duration{static_cast<std::int64_t>(1'000 + below(10'000'000))};
    const std::size_t zones = 1 + below(3);
    for (std::size_t i = 0; i < zones; ++i) calendars_.emplace_back(family.window, random_());
    for (std::size_t i = 0; i < zones + 1; ++i) {
      const core::Calendar& calendar = calendars_[calendars_.size() - 1 - below(zones)];
      family.rules.push_back(core::compile(*Limit::fixed_window(1 + below(one_in(4) ? 100'000 : 12), calendar)));
    }
    families_.push_back(std::move(family));
  }

  // How far the clock of a node may be off and still send the window of the store's time.
  [[nodiscard]] Duration clock_offset() {
    const auto most = static_cast<std::int64_t>(min_window() / 2);
    return Duration{static_cast<std::int64_t>(below(static_cast<std::uint64_t>(2 * most))) - most};
  }

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  [[nodiscard]] bool one_in(std::uint64_t n) { return below(n) == 0; }

  Group next_group() {
    if (!groups_.empty() && one_in(3)) {
      Group again = groups_[groups_.size() - 1 - below(std::min<std::size_t>(groups_.size(), 3))];
      for (store::Check& check : again.checks) {
        check.extension = copy_of(check.extension, extensions_);
        if (check.holdings != nullptr) check.holdings = &holdings_.emplace_back();
        if (check.receipt != nullptr) check.receipt = &uses_.emplace_back(*check.receipt);
      }
      return again;
    }
    if (reserves_ && one_in(2)) return next_receipts();
    Group group;
    const std::uint64_t kind = below(16);
    group.operation = kind < 11   ? store::Operation::decide
                      : kind < 13 ? store::Operation::look
                      : kind < 15 ? store::Operation::settle
                                  : store::Operation::forget;
    const std::size_t checks = group.operation == store::Operation::settle || one_in(2) ? 1 : 1 + below(3);
    for (std::size_t i = 0; i < checks; ++i) group.checks.push_back(next_check(group.operation));
    if (group.operation == store::Operation::settle) group.settlement = next_settlement();
    groups_.push_back(group);
    return group;
  }

  void remember(const Group& answered) {
    if (answered.operation != store::Operation::decide || !answered.admitted) return;
    charged_.push_back({answered.checks[0].cost, Cost{0}, core::charged_by(answered.checks[0].decision)});
  }

  Duration next_step() {
    const auto scale = static_cast<std::uint64_t>(families_[below(families_.size())].window.count());
    switch (below(10)) {
      case 0:
      case 1:
        return Duration{0};
      case 2:
      case 3:
      case 4:
        return Duration{static_cast<std::int64_t>(below(scale / 4 + 2))};
      case 5:
        return Duration{static_cast<std::int64_t>(scale)};
      case 6:
        return Duration{static_cast<std::int64_t>(below(3 * scale))};
      case 7:
        return Duration{static_cast<std::int64_t>(below(40 * scale))};
      case 8:
        return -Duration{static_cast<std::int64_t>(below(3 * min_window()))};
      default:
        return Duration{1};
    }
  }

 private:
  struct Family {
    Duration window;
    std::vector<core::Rule> rules;
  };
  struct Reserved {
    core::ReceiptId id;
    store::Check check;
  };

  Group next_receipts() {
    Group group;
    const std::uint64_t kind = below(12);
    group.operation = kind < 5    ? store::Operation::decide
                      : kind < 6  ? store::Operation::look
                      : kind < 9  ? store::Operation::settle
                      : kind < 10 ? store::Operation::extend
                                  : store::Operation::report;
    core::ReceiptId id{below(2) << 63, 1 + below(6)};
    const bool is_old = group.operation == store::Operation::settle || group.operation == store::Operation::extend;
    if (is_old && !reserved_.empty() && !one_in(6)) {
      const Reserved& chosen = reserved_[reserved_.size() - 1 - below(std::min<std::size_t>(reserved_.size(), 8))];
      id = chosen.id;
      for (const Reserved& one : reserved_) {
        if (one.id == id && group.checks.size() < 3) group.checks.push_back(one.check);
      }
    }
    while (group.checks.empty() || (!is_old && one_in(3))) group.checks.push_back(next_check(group.operation));
    for (store::Check& check : group.checks) {
      if (is_old) check.extension = nullptr;
      if (group.operation <= store::Operation::look && one_in(8)) continue;
      const bool has_id = group.operation != store::Operation::report || !one_in(3);
      check.receipt = &uses_.emplace_back(core::ReceiptUse{.id = has_id ? id : core::ReceiptId{}});
      check.receipt->lasts = next_step();
      if (!one_in(4)) check.receipt->actual = one_in(2) ? Cost{0} : cost_for(*check.rule);
      if (group.operation == store::Operation::decide) reserved_.push_back({id, check});
    }
    groups_.push_back(group);
    return group;
  }

  // The script distinguishes windows that are less than 2^19 ahead.
  [[nodiscard]] std::uint64_t min_window() const {
    const auto by_window = [](const Family& family) { return family.window; };
    return static_cast<std::uint64_t>(std::ranges::min_element(families_, {}, by_window)->window.count());
  }

  Duration length() {
    if (is_quick_) return Duration{static_cast<std::int64_t>(one_in(2) ? 1 + below(500) : 1'000 * (1 + below(50)))};
    switch (below(6)) {
      case 0:
        return Duration{static_cast<std::int64_t>(1 + below(50))};
      case 1:
        return Duration{static_cast<std::int64_t>(1 + below(5'000))};
      case 2:
        return std::chrono::seconds(60);
      case 3:
        return Duration{static_cast<std::int64_t>(1 + below(10'000'000))};
      case 4:
        return std::chrono::days(1 + below(3650));
      default:
        return Duration{1'000'000};
    }
  }

  std::uint64_t count() {
    switch (below(5)) {
      case 0:
        return 1;
      case 1:
        return 1 + below(1'000'000);
      case 2:
        return std::uint64_t{1} << below(32);
      default:
        return 1 + below(12);
    }
  }

  Result<Limit> some_limit(Algorithm algorithm, Duration window) {
    // Sometimes at the edges of what is exact.
    const std::uint64_t huge = (std::uint64_t{1} << 53) - below(3);
    const Rate rate{one_in(8) ? huge : count(), window};
    const std::uint64_t burst = one_in(8) ? huge / rate.count : count();
    switch (algorithm) {
      case Algorithm::token_bucket:
        return Limit::token_bucket({rate, burst});
      case Algorithm::gcra:
        return Limit::gcra({rate, burst});
      case Algorithm::leaky_bucket_meter:
        return Limit::leaky_bucket(BucketNumbers{rate, burst});
      case Algorithm::leaky_bucket_queue:
        return Limit::leaky_bucket(QueueNumbers{rate, burst - 1});
      case Algorithm::fixed_window:
        return Limit::fixed_window({one_in(4) ? Limit::max_window_limit : count(), window});
      case Algorithm::sliding_window_log:
        return Limit::sliding_window_log({one_in(4) ? 1 + below(200) : 1 + below(12), window});
      case Algorithm::concurrency:
        return Limit::concurrency({1 + below(one_in(4) ? 4'096 : 9), window});
      case Algorithm::sliding_window_counter:
        break;
    }
    return Limit::sliding_window_counter({one_in(4) ? Limit::max_window_limit : count(), window});
  }

  static std::uint64_t capacity_of(const core::Rule& rule) {
    return core::visit_rule(rule, []<class A>(const core::RuleOf<A>& of) -> std::uint64_t {
      if constexpr (std::is_base_of_v<core::ArrivalLimit, typename A::Limit>) {
        return of.limit.burst;
      } else {
        return of.limit.limit;
      }
    });
  }

  Cost cost_for(const core::Rule& rule) {
    const std::uint64_t capacity = capacity_of(rule);
    switch (below(12)) {
      case 0:
        return Cost{0};
      case 1:
        return Cost{capacity};
      case 2:
        return Cost{capacity + 1 + below(2)};
      case 3:
        return Cost{one_in(8) ? UINT64_MAX - below(2) : capacity / 2};
      case 4:
      case 5:
        return Cost{1 + below(capacity)};
      default:
        return Cost{1 + below(std::min<std::uint64_t>(capacity, 3))};
    }
  }

  std::uint64_t units_for(std::uint64_t capacity) {
    switch (below(8)) {
      case 0:
      case 1:
        return 0;
      case 2:
        return capacity;
      case 3:
        return UINT64_MAX >> (11 + below(20));
      default:
        return below(capacity + 2);
    }
  }

  // The start of a window near the time of the last batch; sometimes none.
  std::int64_t next_window(const Family& family) {
    if (one_in(3)) return 0;
    const std::int64_t present = core::window_start(core::micros(time_), family.window.count());
    return std::max<std::int64_t>(0, present + (static_cast<std::int64_t>(below(4)) - 2) * family.window.count());
  }

  // One of three.
  std::uint64_t next_holder() { return UINT64_MAX - below(3); }

  // Sometimes old and repeated numbers.
  core::SliceMessage next_message(const Family& family, const core::Rule& rule) {
    const std::uint64_t capacity = capacity_of(rule);
    core::SliceMessage message;
    message.holder = next_holder();
    message.number = one_in(6) ? number_ - below(std::min<std::uint64_t>(number_, 3)) : ++number_;
    message.used = one_in(8) ? below(1'000) : used_ += std::min(units_for(capacity), std::uint64_t{UINT32_MAX});
    message.used_before = one_in(2) ? 0 : message.used - below(std::min<std::uint64_t>(message.used, 9) + 1);
    message.window = next_window(family);
    message.keep = units_for(capacity);
    message.unasked = one_in(4) ? units_for(capacity) : 0;
    message.want = units_for(capacity);
    message.nodes = one_in(2) ? 0 : static_cast<std::uint32_t>(1 + below(64));
    message.lease =
        Duration{static_cast<std::int64_t>(1 + below(static_cast<std::uint64_t>(family.window.count()) * 2))};
    return message;
  }

  store::Check next_check(store::Operation operation) {
    const std::size_t number = below(families_.size());
    Family& family = families_[number];
    store::Check check;
    check.key = name_ + std::to_string(number) + "/" + std::to_string(below(3));
    check.rule = &family.rules[below(family.rules.size())];
    check.cost = cost_for(*check.rule);
    if (one_in(3)) check.max_wait = Duration{static_cast<std::int64_t>(below(2'000'000))};
    if (one_in(20)) check.max_wait = -Duration{5};
    if (operation <= store::Operation::look && one_in(8)) check.role = store::Check::Role::guard;
    check.wants_more_after = operation != store::Operation::forget && !one_in(4);
    OwnExtension& extension = extensions_.emplace_back();
    if (operation == store::Operation::decide && one_in(12)) extension.charge_back = 1 + below(20);
    const bool is_leased = leases_ && operation == store::Operation::decide && core::is_leasable(*check.rule);
    if (is_leased && one_in(2)) extension.send(next_message(family, *check.rule));
    const std::uint64_t holder = leases_ ? next_holder() : 0;
    if (is_leased && extension.exchange == nullptr) {
      extension.send({.holder = holder});
      extension.own_exchange.is_sent = false;
    }
    if (extension.charge_back > 0 || extension.exchange != nullptr) check.extension = &extension;
    const bool can_tell = operation == store::Operation::look || operation == store::Operation::forget;
    if (can_tell && one_in(2)) check.holdings = &holdings_.emplace_back();
    return check;
  }

  core::Settlement next_settlement() {
    core::Settlement settlement{Cost{below(5)}, Cost{below(8)}, {Instant{std::chrono::seconds(1)}, Instant{}}};
    if (!charged_.empty())
      settlement = charged_[charged_.size() - 1 - below(std::min<std::size_t>(charged_.size(), 4))];
    if (one_in(2)) settlement.actual = Cost{below(2 + 2 * std::min(settlement.reserved.units(), UINT64_MAX / 4))};
    if (one_in(10)) settlement.charged.at += Duration{static_cast<std::int64_t>(below(3)) - 1};
    if (one_in(10)) settlement.charged.full_at += Duration{static_cast<std::int64_t>(below(2'000'000))};
    if (one_in(40)) settlement.charged = {Instant::min(), Instant::max()};
    return settlement;
  }

  std::mt19937_64 random_;
  bool leases_ = false;
  std::uint64_t number_ = 1;
  std::uint64_t used_ = 0;
  Instant time_{};
  std::deque<OwnExtension> extensions_;
  std::deque<Holdings> holdings_;
  bool reserves_ = false;
  std::deque<core::ReceiptUse> uses_;
  std::vector<Reserved> reserved_;
  bool is_quick_ = false;
  std::string name_;
  std::deque<Family> families_;
  std::deque<core::UnevenCalendar> calendars_;
  std::vector<Group> groups_;
  std::vector<core::Settlement> charged_;
};

}  // namespace weir::store::redis
