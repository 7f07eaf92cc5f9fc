// Naive models of the algorithms for comparison: plain sums over exact whole numbers, no formula solved for time. A
// model only computes how much room there is at an instant; waits are found by trying one instant after the other (see
// oracle_decision.h).
//
// Every model has:
//   capacity()                the maximum for an idle consumer
//   room(now)                 the largest cost that fits now; negative in debt
//   charge(cost, now)         takes it, and returns where a refund must go
//   refund(cost, where, now)  gives it back there, if it still counts
//   owe(cost, now)            takes it without a decision, into a debt of at most one capacity
//   rest_after(now)           a time by which all is certainly forgotten
//
// When the clock steps back, no time has passed: a model continues from its newest write.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "weir/limit.h"

namespace weir::oracle {

__extension__ using Int = __int128;

inline constexpr Int long_ago = -(Int{1} << 70);

constexpr Int floor_divide(Int a, Int b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

constexpr Int ceil_divide(Int a, Int b) {
  return -floor_divide(-a, b);
}

// Tokens and when they were last counted. A token is `per` parts, of which `count` are refilled each microsecond.
class Bucket {
 public:
  explicit Bucket(const Limit& limit)
      : capacity_(limit.capacity()), count_(limit.rate().count), per_(limit.rate().per.count()), parts_(full()) {}

  [[nodiscard]] Int capacity() const { return capacity_; }
  [[nodiscard]] Int room(Int now) const { return floor_divide(parts(now), per_); }

  Int charge(Int cost, Int now) {
    write(parts(now) - cost * per_, now);
    return last_ + backlog(last_);
  }

  // What was refilled since the charge is not given back again.
  void refund(Int cost, Int where, Int now) {
    const Int visible = std::max<Int>(0, where - now) * count_;
    write(std::min(parts(now) + std::min(cost * per_, visible), full()), now);
  }
  void owe(Int cost, Int now) { write(std::max(parts(now) - cost * per_, -full()), now); }
  [[nodiscard]] Int rest_after(Int now) const { return std::max(now, last_) + 2 * ceil_divide(full(), count_) + 1; }

  // The time until everything taken is refilled.
  [[nodiscard]] Int backlog(Int now) const { return ceil_divide(full() - parts(now), count_); }

  [[nodiscard]] bool is_behind(Int now) const { return now < last_; }
  [[nodiscard]] Int newest_write() const { return last_; }

 private:
  [[nodiscard]] Int full() const { return capacity_ * per_; }
  [[nodiscard]] Int parts(Int now) const { return std::min(full(), parts_ + std::max<Int>(0, now - last_) * count_); }

  void write(Int parts, Int now) {
    parts_ = parts;
    last_ = std::max(last_, now);
  }

  Int capacity_, count_, per_;
  Int parts_;
  Int last_ = long_ago;
};

// A bucket whose requests wait in line. Only the last one can leave it.
class Queue : public Bucket {
 public:
  using Bucket::Bucket;

  Int charge(Int cost, Int now) {
    Bucket::charge(cost, now);
    line_.push_back(++tickets_);
    return tickets_;
  }

  void refund(Int cost, Int ticket, Int now) {
    if (line_.empty() || line_.back() != ticket) return;
    line_.pop_back();
    Bucket::refund(cost, std::max(now, newest_write()) + backlog(now), now);
  }

 private:
  std::vector<Int> line_;
  Int tickets_ = 0;
};

// A count for every window.
class Windows {
 public:
  explicit Windows(const Limit& limit) : capacity_(limit.capacity()), window_(limit.rate().per.count()) {}

  [[nodiscard]] Int capacity() const { return capacity_; }
  void refund(Int cost, Int where, Int /*now*/) { counts_[where] -= std::min(counts_[where], cost); }
  [[nodiscard]] Int rest_after(Int now) const { return (index(now) + 2) * window_; }

 protected:
  [[nodiscard]] Int index(Int now) const { return std::max(newest_, floor_divide(now, window_)); }
  [[nodiscard]] Int window() const { return window_; }

  [[nodiscard]] Int count(Int index) const {
    const auto found = counts_.find(index);
    return found == counts_.end() ? 0 : found->second;
  }

  Int add(Int cost, Int now) {
    newest_ = index(now);
    counts_[newest_] += cost;
    return newest_;
  }

 private:
  Int capacity_, window_;
  Int newest_ = long_ago;
  std::map<Int, Int> counts_;
};

class FixedWindow : public Windows {
 public:
  using Windows::Windows;

  [[nodiscard]] Int room(Int now) const { return capacity() - count(index(now)); }
  Int charge(Int cost, Int now) { return add(cost, now); }
  void owe(Int cost, Int now) { add(std::clamp<Int>(capacity() + room(now), 0, cost), now); }
};

class SlidingWindowCounter : public Windows {
 public:
  using Windows::Windows;

  [[nodiscard]] Int room(Int now) const {
    const Int into = std::max<Int>(0, now - index(now) * window());
    const Int weighted = ceil_divide(count(index(now) - 1) * (window() - into), window());
    return capacity() - weighted - count(index(now));
  }
  Int charge(Int cost, Int now) { return add(cost, now); }
  void owe(Int cost, Int now) { add(std::clamp<Int>(capacity() + room(now), 0, cost), now); }
};

// Every charge with its time. The window is (now - W, now].
class SlidingWindowLog {
 public:
  explicit SlidingWindowLog(const Limit& limit) : capacity_(limit.capacity()), window_(limit.rate().per.count()) {}

  [[nodiscard]] Int capacity() const { return capacity_; }

  [[nodiscard]] Int room(Int now) const {
    Int room = capacity_;
    for (const auto& [time, cost] : entries_) room -= time > now - window_ ? cost : 0;
    return room;
  }

  Int charge(Int cost, Int now) {
    while (!entries_.empty() && entries_.front().first <= now - window_) entries_.pop_front();
    const Int time = entries_.empty() ? now : std::max(now, entries_.back().first);
    if (cost > 0) entries_.emplace_back(time, cost);
    return time;
  }

  void refund(Int cost, Int where, Int now) {
    for (auto& [time, left] : entries_) {
      if (time != where || time <= now - window_) continue;
      const Int given = std::min(left, cost);
      left -= given;
      cost -= given;
    }
    std::erase_if(entries_, [](const auto& entry) { return entry.second == 0; });
  }

  void owe(Int cost, Int now) { charge(std::clamp<Int>(capacity_ + room(now), 0, cost), now); }

  [[nodiscard]] Int rest_after(Int now) const {
    return (entries_.empty() ? now : std::max(now, entries_.back().first)) + window_;
  }

  // The number of instants with charges that still count.
  [[nodiscard]] Int instants(Int now) const {
    std::map<Int, Int> live;
    for (const auto& [time, cost] : entries_) {
      if (time > now - window_) live[time] += cost;
    }
    return static_cast<Int>(live.size());
  }

 private:
  Int capacity_, window_;
  std::deque<std::pair<Int, Int>> entries_;
};

}  // namespace weir::oracle
