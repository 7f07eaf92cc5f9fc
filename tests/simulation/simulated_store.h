// The shared store of a run: the core on a map, with a clock that leaps, and failures that forget. Accounts for the
// units of every key independently of the ledger, from the messages alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/bound.h"
#include "tests/simulation/mutants.h"
#include "tests/store/memory_store.h"

namespace weir::simulation {

class SimulatedStore {
 public:
  // Units of one key.
  struct Account {
    std::uint64_t granted = 0;
    std::uint64_t reported = 0;
    std::uint64_t returned = 0;
    std::uint64_t expired = 0;
    std::uint64_t decided = 0;  // charged by decisions of the store
    std::uint64_t unasked = 0;  // charged without a grant

    [[nodiscard]] std::uint64_t held() const noexcept { return granted - reported - returned - expired; }
    [[nodiscard]] std::uint64_t charged() const noexcept { return reported + expired + decided + unasked; }
  };

  explicit SimulatedStore(Mutant mutant) : mutant_(mutant) {}

  // Its clock, `at` microseconds into the run.
  [[nodiscard]] Instant clock(Micros at) const noexcept { return Instant{start + Duration{at + ahead_}}; }
  // Each call is later in the order.
  [[nodiscard]] StoreTime time(Micros at) noexcept {
    return {++order_, at, at + leapt_, std::max(latest_, clock(at).time_since_epoch().count())};
  }
  void leap(Micros at, Micros by) {
    latest_ = time(at).latest;
    ahead_ += by;
    leapt_ += std::max<Micros>(0, by);
  }

  // Decides and fills in the answers.
  void apply(store::Group& group, Micros at) {
    const Instant now = clock(at);
    std::vector<core::Ledger> before;
    for (const store::Check& check : group.checks) before.push_back(states_.ledger(check.key));
    if (mutant_ == Mutant::charged_ahead) take_back_charges(group, at);
    std::vector<std::vector<core::Slice>> expired;
    if (mutant_ == Mutant::expired_after) expired = take_expired(group, now);
    if (mutant_ == Mutant::record_without_value) forget_totals(group, now);
    states_.decide(group, now);
    if (mutant_ == Mutant::expired_after) put_expired(group, expired, now);
    if (mutant_ == Mutant::others_not_subtracted) grant_what_others_hold(group);
    for (std::size_t i = 0; i < group.checks.size(); ++i) note(group, group.checks[i], before[i], now);
    if (mutant_ == Mutant::returned_twice) refund_returns(group, before, at);
    if (mutant_ == Mutant::charged_ahead) charge_grants(group, at);
    if (mutant_ == Mutant::walk_without_totals) keep_expired_totals(group, before, now);
  }

  [[nodiscard]] const core::Ledger& ledger(const std::string& key) { return states_.ledger(key); }
  [[nodiscard]] std::map<std::string, Account>& accounts() noexcept { return accounts_; }

  // True if the ledger agrees with the messages. The mutant that charges ahead keeps no ledger.
  [[nodiscard]] bool is_balanced(const std::string& key) {
    const core::Ledger& of = states_.ledger(key);
    if (mutant_ == Mutant::charged_ahead) return true;
    return accounts_[key].held() == of.totals.units && totals_of(of).units == of.totals.units &&
           of.slices.size() == of.totals.count;
  }

  // Units that a holder has reported as used.
  [[nodiscard]] std::uint64_t reported(const std::string& key, std::uint64_t holder) {
    return reported_[{key, holder}];
  }

  [[nodiscard]] store::CoreStates states() const { return states_.copy(); }

  void take_snapshot() {
    snapshot_ = states_.copy();
    accounts_then_ = accounts_;
  }
  // What a key loses by restoring the snapshot: charges and grants since.
  [[nodiscard]] std::uint64_t lost_by_failover(const std::string& key) {
    const Account& now = accounts_[key];
    const Account& then = accounts_then_[key];
    return now.charged() - then.charged() + now.granted - then.granted;
  }
  void fail_over() {
    states_ = snapshot_.copy();
    accounts_ = accounts_then_;
  }
  void empty() {
    states_ = {};
    accounts_.clear();
    ahead_slices_.clear();
  }

 private:
  static constexpr Duration start = std::chrono::seconds(1'700'000'000);

  static core::Slice find(const std::vector<core::Slice>& slices, std::uint64_t holder) {
    const auto slice = std::ranges::find(slices, holder, &core::Slice::holder);
    return slice == slices.end() ? core::Slice{} : *slice;
  }

  static core::LeaseTotals totals_of(const core::Ledger& ledger) {
    core::LeaseTotals totals{.count = ledger.slices.size(), .window = ledger.totals.window};
    for (const core::Slice& slice : ledger.slices) {
      totals.units += slice.units;
      totals.demand += slice.demand;
      totals.first_expiry = std::min(totals.first_expiry == 0 ? slice.until : totals.first_expiry, slice.until);
      totals.last_expiry = std::max(totals.last_expiry, slice.until);
    }
    return totals.count == 0 ? core::LeaseTotals{} : totals;
  }

  // What a message does to the sender's slice.
  struct Applied {
    std::uint64_t kept = 0;
    std::uint64_t used = 0;
    std::uint64_t returned = 0;
  };
  static Applied applied(const core::SliceMessage& message, const core::Ledger& before, const core::Ledger& after,
                         Instant now) {
    const core::Slice own = find(before.slices, message.holder);
    const std::uint64_t units = own.until > core::micros(now) ? own.units : 0;
    Applied applied;
    applied.used = std::min(units, message.used - own.used);
    const bool same_window = after.empty() || before.totals.window == after.totals.window;
    applied.kept = same_window ? std::min(message.keep, units - applied.used) : 0;
    applied.returned = units - applied.used - applied.kept;
    return applied;
  }

  void note(const store::Group& group, const store::Check& check, const core::Ledger& before, Instant now) {
    Account& account = accounts_[check.key];
    for (const core::Slice& slice : before.slices) {
      if (slice.until <= core::micros(now)) account.expired += slice.units;
    }
    const bool is_decision = group.operation == store::Operation::decide;
    if (is_decision && group.admitted) account.decided += check.cost.units();
    if (!is_decision || check.message() == nullptr || !check.message()->answer.taken) return;
    const core::SliceMessage& message = check.message()->message;
    const Applied applied = SimulatedStore::applied(message, before, states_.ledger(check.key), now);
    account.unasked += message.unasked;
    account.returned += applied.returned;
    account.reported += applied.used;
    account.granted += check.message()->answer.units - applied.kept;
    reported_[{check.key, message.holder}] += applied.used;
  }

  // Mutants

  void correct(const store::Check& check, std::uint64_t reserved, std::uint64_t actual, Micros at) {
    if (reserved == actual) return;
    store::Group group;
    group.operation = store::Operation::settle;
    group.checks.push_back(check);
    group.checks[0].extension = nullptr;
    group.settlement = core::Settlement{Cost{reserved}, Cost{actual}, {clock(at), Instant::max()}};
    states_.decide(group, clock(at));
  }
  void refund_returns(const store::Group& group, const std::vector<core::Ledger>& before, Micros at) {
    for (std::size_t i = 0; i < group.checks.size(); ++i) {
      const store::Check& check = group.checks[i];
      if (check.message() == nullptr || !check.message()->answer.taken) continue;
      const core::Ledger& after = states_.ledger(check.key);
      correct(check, applied(check.message()->message, before[i], after, clock(at)).returned, 0, at);
    }
  }

  // Of a key with an expired slice, the totals stay as they were.
  void keep_expired_totals(const store::Group& group, const std::vector<core::Ledger>& before, Instant now) {
    for (std::size_t i = 0; i < group.checks.size(); ++i) {
      core::Ledger& after = states_.ledger(group.checks[i].key);
      std::uint64_t expired = 0;
      for (const core::Slice& slice : before[i].slices) expired += slice.until <= core::micros(now) ? slice.units : 0;
      if (!after.empty()) after.totals.units += expired;
    }
  }

  // Once, a key loses its value, and a later grant finds the old slices.
  void forget_totals(const store::Group& group, Instant now) {
    for (const store::Check& check : group.checks) {
      core::Ledger& of = states_.ledger(check.key);
      if (of.empty() || core::micros(now) < core::micros(Instant{start}) + 2'000'000) continue;
      of.totals = {};
    }
  }

  void grant_what_others_hold(store::Group& group) {
    for (const store::Check& check : group.checks) {
      if (check.message() == nullptr || !check.message()->answer.taken || check.message()->message.nodes == 0) continue;
      core::SliceAnswer& answer = check.message()->answer;
      std::vector<core::Slice>& slices = states_.ledger(check.key).slices;
      const auto own = std::ranges::find(slices, check.message()->message.holder, &core::Slice::holder);
      if (own == slices.end()) continue;
      std::uint64_t all = 0;
      for (const core::Slice& slice : slices) all += slice.demand;
      core::LeaseTotals& totals = states_.ledger(check.key).totals;
      const std::uint64_t unused = answer.left + totals.units;
      if (all == 0) continue;
      const std::uint64_t units = std::max(own->units, core::multiply_divide_ceil(unused, own->demand, all));
      totals.units += units - own->units;
      answer.units = own->units = units;
    }
  }

  // Slices are stored here instead of in the ledger.
  void take_back_charges(store::Group& group, Micros at) {
    for (store::Check& check : group.checks) {
      if (check.message() == nullptr) continue;
      const auto slice = ahead_slices_.find({check.key, check.message()->message.holder});
      if (slice == ahead_slices_.end()) continue;
      const core::SliceMessage& message = check.message()->message;
      if (slice->second.until > core::micros(clock(at)) && message.number > slice->second.number) {
        correct(check, slice->second.units - std::min(slice->second.units, message.used - slice->second.used), 0, at);
      }
      ahead_slices_.erase(slice);
    }
  }
  void charge_grants(store::Group& group, Micros at) {
    for (const store::Check& check : group.checks) {
      const core::Ledger granted = std::exchange(states_.ledger(check.key), {});
      for (const core::Slice& slice : granted.slices) {
        ahead_slices_[{check.key, slice.holder}] = slice;
        correct(check, 0, slice.units, at);
      }
    }
  }

  std::vector<std::vector<core::Slice>> take_expired(const store::Group& group, Instant now) {
    std::vector<std::vector<core::Slice>> taken;
    const auto has_expired = [&](const core::Slice& slice) { return slice.until <= core::micros(now); };
    for (const store::Check& check : group.checks) {
      core::Ledger& of = states_.ledger(check.key);
      std::ranges::copy_if(of.slices, std::back_inserter(taken.emplace_back()), has_expired);
      std::erase_if(of.slices, has_expired);
      of.totals = totals_of(of);
    }
    return taken;
  }
  void put_expired(const store::Group& group, const std::vector<std::vector<core::Slice>>& expired, Instant now) {
    for (std::size_t i = 0; i < expired.size(); ++i) {
      core::Ledger& of = states_.ledger(group.checks[i].key);
      of.slices.insert(of.slices.end(), expired[i].begin(), expired[i].end());
      of.totals = totals_of(of);
      store::Group look;
      look.operation = store::Operation::look;
      look.checks.push_back(group.checks[i]);
      look.checks[0].extension = nullptr;
      states_.decide(look, now);
    }
  }

  const Mutant mutant_;
  store::CoreStates states_;
  store::CoreStates snapshot_;
  std::map<std::string, Account> accounts_;
  std::map<std::string, Account> accounts_then_;
  std::map<std::pair<std::string, std::uint64_t>, std::uint64_t> reported_;  // units, by key and holder
  std::uint64_t order_ = 0;
  Micros ahead_ = 0;
  Micros leapt_ = 0;
  Micros latest_ = 0;
  std::map<std::pair<std::string, std::uint64_t>, core::Slice> ahead_slices_;
};

}  // namespace weir::simulation
