// The slices of one limit's states that this process holds, shared by its loops: units granted by the store that are
// spent here without asking it. core/ledger.h explains them, and why no more is admitted than the limit allows.
//
//  1. At most one message per key is in flight. Until it is answered, only what it declared as kept is spent; the
//     answer sets the rest to the total less what was spent since. Answers to any but the last message are dropped.
//  2. A slice is spent for three quarters of the time for which the store holds it, measured from before the message
//     was sent. Times are microseconds of a clock that never stops (CLOCK_BOOTTIME), read by the caller before it asks.
//  3. Units are put back into a slice only if no message has reported them as used. Units spent for a group that the
//     store still decides are pending: messages keep them.
//  4. A message reports the total of what was used so far. So the store charges each unit once, whether or not it
//     applied a message whose answer was lost, and units of a lost grant return.
//
// A key is leased only if that pays (Options::min_requests): other keys of a leased limit are decided by the store.
//
// For an approximate limit no request waits for the store (approximate.cpp): messages are sent every `sync`, earlier if
// a slice runs out, and requests that are not covered are denied at once. A key that is rarely asked for has no slice:
// its requests spend the allowance (5), which messages charge.
//
// Two kinds of units can be spent without a grant:
//
//  5. An allowance of b = limit / (4 x nodes), if the store has not answered for the key for three syncs. It is charged
//     with the next message. If it fit, there is another one; if not, there is none until the window or the time to
//     fill has passed (for a counter, two windows) since the last spending. Units of an unanswered message are deducted
//     from the allowance until then.
//  6. While the store does not answer, or takes more than one and a half syncs, a share of 1/nodes of the limit. What
//     is still visible of it is charged when the store answers.
//
// Thread-safe: locked in parts, each for a few instructions.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ledger.h"
#include "core/rule.h"
#include "store/store.h"
#include "table/table.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::store {

// Counts of messages and units. Any thread writes and reads.
struct SliceCounts {
  using Count = std::atomic<std::uint64_t>;
  Count messages{0};
  Count renewals{0};           // messages that kept the slice and requested more
  Count returns{0};            // messages that returned a slice that was unused or whose limit was removed
  Count unanswered{0};         // messages without an answer
  Count granted{0};            // units, beyond those kept
  Count reported{0};           // units spent
  Count returned{0};           // units returned
  Count expired{0};            // units that the store charged because they were not reported in time
  Count unasked{0};            // units spent before the store granted any, and charged to it
  Count contended_denials{0};  // denials while other holders had enough units

  static void raise(Count& count, std::uint64_t by = 1) noexcept { count.fetch_add(by, std::memory_order_relaxed); }
};

// The identity under which this process holds slices. Each of its tables is a separate holder to the store, numbered
// from `id` on: after a reload the new table requests the same keys while the old one still returns its slices.
struct SliceHolder {
  explicit SliceHolder(std::uint64_t its_id) noexcept : id(its_id) {}

  // Returns a holder with a random id from the operating system. The 65,536 numbers from the id on are for its tables
  // and have the same text_of().
  [[nodiscard]] static std::shared_ptr<SliceHolder> random();

  // True if a holder is one of this process's tables.
  [[nodiscard]] bool owns(std::uint64_t holder) const noexcept {
    return holder - id < tables.load(std::memory_order_relaxed);
  }
  // The name of a holder shown to operators: the same for all tables of a process.
  [[nodiscard]] static std::string text_of(std::uint64_t holder);
  // The name of the latest table.
  [[nodiscard]] std::string text() const;

  const std::uint64_t id;
  std::atomic<std::uint64_t> tables{0};
  std::atomic<std::uint64_t> last_message{0};
  std::atomic<std::uint32_t> nodes{64};  // that share the store; counted by heartbeats
  // The store's time minus ours (Ticks), from its last answer to any loop: an estimate, and an upper bound.
  std::atomic<std::int64_t> store_ahead{0};
  std::atomic<std::int64_t> max_store_ahead{0};
  SliceCounts counts;
};

class SliceTable : public std::enable_shared_from_this<SliceTable> {
 public:
  // Microseconds of CLOCK_BOOTTIME.
  using Ticks = std::int64_t;

  struct Approximate {
    Limit limit;  // the limit that `rule` was compiled from
    Duration sync;
  };

  struct Options {
    core::Rule rule;
    std::uint64_t capacity = 0;                // capacity of the rule
    Duration lease = std::chrono::seconds(1);  // four syncs for an approximate limit
    std::optional<Approximate> approximate{};
    // A key is leased only if that costs the store less. A message costs as much as three to four decisions
    // (script/bench redis), and a leased key needs about two per lease; an approximate one, one per sync.
    std::uint64_t min_requests = 8;  // leased: per lease; with fewer, the store decides each
    std::uint64_t max_unleased = 3;  // approximate: per sync; they are charged without a slice
    std::size_t max_keys = 65'536;   // further keys are decided by the store
    std::shared_ptr<SliceHolder> holder;
  };

  explicit SliceTable(Options options);

  enum class Answer : std::uint8_t {
    spent,   // admitted on the slice
    denied,  // the store denied this cost a moment ago; for an approximate limit, nothing is left to spend
    ask,     // the store decides
  };

  // What the units were taken from.
  enum class On : std::uint8_t { slice, allowance, share };

  struct Taken {
    Answer answer = Answer::ask;
    On on = On::slice;
    std::uint64_t number = 0;  // of the last message at the time of spending; for put_back
    Decision decision;         // unless `ask`
    bool renews = false;       // a message is due
    bool by_leased = false;    // for a denial: other holders had enough units
  };

  // A cost of zero, and look(), spend nothing.
  [[nodiscard]] Taken take(table::KeyHash key, Cost cost, Ticks now);
  [[nodiscard]] Taken look(table::KeyHash key, Cost cost, Ticks now);

  // Marks units spent on the slice as pending until they are put back or used. Returns the slice by which either
  // identifies them; 0 if they were already reported as used.
  [[nodiscard]] std::uint64_t suspend(table::KeyHash key, std::uint64_t number, Cost cost);
  void use_pending(table::KeyHash key, std::uint64_t slice, Cost cost);

  // Puts back units that were spent but not used; `slice` identifies pending units, otherwise 0. Returns false if they
  // were already reported as used.
  [[nodiscard]] bool put_back(table::KeyHash key, On on, std::uint64_t number, std::uint64_t slice, Instant charged_at,
                              Cost cost);

  // Returns a message to send with a request that the slice cannot cover: it returns the whole slice and requests a new
  // one. Empty if a message is in flight or would be useless.
  [[nodiscard]] std::optional<core::SliceMessage> ask(table::KeyHash key, std::string_view shared_key, Ticks now);
  // Returns a message that keeps the slice and requests more. Empty if a message is in flight or none is due.
  [[nodiscard]] std::optional<core::SliceMessage> renew(table::KeyHash key, std::string_view shared_key, Ticks now);

  // Applies the answer to a message. `sent_at`: a time before it was sent; `decision`: the store's decision.
  void answered(table::KeyHash key, std::uint64_t number, const core::SliceAnswer& answer, const Decision& decision,
                Ticks sent_at, Ticks now);
  // `was_sent`: the message may have been applied.
  void unanswered(table::KeyHash key, std::uint64_t number, bool was_sent, Ticks now);
  // Records a denial by the store. `with_leased` is what would remain without the slices of other holders.
  void denied(table::KeyHash key, Cost cost, const Decision& decision, std::uint64_t with_leased, Ticks now);
  // Called when the store has forgotten the key.
  void forget(table::KeyHash key);

  // Collects messages that are due without a request: slices that are unused or expired are returned. Each call handles
  // a part of the table, and all of it in a sixteenth of a lease; one caller at a time.
  struct Due {
    table::KeyHash key;
    std::string shared_key;
    core::SliceMessage message;
  };
  void collect_due(Ticks now, std::vector<Due>& due);
  // Collects messages that return all slices, used or not. Nothing can be taken afterwards.
  void give_back_all(Ticks now, std::vector<Due>& due);

  [[nodiscard]] const core::Rule& rule() const noexcept { return options_.rule; }
  // The states used for background messages; they have no table, so nothing is charged back.
  [[nodiscard]] const States& states() const noexcept { return states_; }
  [[nodiscard]] Duration lease() const noexcept { return options_.lease; }
  [[nodiscard]] bool is_approximate() const noexcept { return options_.approximate.has_value(); }
  [[nodiscard]] std::uint32_t nodes() const noexcept;  // at least 1
  // The maximum usage beyond an approximate limit that the store has reported.
  [[nodiscard]] std::uint64_t max_excess() const noexcept { return max_excess_.load(std::memory_order_relaxed); }
  // This table's holder number.
  [[nodiscard]] std::uint64_t holder() const noexcept { return holder_; }

  // Called when the limit is removed or its numbers change; all slices are returned.
  void retire() noexcept { retired_.store(true, std::memory_order_release); }
  [[nodiscard]] bool retired() const noexcept { return retired_.load(std::memory_order_acquire); }

  // The slices leased to this process, whether spendable or about to be returned.
  struct Out {
    std::uint64_t slices = 0;
    std::uint64_t units = 0;
  };
  [[nodiscard]] Out out() const;
  // The store's time is estimated as the time in its last answer plus the time since. It is not later than if the store
  // had answered as soon as the message was sent.
  void note_store_time(Instant theirs, Ticks sent_at, Ticks now) const noexcept {
    options_.holder->store_ahead.store(theirs.time_since_epoch().count() - now, std::memory_order_relaxed);
    options_.holder->max_store_ahead.store(theirs.time_since_epoch().count() - sent_at, std::memory_order_relaxed);
  }
  [[nodiscard]] Instant store_time(Ticks now) const noexcept {
    return Instant{Duration{now + options_.holder->store_ahead.load(std::memory_order_relaxed)}};
  }

  [[nodiscard]] std::size_t keys() const noexcept { return keys_.load(std::memory_order_relaxed); }
  [[nodiscard]] SliceCounts& counts() const noexcept { return options_.holder->counts; }
  // Returns how many units the store leases to this process for one key, by its last answer.
  [[nodiscard]] std::uint64_t leased(table::KeyHash key) const;
  // Returns how many units can still be spent for one key.
  [[nodiscard]] std::uint64_t rest(table::KeyHash key, Ticks now) const;

 private:
  // What this process admits of an approximate limit while the store is unavailable, and the part still to be charged.
  struct ShareState {
    core::ArrivalState arrival;
    core::FixedWindow::State fixed;
    core::SlidingWindowCounter::State counter;

    template <class A>
    [[nodiscard]] typename A::State& of() noexcept;
  };
  struct Share {
    ShareState used;
    ShareState uncharged;
  };

  struct Record {
    std::string shared_key;    // empty until a message is sent
    std::uint64_t number = 0;  // of the last message
    bool in_flight = false;
    std::uint64_t slice = 0;        // number of the message that started the slice
    std::uint64_t rest = 0;         // units that may be spent
    std::uint64_t pending = 0;      // units spent that may still be put back
    std::uint64_t used = 0;         // units of slices spent for good, in all
    std::uint64_t used_before = 0;  // counters: the part used before `window`
    std::int64_t window = 0;     // counters: the start of the present window, by a clock that is not behind the store's
    std::uint64_t reported = 0;  // the part of them that the last message reported
    std::uint64_t kept = 0;      // units kept in the last message, including pending ones
    std::uint64_t wanted = 0;
    std::uint64_t total = 0;  // units of the slice in the last answer
    std::uint64_t left = 0;   // units remaining at the store in the last answer
    Ticks begins = 0;         // when the slice may first be spent
    Ticks ends = 0;
    Ticks no_message_before = 0;
    Ticks resets_at = 0;  // estimated
    Ticks used_at = 0;

    // Total demand, admitted or denied, since `period` began and during the previous lease.
    struct Demand {
      std::uint64_t units = 0;
      std::uint64_t requests = 0;
    };
    Ticks period = 0;
    Demand demand;
    Demand demand_before;

    // The store denied `denied_cost` until `denied_until`, and so denies any higher cost.
    Ticks denied_until = 0;
    Ticks retry_at = 0;
    std::uint64_t denied_cost = 0;
    std::uint64_t with_leased = 0;

    // For approximate limits:
    Ticks sent_at = 0;  // time of the last message
    Ticks next_message = 0;
    Ticks confirmed_until = 0;    // until then the last answer is recent: nothing is spent without a grant
    Demand since;                 // demand since the last message
    bool is_returned = false;     // the last message returned the slice
    bool is_starved = false;      // the last answer granted little of what was requested
    bool wants_slice = false;     // a slice is due, since little is left
    std::uint64_t allowance = 0;  // units that may be spent before the store answers
    Ticks allowance_until = 0;    // when a new allowance starts in any case
    std::uint64_t lost = 0;       // units that may or may not have been charged; deducted until lost_until
    Ticks lost_until = 0;
    std::uint64_t unasked = 0;       // units spent without a grant and still to be charged
    std::uint64_t unasked_sent = 0;  // unasked units in the message in flight
    std::uint64_t shared_sent = 0;
    bool was_unavailable = false;  // the last message was not answered, or too late
    std::unique_ptr<Share> share;

    [[nodiscard]] bool is_live(Ticks now) const noexcept { return rest > 0 && now < ends; }
  };

  struct Hash {
    std::size_t operator()(table::KeyHash key) const noexcept { return key.value; }
  };
  static constexpr std::size_t parts = 64;
  static constexpr std::size_t swept_at_once = 32;
  struct alignas(64) Part {
    mutable std::mutex mutex;
    std::unordered_map<table::KeyHash, Record, Hash> records;
  };

  [[nodiscard]] Part& part_of(table::KeyHash key) noexcept { return parts_[key.value >> 58]; }
  [[nodiscard]] const Part& part_of(table::KeyHash key) const noexcept { return parts_[key.value >> 58]; }
  [[nodiscard]] Record* find(Part& part, table::KeyHash key, Ticks now);
  void note_demand(Record& record, Cost cost, Ticks now) const noexcept;
  // The demand per lease: the larger of this lease's, so far, and the one before.
  [[nodiscard]] Record::Demand demand(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] Decision admitted(const Record& record, Ticks now) const noexcept;
  // The units that are not kept are returned.
  [[nodiscard]] core::SliceMessage message(Record& record, std::string_view shared_key, std::uint64_t keep,
                                           std::uint64_t want);
  [[nodiscard]] bool renewal_is_due(const Record& record, Ticks now) const noexcept;
  // Not earlier than the store's time, even if its clock runs faster than ours by a quarter of a percent.
  [[nodiscard]] std::int64_t max_store_time(Ticks now) const noexcept {
    return now + options_.holder->max_store_ahead.load(std::memory_order_relaxed) + options_.lease.count() / 256;
  }
  void enter_window(Record& record, Ticks now) const noexcept;
  static void take_from_slice(Record& record, Cost cost) noexcept;
  static void untake(Record& record, Cost cost) noexcept;

  // Defined in approximate.cpp.
  [[nodiscard]] std::uint64_t allowance() const noexcept { return options_.capacity / (std::uint64_t{4} * nodes()); }
  [[nodiscard]] Taken take_at_once(Record& record, Cost cost, Ticks now);
  [[nodiscard]] bool has_plenty(const Record& record) const noexcept;
  [[nodiscard]] bool spend_allowance(Record& record, Cost cost, Ticks now) const noexcept;
  [[nodiscard]] Ticks slow_answer() const noexcept;
  [[nodiscard]] bool is_unavailable(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] Decision decide_on_share(Record& record, Cost cost, Ticks now);
  void put_back_on_share(Record& record, Instant charged_at, Cost cost) const;
  [[nodiscard]] Decision denied_at_once(const Record& record, Cost cost, Ticks now) const noexcept;
  [[nodiscard]] core::SliceMessage exchange(Record& record, std::string_view shared_key, Ticks now);
  void send_unasked(Record& record, core::SliceMessage& message, Ticks now);
  [[nodiscard]] std::uint64_t take_uncharged(Record& record, Ticks now) const;
  void keep_uncharged(Record& record, std::uint64_t units, Ticks now) const;
  [[nodiscard]] core::Rule share_rule() const;
  void record_answer(Record& record, const core::SliceAnswer& answer, std::uint64_t kept, Ticks now) noexcept;
  void record_silence(Record& record, bool was_sent, Ticks now);
  [[nodiscard]] bool deserves_slice(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] bool is_near_end(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] bool is_time_to_exchange(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] bool exchange_is_due(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] bool may_be_dropped(const Record& record, Ticks now) const noexcept;

  const Options options_;
  const std::uint64_t holder_;  // this table's number at the store
  Duration token_{};            // time in which one unit refills, rounded up; for a window, its length
  bool is_window_ = false;
  std::int64_t counter_window_ = 0;  // the length of a sliding window counter's windows; 0 for other rules
  Duration allowance_period_{};      // time until a new allowance; for approximate limits
  std::atomic<std::uint64_t> max_excess_{0};
  States states_;
  std::array<Part, parts> parts_;
  std::atomic<bool> retired_{false};
  std::atomic<std::size_t> keys_{0};
  std::mutex sweeping_;
  std::size_t next_part_ = 0;
  Ticks next_sweep_ = 0;
};

}  // namespace weir::store
