#include "store/leased/slice_table.h"

#include <sys/random.h>

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/hex.h"

namespace weir::store {
namespace {

using Ticks = SliceTable::Ticks;

constexpr int table_bits = 16;  // of a holder's number: the table within the process

Duration token_of(const core::Rule& rule) noexcept {
  return core::visit_rule(rule, []<class A>(const core::RuleOf<A>& of) {
    if constexpr (std::is_base_of_v<core::ArrivalLimit, typename A::Limit>) {
      return of.limit.token.rounded_up();
    } else {
      return Duration{of.limit.window};
    }
  });
}

bool is_window(const core::Rule& rule) noexcept {
  return core::visit_rule(
      rule, []<class A>(const core::RuleOf<A>&) { return !std::is_base_of_v<core::ArrivalLimit, typename A::Limit>; });
}

std::int64_t counter_window(const core::Rule& rule) noexcept {
  const auto* const counter = std::get_if<core::RuleOf<core::SlidingWindowCounter>>(&rule);
  return counter == nullptr ? 0 : counter->limit.window;
}

SliceTable::Options with_lease(SliceTable::Options options) {
  if (options.approximate) options.lease = 4 * options.approximate->sync;
  return options;
}

}  // namespace

std::shared_ptr<SliceHolder> SliceHolder::random() {
  std::uint64_t id = 0;
  while (getrandom(&id, sizeof id, 0) != sizeof id) {
  }
  return std::make_shared<SliceHolder>(id >> table_bits << table_bits);
}

std::string SliceHolder::text_of(std::uint64_t holder) {
  std::string text;
  base::append_hex(text, holder >> table_bits, (64 - table_bits) / 4);
  return text;
}

std::string SliceHolder::text() const {
  return text_of(id + std::max<std::uint64_t>(tables.load(std::memory_order_relaxed), 1) - 1);
}

SliceTable::SliceTable(Options options)
    : options_(with_lease(std::move(options))),
      holder_(options_.holder->id + options_.holder->tables.fetch_add(1, std::memory_order_relaxed)),
      token_(token_of(options_.rule)),
      is_window_(is_window(options_.rule)),
      counter_window_(counter_window(options_.rule)) {
  states_.rule = options_.rule;
  if (!options_.approximate) return;
  // A counter also counts the previous window. The period is slightly longer, to allow for clocks that run fast.
  const Limit& limit = options_.approximate->limit;
  allowance_period_ = core::time_to_fill(limit) * (limit.algorithm() == Algorithm::sliding_window_counter ? 2 : 1);
  allowance_period_ += allowance_period_ / 64;
}

// Null if there is no room.
SliceTable::Record* SliceTable::find(Part& part, table::KeyHash key, Ticks now) {
  const auto found = part.records.find(key);
  if (found != part.records.end()) return &found->second;
  if (keys_.load(std::memory_order_relaxed) >= options_.max_keys || retired()) return nullptr;
  keys_.fetch_add(1, std::memory_order_relaxed);
  Record& record = part.records[key];
  record.period = now;
  return &record;
}

void SliceTable::note_demand(Record& record, Cost cost, Ticks now) const noexcept {
  const Ticks lease = options_.lease.count();
  if (now - record.period >= lease) {
    record.demand_before = now - record.period < 2 * lease ? record.demand : Record::Demand{};
    record.demand = {};
    record.period = now;
  }
  record.demand.units += std::min(cost.units(), core::Ledger::max_units);
  ++record.demand.requests;
  record.used_at = now;
}

SliceTable::Record::Demand SliceTable::demand(const Record& record, Ticks now) const noexcept {
  if (now - record.period >= 2 * options_.lease.count()) return {};
  const auto& [units, requests] = record.demand_before;
  return {std::min(std::max(record.demand.units, units), core::Ledger::max_units),
          std::max(record.demand.requests, requests)};
}

Decision SliceTable::admitted(const Record& record, Ticks now) const noexcept {
  Decision decision;
  decision.admitted = true;
  decision.limit = options_.capacity;
  decision.remaining = std::min(options_.capacity, record.rest + record.left);
  decision.reset_after = Duration{std::max<Ticks>(0, record.resets_at - now)};
  if (decision.remaining < decision.limit) decision.more_after = is_window_ ? decision.reset_after : token_;
  return decision;
}

bool SliceTable::renewal_is_due(const Record& record, Ticks now) const noexcept {
  if (record.in_flight || now < record.no_message_before || retired()) return false;
  if (is_approximate()) return is_time_to_exchange(record, now);
  return record.rest * 4 < record.total || (record.ends - now) * 4 < record.ends - record.begins;
}

// Units spent before a window began count less in it, so they are reported separately.
void SliceTable::enter_window(Record& record, Ticks now) const noexcept {
  if (counter_window_ == 0) return;
  const std::int64_t window = core::window_start(max_store_time(now), counter_window_);
  if (window <= record.window) return;
  record.window = window;
  record.used_before = record.used;
}

void SliceTable::take_from_slice(Record& record, Cost cost) noexcept {
  record.rest -= cost.units();
  record.used += cost.units();
}

// Units that were spent and not used.
void SliceTable::untake(Record& record, Cost cost) noexcept {
  record.used -= std::min(record.used, cost.units());
  record.used_before = std::min(record.used_before, record.used);
}

SliceTable::Taken SliceTable::take(table::KeyHash key, Cost cost, Ticks now) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  Record* const record = find(part, key, now);
  if (record == nullptr) return {};
  note_demand(*record, cost, now);
  enter_window(*record, now);
  if (is_approximate()) return take_at_once(*record, cost, now);
  Taken taken;
  if (record->is_live(now) && cost.units() <= record->rest) {
    take_from_slice(*record, cost);
    taken.answer = Answer::spent;
    taken.number = record->number;
    taken.decision = admitted(*record, now);
    taken.renews = renewal_is_due(*record, now);
  } else if (now < record->denied_until && cost.units() >= record->denied_cost) {
    taken.answer = Answer::denied;
    taken.decision = admitted(*record, now);
    taken.decision.admitted = false;
    taken.decision.remaining = std::min(taken.decision.remaining, cost.units() - 1);
    taken.decision.retry_after = Duration{record->retry_at - now};
    taken.by_leased = cost.units() <= record->with_leased;
  }
  return taken;
}

SliceTable::Taken SliceTable::look(table::KeyHash key, Cost cost, Ticks now) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || !found->second.is_live(now) || cost.units() > found->second.rest) return {};
  return {.answer = Answer::spent, .decision = admitted(found->second, now)};
}

std::uint64_t SliceTable::suspend(table::KeyHash key, std::uint64_t number, Cost cost) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || found->second.number != number) return 0;
  found->second.pending += cost.units();
  untake(found->second, cost);
  return found->second.slice;
}

void SliceTable::use_pending(table::KeyHash key, std::uint64_t slice, Cost cost) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || found->second.slice != slice) return;
  found->second.pending -= cost.units();
  found->second.used += cost.units();
}

bool SliceTable::put_back(table::KeyHash key, On on, std::uint64_t number, std::uint64_t slice, Instant charged_at,
                          Cost cost) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end()) return false;
  Record& record = found->second;
  if (on == On::share) {
    put_back_on_share(record, charged_at, cost);
    return true;
  }
  if (slice != 0) {
    if (record.slice != slice) return false;
    record.pending -= cost.units();
    record.rest += cost.units();
    return true;
  }
  if (record.number != number) return false;
  if (on == On::allowance) {
    record.unasked -= std::min(record.unasked, cost.units());
    record.allowance += cost.units();
  } else {
    untake(record, cost);
    record.rest += cost.units();
  }
  return true;
}

core::SliceMessage SliceTable::message(Record& record, std::string_view shared_key, std::uint64_t keep,
                                       std::uint64_t want) {
  const std::uint64_t kept = keep + record.pending;
  SliceCounts::raise(counts().messages);
  SliceCounts::raise(counts().reported, record.used - record.reported);
  SliceCounts::raise(counts().returned, record.rest - keep);
  if (record.shared_key.empty()) record.shared_key = shared_key;
  record.number = options_.holder->last_message.fetch_add(1, std::memory_order_relaxed) + 1;
  record.in_flight = true;
  record.rest = keep;
  record.total = record.kept = kept;
  record.wanted = want;
  record.reported = record.used;
  return {.holder = holder_,
          .number = record.number,
          .used = record.used,
          .used_before = record.used_before,
          .window = record.window,
          .keep = kept,
          .want = want,
          .lease = options_.lease};
}

std::optional<core::SliceMessage> SliceTable::ask(table::KeyHash key, std::string_view shared_key, Ticks now) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || retired()) return {};
  Record& record = found->second;
  if (record.in_flight) return {};
  if (is_approximate()) {
    if (!renewal_is_due(record, now)) return {};
    return exchange(record, shared_key, now);
  }
  // A first burst may be over: half as much as it is enough to begin with.
  const std::uint64_t requests = demand(record, now).requests;
  const bool pays = requests >= options_.min_requests && now >= record.no_message_before;
  const bool has_history = record.demand_before.requests > 0 || options_.min_requests <= 1;
  const std::uint64_t units = demand(record, now).units;
  const std::uint64_t wanted = !pays ? 0 : has_history ? units : units / 2;
  // A message with nothing to return and too little to request is pointless.
  if (record.rest == 0 && wanted < core::Ledger::min_grant) return {};
  return message(record, shared_key, 0, wanted);
}

std::optional<core::SliceMessage> SliceTable::renew(table::KeyHash key, std::string_view shared_key, Ticks now) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || !renewal_is_due(found->second, now)) return {};
  Record& record = found->second;
  SliceCounts::raise(counts().renewals);
  if (is_approximate()) return exchange(record, shared_key, now);
  const std::uint64_t wanted = demand(record, now).units;
  return message(record, shared_key, record.rest, wanted - std::min(wanted, record.rest));
}

void SliceTable::answered(table::KeyHash key, std::uint64_t number, const core::SliceAnswer& answer,
                          const Decision& decision, Ticks sent_at, Ticks now) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || found->second.number != number) return;
  Record& record = found->second;
  const std::uint64_t spent = record.used - record.reported;  // since the message was sent
  // Units that the store did not keep were charged. The answer then starts a new slice, as if nothing had been kept.
  if (answer.units < record.kept) record.pending = 0;
  if (answer.units < record.kept || record.kept == 0) record.slice = number;
  SliceCounts::raise(counts().granted, answer.units - std::min(answer.units, record.kept));
  SliceCounts::raise(counts().expired, answer.expired);
  record.in_flight = false;
  record.total = answer.units;
  record.rest = answer.units - std::min(answer.units, spent + record.pending);
  record.left = answer.left;
  record.begins = sent_at;
  record.ends = sent_at + answer.lasts.count() / 4 * 3;
  record.resets_at = now + decision.reset_after.count();
  if (is_approximate()) return record_answer(record, answer, record.kept, now);
  // Too little is left for a slice: the store decides every request for the duration of a lease.
  const bool was_refused = answer.units == 0 && record.wanted >= core::Ledger::min_grant;
  if (was_refused) record.no_message_before = now + options_.lease.count();
}

// Handles a message that was not answered. It may have been applied: either way, the store leases at least what was
// kept, for at least as long as before.
void SliceTable::unanswered(table::KeyHash key, std::uint64_t number, bool was_sent, Ticks now) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || found->second.number != number) return;
  SliceCounts::raise(counts().unanswered);
  found->second.in_flight = false;
  found->second.no_message_before = now + options_.lease.count() / 8;
  if (is_approximate()) record_silence(found->second, was_sent, now);
}

void SliceTable::denied(table::KeyHash key, Cost cost, const Decision& decision, std::uint64_t with_leased, Ticks now) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  if (found == part.records.end() || cost.units() == 0 || !decision.retry_after) return;
  Record& record = found->second;
  record.retry_at = now + decision.retry_after->count();
  record.resets_at = now + decision.reset_after.count();
  record.denied_until = std::min(record.retry_at, now + options_.lease.count() / 64);
  record.denied_cost = cost.units();
  record.with_leased = with_leased;
  record.left = decision.remaining;
}

void SliceTable::forget(table::KeyHash key) {
  Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  if (part.records.erase(key) > 0) keys_.fetch_sub(1, std::memory_order_relaxed);
}

void SliceTable::collect_due(Ticks now, std::vector<Due>& due) {
  const std::unique_lock sweep(sweeping_, std::try_to_lock);
  if (!sweep.owns_lock() || now < next_sweep_) return;
  const Ticks lease = options_.lease.count();
  next_sweep_ = now + lease / 16 / static_cast<Ticks>(parts / swept_at_once);
  for (std::size_t i = 0; i < swept_at_once; ++i) {
    Part& part = parts_[next_part_++ % parts];
    const std::scoped_lock lock(part.mutex);
    for (auto entry = part.records.begin(); entry != part.records.end();) {
      Record& record = entry->second;
      const Ticks idle = now - record.used_at;
      // A slice that may no longer be spent is returned before it expires.
      if (!record.in_flight && record.rest > 0 && (idle >= lease / 2 || now >= record.ends)) {
        SliceCounts::raise(counts().returns);
        record.sent_at = now;
        record.is_returned = true;
        due.push_back({entry->first, record.shared_key, message(record, {}, 0, 0)});
      } else if (is_approximate() && exchange_is_due(record, now)) {
        due.push_back({entry->first, record.shared_key, exchange(record, {}, now)});
      }
      if (record.in_flight || record.pending > 0 || idle < 2 * lease ||
          (is_approximate() && !may_be_dropped(record, now))) {
        ++entry;
      } else {
        entry = part.records.erase(entry);
        keys_.fetch_sub(1, std::memory_order_relaxed);
      }
    }
  }
}

void SliceTable::give_back_all(Ticks now, std::vector<Due>& due) {
  retire();
  for (Part& part : parts_) {
    const std::scoped_lock lock(part.mutex);
    for (auto& [key, record] : part.records) {
      if (record.in_flight || (record.rest == 0 && record.unasked == 0)) continue;
      SliceCounts::raise(counts().returns);
      record.is_returned = true;
      core::SliceMessage message_out = message(record, {}, 0, 0);
      if (is_approximate()) send_unasked(record, message_out, now);
      due.push_back({key, record.shared_key, message_out});
    }
  }
}

SliceTable::Out SliceTable::out() const {
  Out out;
  for (const Part& part : parts_) {
    const std::scoped_lock lock(part.mutex);
    for (const auto& [key, record] : part.records) {
      if (record.rest == 0) continue;
      ++out.slices;
      out.units += record.rest;
    }
  }
  return out;
}

std::uint64_t SliceTable::leased(table::KeyHash key) const {
  const Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  return found != part.records.end() ? found->second.total : 0;
}

std::uint64_t SliceTable::rest(table::KeyHash key, Ticks now) const {
  const Part& part = part_of(key);
  const std::scoped_lock lock(part.mutex);
  const auto found = part.records.find(key);
  return found != part.records.end() && found->second.is_live(now) ? found->second.rest : 0;
}

}  // namespace weir::store
