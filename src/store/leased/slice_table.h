// The slices that this process holds of the states of one limit, shared by its loops: units that the store granted,
// spent here without asking it. What they mean, and why no more is admitted than the limit allows: core/ledger.h.
//
//  1. One message about a key is in flight at a time. Meanwhile only what it says is kept is spent; on the answer what
//     is left is the total less what was spent since. An answer to any but the last message is dropped.
//  2. A slice is spent for three quarters of the time for which the store holds it, counted from before the message was
//     sent. Times are microseconds of a clock that never stops (CLOCK_BOOTTIME); the caller reads it before it asks.
//  3. What is put back goes into the slice only if no message has reported it as used. What was spent for a group that
//     the store still decides is pending: messages keep it.
//
// Of an approximate limit nobody waits for the store (approximate.cpp): messages are sent every `sync`, and what is not
// covered is denied at once. Two things can be spent that the store has not granted:
//
//  4. An allowance of b = limit / (4 x nodes), where the store has not been heard of the key for three syncs. It is
//     charged with the next message. If that found room for it, there is another; if not, none until the window or the
//     time to fill is over (of a counter, two windows), from the last that was spent. What a message carried that was
//     not answered is off the allowance until then.
//  5. While the store does not answer, or takes more than one and a half syncs to, one share in `nodes` of the limit.
//     What is still visible of it is charged when it does.
//
// Thread-safe: locked by parts, each for the time of a few instructions.
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

// What became of messages and units. Any thread writes and reads.
struct SliceCounts {
  using Count = std::atomic<std::uint64_t>;
  Count messages{0};
  Count renewals{0};           // of the messages: the slice was kept, and asked to grow
  Count returns{0};            // and: nobody had spent it for a while, or its limit is gone
  Count unanswered{0};         // of the messages
  Count granted{0};            // units, beyond what was kept
  Count reported{0};           // units that were spent
  Count returned{0};           // units
  Count expired{0};            // units that the store charged because nobody reported in time
  Count unasked{0};            // units that were spent before the store granted any, and charged to it
  Count contended_denials{0};  // decisions: denied while others held what would have been enough

  static void raise(Count& count, std::uint64_t by = 1) noexcept { count.fetch_add(by, std::memory_order_relaxed); }
};

// Who holds slices: this process. Each of its tables is a holder of its own to the store, with a number from `id` on: a
// table that a reload made asks for the same keys while the one before it still gives back its own.
struct SliceHolder {
  explicit SliceHolder(std::uint64_t its_id) noexcept : id(its_id) {}

  // From the operating system. The numbers of 65,536 tables have the same text.
  [[nodiscard]] static std::shared_ptr<SliceHolder> random();

  // Whether a holder is one of this process's tables.
  [[nodiscard]] bool owns(std::uint64_t holder) const noexcept {
    return holder - id < tables.load(std::memory_order_relaxed);
  }
  // By which operators know a holder: the same for the tables of a process.
  [[nodiscard]] static std::string text_of(std::uint64_t holder);
  // Of the latest table.
  [[nodiscard]] std::string text() const;

  const std::uint64_t id;
  std::atomic<std::uint64_t> tables{0};
  std::atomic<std::uint64_t> last_message{0};
  std::atomic<std::uint32_t> nodes{64};      // that share the store; counted by heartbeats
  std::atomic<std::int64_t> store_ahead{0};  // the store's time less ours (Ticks), by its last answer to any loop
  SliceCounts counts;
};

class SliceTable : public std::enable_shared_from_this<SliceTable> {
 public:
  // Microseconds of the clock that never stops.
  using Ticks = std::int64_t;

  struct Approximate {
    Limit limit;  // what `rule` is made of
    Duration sync;
  };

  struct Options {
    core::Rule rule;
    std::uint64_t capacity = 0;                // of the rule
    Duration lease = std::chrono::seconds(1);  // of an approximate limit it is four syncs
    std::optional<Approximate> approximate{};
    std::size_t max_keys = 65'536;  // more are decided by the store
    std::shared_ptr<SliceHolder> holder;
  };

  explicit SliceTable(Options options);

  enum class Answer : std::uint8_t {
    spent,   // admitted, on the slice
    denied,  // the store denied as much a moment ago; of an approximate limit, nothing is left to spend
    ask,     // the store decides
  };

  // What something was spent on.
  enum class On : std::uint8_t { slice, allowance, share };

  struct Taken {
    Answer answer = Answer::ask;
    On on = On::slice;
    std::uint64_t number = 0;  // of the last message when it was spent: for put_back
    Decision decision;         // but for `ask`
    bool renews = false;       // it is time to send a message
    bool by_held = false;      // of a denial: others held what would have been enough
  };

  // With a cost of nothing, or as a look, nothing is spent.
  [[nodiscard]] Taken take(table::KeyHash key, Cost cost, Ticks now);
  [[nodiscard]] Taken look(table::KeyHash key, Cost cost, Ticks now);

  // What was spent on the slice is pending until it is put back or used. Gives the slice by which either names it then;
  // 0: it has been reported as used already.
  [[nodiscard]] std::uint64_t suspend(table::KeyHash key, std::uint64_t number, Cost cost);
  void use_pending(table::KeyHash key, std::uint64_t slice, Cost cost);

  // Of what was spent and is not used after all; `slice`: of what is pending, otherwise 0. False: it has been reported
  // as used.
  [[nodiscard]] bool put_back(table::KeyHash key, On on, std::uint64_t number, std::uint64_t slice, Instant charged_at,
                              Cost cost);

  // A message to go with a question that the slice cannot answer: all of the slice is given back, and a new one asked
  // for. Nothing: one is in flight, or there is no use in it.
  [[nodiscard]] std::optional<core::SliceMessage> ask(table::KeyHash key, std::string_view shared_key, Ticks now);
  // A message that keeps what there is and asks for more. Nothing: one is in flight, or it is not due.
  [[nodiscard]] std::optional<core::SliceMessage> renew(table::KeyHash key, std::string_view shared_key, Ticks now);

  // To a message; `sent_at`: before it was sent. `decision`: what the store said with it.
  void answered(table::KeyHash key, std::uint64_t number, const core::SliceAnswer& answer, const Decision& decision,
                Ticks sent_at, Ticks now);
  // `was_sent`: it may have been done.
  void unanswered(table::KeyHash key, std::uint64_t number, bool was_sent, Ticks now);
  // The store denied a cost. `with_held`: what there would have been but for what others hold.
  void denied(table::KeyHash key, Cost cost, const Decision& decision, std::uint64_t with_held, Ticks now);
  // What the store forgot.
  void forget(table::KeyHash key);

  // What is due without a request: slices that nobody spends, or that may not be spent any more, go back. A part of the
  // table at each call, all of it in a sixteenth of a lease; by one caller at a time.
  struct Due {
    table::KeyHash key;
    std::string shared_key;
    core::SliceMessage message;
  };
  void collect_due(Ticks now, std::vector<Due>& due);
  // All of them, whether they are spent or not: nothing is taken from it any more.
  void give_back_all(Ticks now, std::vector<Due>& due);

  [[nodiscard]] const core::Rule& rule() const noexcept { return options_.rule; }
  // With which background messages are sent: no table, nothing to charge back.
  [[nodiscard]] const States& states() const noexcept { return states_; }
  [[nodiscard]] Duration lease() const noexcept { return options_.lease; }
  [[nodiscard]] bool is_approximate() const noexcept { return options_.approximate.has_value(); }
  [[nodiscard]] std::uint32_t nodes() const noexcept;  // at least 1
  // The most that the store found used beyond an approximate limit, so far.
  [[nodiscard]] std::uint64_t max_excess() const noexcept { return max_excess_.load(std::memory_order_relaxed); }
  // Its number to the store.
  [[nodiscard]] std::uint64_t holder() const noexcept { return holder_; }

  // Its limit is gone, or has other numbers: what is out is given back.
  void retire() noexcept { retired_.store(true, std::memory_order_release); }
  [[nodiscard]] bool retired() const noexcept { return retired_.load(std::memory_order_acquire); }

  // What this process holds: what it may spend, or will give back.
  struct Out {
    std::uint64_t slices = 0;
    std::uint64_t units = 0;
  };
  [[nodiscard]] Out out() const;
  // The store's time, as it was told with its last answer and has gone on since.
  void note_store_time(Instant theirs, Ticks now) const noexcept {
    options_.holder->store_ahead.store(theirs.time_since_epoch().count() - now, std::memory_order_relaxed);
  }
  [[nodiscard]] Instant store_time(Ticks now) const noexcept {
    return Instant{Duration{now + options_.holder->store_ahead.load(std::memory_order_relaxed)}};
  }

  [[nodiscard]] std::size_t keys() const noexcept { return keys_.load(std::memory_order_relaxed); }
  [[nodiscard]] SliceCounts& counts() const noexcept { return options_.holder->counts; }
  // Of one key.
  [[nodiscard]] std::uint64_t rest(table::KeyHash key, Ticks now) const;

 private:
  // What this process admits of an approximate limit while the store is away, and what of that is still to be charged.
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
    std::string shared_key;    // empty until a message was sent
    std::uint64_t number = 0;  // of the last message
    bool in_flight = false;
    std::uint64_t slice = 0;    // the message that it begins with
    std::uint64_t rest = 0;     // may be spent
    std::uint64_t pending = 0;  // was spent, and may be put back
    std::uint64_t kept = 0;     // by the last message, with what was pending
    std::uint64_t wanted = 0;
    std::uint64_t total = 0;  // of the last answer
    std::uint64_t left = 0;   // what the store had left then
    Ticks begins = 0;         // of the time in which it may be spent
    Ticks ends = 0;
    Ticks no_message_before = 0;
    Ticks resets_at = 0;  // an estimate
    Ticks used_at = 0;

    // What was asked for, admitted or not: since `period`, and in the lease before.
    Ticks period = 0;
    std::uint64_t asked = 0;
    std::uint64_t asked_before = 0;

    // The store denied `denied_cost` and more until then.
    Ticks denied_until = 0;
    Ticks retry_at = 0;
    std::uint64_t denied_cost = 0;
    std::uint64_t with_held = 0;

    // Of an approximate limit.
    Ticks sent_at = 0;  // the last message
    Ticks next_message = 0;
    Ticks hurries_from = std::numeric_limits<Ticks>::max();  // a slice that is empty is filled more often from then on
    Ticks heard_until = 0;           // the store was heard of the key so lately that nothing is spent unasked
    std::uint64_t asked_since = 0;   // the last message
    std::uint64_t allowance = 0;     // may be spent before the store is heard of
    Ticks allowance_until = 0;       // then there is another in any case
    std::uint64_t lost = 0;          // until then: was spent, and it is not known whether it was charged
    std::uint64_t unasked = 0;       // was spent, and is still to be charged
    std::uint64_t unasked_sent = 0;  // with the message in flight; of it, on the share:
    std::uint64_t shared_sent = 0;
    bool was_unavailable = false;  // the last message was not answered, or too slowly
    std::unique_ptr<Share> share;

    [[nodiscard]] bool is_live(Ticks now) const noexcept { return rest > 0 && now < ends; }
    // For good, since the last message.
    [[nodiscard]] std::uint64_t spent() const noexcept { return kept - std::min(kept, rest + pending); }
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
  [[nodiscard]] std::uint64_t demand(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] Decision admitted(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] core::SliceMessage message(Record& record, std::string_view shared_key, std::uint64_t keep,
                                           std::uint64_t back, std::uint64_t want);
  [[nodiscard]] bool renewal_is_due(const Record& record, Ticks now) const noexcept;

  // approximate.cpp
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
  void heard(Record& record, const core::SliceAnswer& answer, std::uint64_t kept, Ticks now) noexcept;
  void not_heard(Record& record, bool was_sent, Ticks now);
  [[nodiscard]] bool is_time_to_exchange(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] bool exchange_is_due(const Record& record, Ticks now) const noexcept;
  [[nodiscard]] bool may_be_dropped(const Record& record, Ticks now) const noexcept;

  const Options options_;
  const std::uint64_t holder_;  // to the store
  Duration token_{};            // what one unit takes to come back, rounded up; of a window, its length
  bool is_window_ = false;
  Duration allowance_period_{};  // of an approximate limit
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
