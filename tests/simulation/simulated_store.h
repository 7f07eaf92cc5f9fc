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
    std::vector<std::vector<core::Slice>> before;
    for (const store::Check& check : group.checks) before.push_back(states_.ledger(check.key).slices);
    if (mutant_ == Mutant::charged_ahead) take_back_charges(group, at);
    std::vector<std::vector<core::Slice>> expired;
    if (mutant_ == Mutant::expired_after) expired = take_expired(group, now);
    states_.decide(group, now);
    if (mutant_ == Mutant::expired_after) put_expired(group, expired, now);
    if (mutant_ == Mutant::others_not_subtracted) grant_what_others_hold(group);
    for (std::size_t i = 0; i < group.checks.size(); ++i) note(group, group.checks[i], before[i], now);
    if (mutant_ == Mutant::returned_twice) refund_returns(group, at);
    if (mutant_ == Mutant::charged_ahead) charge_grants(group, at);
  }

  [[nodiscard]] const core::Ledger& ledger(const std::string& key) { return states_.ledger(key); }
  [[nodiscard]] std::map<std::string, Account>& accounts() noexcept { return accounts_; }

  // True if the ledger agrees with the messages. The mutant that charges ahead keeps no ledger.
  [[nodiscard]] bool is_balanced(const std::string& key) {
    return mutant_ == Mutant::charged_ahead || accounts_[key].held() == states_.ledger(key).leased_units();
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

  void note(const store::Group& group, const store::Check& check, const std::vector<core::Slice>& before, Instant now) {
    Account& account = accounts_[check.key];
    std::uint64_t mine = 0;  // of the sender, when it was read
    Micros window = 0;
    for (const core::Slice& slice : before) {
      if (slice.until <= core::micros(now)) {
        account.expired += slice.units;
      } else if (check.message() != nullptr && slice.holder == check.message()->message.holder) {
        mine = slice.units;
        window = slice.window;
      }
    }
    const bool is_decision = group.operation == store::Operation::decide;
    if (is_decision && group.admitted) account.decided += check.cost.units();
    if (!is_decision || check.message() == nullptr || !check.message()->answer.taken) return;
    const core::SliceMessage& message = check.message()->message;
    const core::Slice after = find(states_.ledger(check.key).slices, message.holder);
    const bool same_window = after.units == 0 || after.window == window;
    const std::uint64_t keep = same_window ? std::min(message.keep, mine) : 0;
    const std::uint64_t back = std::min(message.back, mine - keep);
    account.unasked += message.unasked;
    account.returned += back;
    account.reported += mine - keep - back;
    account.granted += check.message()->answer.units - keep;
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
  void refund_returns(const store::Group& group, Micros at) {
    for (const store::Check& check : group.checks) {
      if (check.message() != nullptr && check.message()->answer.taken)
        correct(check, check.message()->message.back, 0, at);
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
      const std::uint64_t unused = answer.left + states_.ledger(check.key).leased_units();
      if (all == 0) continue;
      own->units = std::max(own->units, core::multiply_divide_ceil(unused, own->demand, all));
      answer.units = own->units;
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
        correct(check, std::min(message.keep + message.back, slice->second.units), 0, at);
      }
      ahead_slices_.erase(slice);
    }
  }
  void charge_grants(store::Group& group, Micros at) {
    for (const store::Check& check : group.checks) {
      std::vector<core::Slice>& slices = states_.ledger(check.key).slices;
      const std::vector<core::Slice> granted = std::exchange(slices, {});
      for (const core::Slice& slice : granted) {
        ahead_slices_[{check.key, slice.holder}] = slice;
        correct(check, 0, slice.units, at);
      }
    }
  }

  std::vector<std::vector<core::Slice>> take_expired(const store::Group& group, Instant now) {
    std::vector<std::vector<core::Slice>> taken;
    const auto has_expired = [&](const core::Slice& slice) { return slice.until <= core::micros(now); };
    for (const store::Check& check : group.checks) {
      std::vector<core::Slice>& slices = states_.ledger(check.key).slices;
      std::ranges::copy_if(slices, std::back_inserter(taken.emplace_back()), has_expired);
      std::erase_if(slices, has_expired);
    }
    return taken;
  }
  void put_expired(const store::Group& group, const std::vector<std::vector<core::Slice>>& expired, Instant now) {
    for (std::size_t i = 0; i < expired.size(); ++i) {
      std::vector<core::Slice>& slices = states_.ledger(group.checks[i].key).slices;
      slices.insert(slices.end(), expired[i].begin(), expired[i].end());
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
  std::uint64_t order_ = 0;
  Micros ahead_ = 0;
  Micros leapt_ = 0;
  Micros latest_ = 0;
  std::map<std::pair<std::string, std::uint64_t>, core::Slice> ahead_slices_;
};

}  // namespace weir::simulation
