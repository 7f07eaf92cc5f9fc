#include "store/redis/replay.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/operations.h"
#include "core/until_more.h"
#include "store/redis/script_plan.h"
#include "wire/resp/integer_text.h"

namespace weir::store::redis {
namespace {

constexpr std::int64_t exact = std::int64_t{1} << 53;
constexpr std::int64_t window_numbers = std::int64_t{1} << 20;

struct Numbers {
  std::int64_t a = 0;
  std::int64_t b = 0;
};

std::optional<std::int64_t> number_in(std::string_view text) noexcept {
  const auto number = wire::resp::parse_integer(text);
  if (!number || *number < 0 || *number >= exact) return {};
  return number;
}

std::optional<Numbers> numbers_in(std::string_view text) noexcept {
  const std::size_t colon = text.find(':');
  const auto a = number_in(text.substr(0, colon));
  if (!a) return {};
  if (colon == std::string_view::npos) return Numbers{*a, 0};
  const auto b = number_in(text.substr(colon + 1));
  if (!b) return {};
  return Numbers{*a, *b};
}

// A window's start and count. Its number is kept modulo 2^20, and is the one nearest to that of the present window.
struct CountedWindow {
  std::int64_t start = 0;
  std::uint64_t count = 0;
};

std::optional<CountedWindow> window_in(std::int64_t number, std::int64_t length, Instant now) noexcept {
  const std::int64_t present = core::window_start(core::micros(now), length) / length;
  std::int64_t ahead = (number - present) & (window_numbers - 1);
  if (ahead >= window_numbers / 2) ahead -= window_numbers;
  const std::int64_t found = std::max<std::int64_t>(present + ahead, -2);  // long over
  if (found > exact / length - 2) return {};
  return CountedWindow{found * length, static_cast<std::uint64_t>(number / window_numbers)};
}

}  // namespace

bool read_state(std::string_view text, const core::ArrivalLimit& /*limit*/, Instant /*now*/,
                core::ArrivalState& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  state = {numbers->a, numbers->b};
  return true;
}

bool read_state(std::string_view text, const core::FixedWindow::Limit& limit, Instant now,
                core::FixedWindow::State& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  if (limit.calendar != nullptr) {
    if (numbers->b == 0 && numbers->a > 0) return false;
    if (numbers->a > 0) state = {numbers->b, static_cast<std::uint64_t>(numbers->a)};
    return true;
  }
  const auto window = window_in(numbers->a, limit.window, now);
  if (!window) return false;
  if (window->count > 0) state = {window->start + limit.window, window->count};
  return true;
}

bool read_state(std::string_view text, const core::WindowLimit& limit, Instant now,
                core::SlidingWindowCounter::State& state) noexcept {
  const auto numbers = numbers_in(text);
  if (!numbers) return false;
  const auto window = window_in(numbers->a, limit.window, now);
  if (!window) return false;
  if (window->count > 0 || numbers->b > 0) {
    state = {window->start, static_cast<std::uint64_t>(numbers->b), window->count};
  }
  return true;
}

// A limit on holds has no state but them.
static bool read_state(std::string_view text, const core::Concurrency::Limit& /*limit*/, Instant /*now*/,
                       core::Concurrency::State& /*state*/) noexcept {
  return text == "0";
}
namespace {

using core::decide_state;
using core::peek_state;

// The slices behind a state's text, 40 bytes each; see decide.lua.
constexpr std::size_t slice_bytes = 40;

std::uint64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) noexcept {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  }
  return number;
}

// `window`: the length, of windows; of buckets 0.
bool read_slices(std::string_view bytes, std::int64_t window, core::Ledger& ledger) {
  if (bytes.empty() || bytes.size() % slice_bytes != 0 || bytes.size() > slice_bytes * core::Ledger::most_slices) {
    return false;
  }
  for (std::size_t at = 0; at < bytes.size(); at += slice_bytes) {
    const std::uint64_t of = number_at(bytes, at + 32, 8);
    if (of > std::uint64_t{exact} / static_cast<std::uint64_t>(std::max<std::int64_t>(window, 1))) return false;
    const core::Slice slice{.holder = number_at(bytes, at, 8),
                            .number = number_at(bytes, at + 8, 8),
                            .units = number_at(bytes, at + 16, 4),
                            .demand = number_at(bytes, at + 20, 4),
                            .until = static_cast<std::int64_t>(number_at(bytes, at + 24, 8)),
                            .window = static_cast<std::int64_t>(of) * window};
    if (slice.number >= std::uint64_t{exact} || slice.until < 0 || slice.until >= exact) return false;
    ledger.slices.push_back(slice);
  }
  return true;
}

// The receipts behind a state's text, from behind the `#`; see decide.lua. Takes off what it read.
bool read_receipts(std::string_view& bytes, std::int64_t window, std::int64_t& number, core::Receipts& receipts) {
  constexpr std::size_t head = 12;
  constexpr std::size_t receipt_bytes = 48;
  constexpr std::size_t reported_bytes = 24;
  if (bytes.size() < head) return false;
  const std::uint64_t open = number_at(bytes, 0, 2);
  const std::uint64_t reported = number_at(bytes, 2, 2);
  const std::uint64_t all = head + open * receipt_bytes + reported * reported_bytes;
  if (bytes.size() < all || open > core::Receipts::most_open || reported > core::Receipts::most_reported) return false;
  const auto farthest = static_cast<std::uint64_t>(window == 0 ? exact - 1 : exact / window);
  number = static_cast<std::int64_t>(std::min(number_at(bytes, 4, 8), std::uint64_t{exact}));
  if (number > exact / std::max<std::int64_t>(window, 1) - 2) return false;
  std::size_t at = head;
  for (std::uint64_t i = 0; i < open; ++i, at += receipt_bytes) {
    const std::uint64_t cost = number_at(bytes, at + 16, 8);
    const std::uint64_t place = number_at(bytes, at + 24, 8);
    const std::uint64_t nths = number_at(bytes, at + 32, 8);
    const std::uint64_t ends = number_at(bytes, at + 40, 8);
    if (cost >= std::uint64_t{exact} || place > farthest || nths >= std::uint64_t{exact} ||
        ends >= std::uint64_t{exact}) {
      return false;
    }
    receipts.open.push_back({.id = {number_at(bytes, at + 8, 8), number_at(bytes, at, 8)},
                             .cost = cost,
                             .at = static_cast<std::int64_t>(place) * std::max<std::int64_t>(window, 1),
                             .nths = static_cast<std::int64_t>(nths),
                             .ends = static_cast<std::int64_t>(ends)});
  }
  for (std::uint64_t i = 0; i < reported; ++i, at += reported_bytes) {
    const std::uint64_t ends = number_at(bytes, at + 16, 8);
    if (ends >= std::uint64_t{exact}) return false;
    receipts.reported.push_back(
        {{number_at(bytes, at + 8, 8), number_at(bytes, at, 8)}, static_cast<std::int64_t>(ends)});
  }
  bytes.remove_prefix(all);
  return true;
}

template <class A>
constexpr std::int64_t window_of(const typename A::Limit& limit) noexcept {
  if constexpr (std::is_same_v<typename A::State, core::ArrivalState>) {
    return 0;
  } else if constexpr (std::is_same_v<A, core::FixedWindow>) {
    return limit.calendar == nullptr ? limit.window : 0;  // a calendar's are named by their ends
  } else {
    return limit.window;
  }
}

core::LogRing::Handle copy_of(const core::LogRing::Handle& ring) noexcept {
  return ring ? ring->copy(ring->capacity()) : core::LogRing::Handle{};
}

}  // namespace

bool LogExcerpt::is_sound() const noexcept {
  constexpr std::int64_t most_used = std::int64_t{1} << 32;
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (used <= 0 || used >= most_used || newest < 0 || newest >= exact) return false;
  Point before{0, 0};
  for (const Point& point : points) {
    if (point.cost <= before.cost || point.time < before.time) return false;
    before = point;
  }
  return before.cost < used ? before.time <= newest : before.cost == used && before.time == newest;
}

void Replay::begin(Instant now, std::size_t keys) {
  now_ = now;
  states_.clear();
  states_.resize(keys);
}

bool Replay::place_text(std::size_t key, const core::Rule& rule, std::string_view text) {
  return core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
      return false;
    } else {
      States& states = states_[key];
      auto& state = std::get<typename A::State>(states.state);
      const std::int64_t window = window_of<A>(of.limit);
      const std::string_view numbers = text.substr(0, text.find_first_of("#|"));
      std::string_view rest = text.substr(numbers.size());
      Instant read_at = now_;
      if (rest.starts_with('#')) {
        rest.remove_prefix(1);
        std::int64_t number = 0;
        if (!read_receipts(rest, window, number, states.receipts)) return false;
        // Nearest to the number that it has: they may keep a window for longer than it is told apart otherwise.
        if (window > 0) read_at = core::instant_at(number * window);
      }
      if (!rest.empty() &&
          (rest[0] != '|' || !core::is_leasable(rule) || !read_slices(rest.substr(1), window, states.ledger))) {
        return false;
      }
      return read_state(numbers, of.limit, read_at, state);
    }
  });
}

bool Replay::place_receipts(std::size_t key, std::string_view text) {
  if (!text.starts_with("0#")) return false;
  text.remove_prefix(2);
  std::int64_t number = 0;
  return read_receipts(text, 0, number, states_[key].receipts) && text.empty();
}

void Replay::place_slices(std::size_t key, std::string_view text) {
  core::Ledger& of = ledger(static_cast<std::uint32_t>(key));
  std::string_view rest = text.substr(std::min(text.size(), text.find_first_of("#|")));
  if (rest.starts_with('#')) {
    rest.remove_prefix(1);
    std::int64_t number = 0;
    core::Receipts skipped;
    if (!read_receipts(rest, 0, number, skipped)) return;
  }
  if (rest.starts_with('|') && !read_slices(rest.substr(1), 0, of)) of.slices.clear();
}

// Every question that will be put to it is about one of the points, or about the newest entry. So the entries between
// two points may be one, and so may all that come behind the last. There is room for one more: all charges of a batch
// are of one instant.
void Replay::place_log(std::size_t key, const LogExcerpt& log) {
  auto ring = core::LogRing::create(static_cast<std::uint32_t>(log.points.size()) + 2);
  if (!ring) return;  // as if never used: the script is found to have decided otherwise
  std::int64_t before = 0;
  for (const LogExcerpt::Point& point : log.points) {
    ring->append(point.time, static_cast<std::uint32_t>(point.cost - before));
    before = point.cost;
  }
  if (before < log.used) ring->append(log.newest, static_cast<std::uint32_t>(log.used - before));
  std::get<core::SlidingWindowLog::State>(states_[key].state).ring = std::move(ring);
}

// The i-th check of a group that reserves: what those before it hold of the same key is taken.
Decision Replay::hold(const store::Check& check, std::span<const std::uint32_t> keys, std::size_t i, Cost cost) {
  std::uint64_t pending = 0;
  for (std::size_t j = 0; j < i; ++j) pending += keys[j] == keys[i] ? marks_[j].units : 0;
  marks_[i].units = cost.units();
  const auto& limit = std::get<core::RuleOf<core::Concurrency>>(*check.rule).limit;
  return receipts(keys[i]).hold(limit, cost, check.receipt, pending, check.wants_more_after, core::micros(now_));
}

Decision Replay::peek(const store::Check& check, std::uint32_t key, Cost cost) {
  return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (std::is_same_v<A, core::Concurrency>) {
      // A guard holds nothing.
      const core::ReceiptUse* const use = check.role == store::Check::Role::charge ? check.receipt : nullptr;
      return receipts(key).hold(of.limit, cost, use, 0, check.wants_more_after, core::micros(now_));
    }
    if constexpr (core::can_be_leased<A>) {
      if (has_slices(key)) return ledger(key).peek<A>(of.limit, state<A>(key), cost, core::micros(now_));
    }
    return peek_state<A>(of.limit, state<A>(key), cost, check.max_wait, now_);
  });
}

Decision Replay::charge(const store::Check& check, std::uint32_t key) {
  return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      if (has_slices(key)) return ledger(key).decide<A>(of.limit, state<A>(key), check.cost, core::micros(now_));
    }
    return decide_state<A>(of.limit, state<A>(key), check.cost, check.max_wait, now_);
  });
}

void Replay::tell_when_more(store::Check& check, std::uint32_t key) {
  if (!check.wants_more_after || core::is_concurrency(*check.rule)) return;
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      if (has_slices(key)) {
        check.decision.more_after =
            ledger(key).until_more<A>(of.limit, state<A>(key), check.decision, core::micros(now_));
        return;
      }
    }
    const auto peek = [&](Cost cost) { return A::peek(of.limit, state<A>(key), cost, now_); };
    check.decision.more_after = core::until_more<A>(of.limit, check.decision, check.max_wait, peek);
  });
}

void Replay::tell_when_more(Group& group, std::span<const std::uint32_t> keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) tell_when_more(group.checks[i], keys[i]);
}

void Replay::bring_within_reach(const store::Check& check, std::uint32_t key) noexcept {
  if (check.cost.units() == 0) return;
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    core::bring_within_reach<A>(of.limit, state<A>(key), now_);
  });
}

// Where one denies, none is charged: what is left in the others is what was.
void Replay::leave_uncharged(Group& group, std::span<const std::uint32_t> keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    store::Check& check = group.checks[i];
    bring_within_reach(check, keys[i]);
    if (check.decision.admitted) {
      check.decision = peek(check, keys[i], Cost{0});
    } else {
      check.held_by_others = ledger(keys[i]).held_by_others(check.holder);
    }
  }
}

void Replay::add_holdings(const store::Check& check, std::uint32_t key) {
  if (check.holdings == nullptr) return;
  const std::int64_t now = core::micros(now_);
  const core::ReceiptUse any{.id = {1, 0}};  // a hold needs one to be told what is left
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    const Decision untouched = [&] {
      if constexpr (std::is_same_v<A, core::Concurrency>) {
        return receipts(key).hold(of.limit, Cost{0}, &any, 0, false, now);
      } else {
        return A::peek(of.limit, state<A>(key), Cost{0}, now_);
      }
    }();
    check.holdings->used += untouched.limit - untouched.remaining;
  });
  std::ranges::copy_if(receipts(key).open, std::back_inserter(check.holdings->open),
                       [&](const core::Receipt& receipt) { return receipt.ends > now; });
  const auto& slices = ledger(key).slices;
  check.holdings->slices.insert(check.holdings->slices.end(), slices.begin(), slices.end());
  check.holdings->at = now_;
  check.holdings->known = true;
}

// What has lapsed is not out, but was not charged either.
void Replay::add_forgotten(const store::Check& check, std::uint32_t key) {
  if (check.holdings == nullptr) return;
  for (const core::Slice& slice : ledger(key).slices) {
    if (slice.until > core::micros(now_)) check.holdings->slices.push_back(slice);
  }
  check.holdings->at = now_;
  check.holdings->known = true;
}

void Replay::lapse(const core::Rule& rule, std::uint32_t key) {
  if (!has_slices(key)) return;
  core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) ledger(key).lapse<A>(of.limit, state<A>(key), core::micros(now_));
  });
}

void Replay::lapse(const Group& group, std::span<const std::uint32_t> keys) {
  for (std::size_t i = 0; i < keys.size(); ++i) lapse(*group.checks[i].rule, keys[i]);
}

bool Replay::report(SliceExchange& exchange, const core::Rule& rule, std::uint32_t key) {
  exchange.answer = {};
  const std::int64_t now = core::micros(now_);
  const std::uint64_t lapsed = ledger(key).lapsed_of(exchange.message.holder, now);
  lapse(rule, key);
  core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      exchange.answer.taken = ledger(key).report<A>(of.limit, state<A>(key), exchange.message, now);
    }
  });
  exchange.answer.lapsed = lapsed;
  return exchange.answer.taken;
}

std::uint64_t Replay::grant(SliceExchange& exchange, const core::Rule& rule, std::uint32_t key) {
  if (!exchange.answer.taken) return 0;
  const std::uint64_t lapsed = exchange.answer.lapsed;
  core::visit_rule(rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (core::can_be_leased<A>) {
      exchange.answer = ledger(key).grant<A>(of.limit, state<A>(key), exchange.message, core::micros(now_));
    }
  });
  exchange.answer.lapsed = lapsed;
  return exchange.answer.units;
}

void Replay::decide(Group& group, std::span<const std::uint32_t> keys) {
  lapse(group, keys);
  group.admitted = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    group.checks[i].decision = peek(group.checks[i], keys[i], group.checks[i].cost);
    group.admitted = group.admitted && group.checks[i].decision.admitted;
  }
  if (group.admitted) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (group.checks[i].role == store::Check::Role::charge)
        group.checks[i].decision = charge(group.checks[i], keys[i]);
    }
  } else {
    leave_uncharged(group, keys);
  }
  tell_when_more(group, keys);
}

void Replay::save_states(std::span<const std::uint32_t> keys) {
  saved_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto& [arrival, fixed, counter, log, holds] = states_[keys[i]].state;
    saved_[i] = State(arrival, fixed, counter, core::SlidingWindowLog::State{copy_of(log.ring)}, holds);
  }
}

void Replay::restore_states(std::span<const std::uint32_t> keys) noexcept {
  for (std::size_t i = 0; i < keys.size(); ++i) states_[keys[i]].state = std::move(saved_[i]);
}

void Replay::decide_in_steps(Group& group, std::span<const std::uint32_t> keys) {
  lapse(group, keys);
  save_states(keys);
  group.admitted = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    store::Check& check = group.checks[i];
    const bool is_guard = check.role == store::Check::Role::guard;
    group.checks[i].decision = is_guard ? peek(check, keys[i], check.cost) : charge(check, keys[i]);
    group.admitted = group.admitted && group.checks[i].decision.admitted;
    tell_when_more(check, keys[i]);
  }
  const bool is_look = group.operation == store::Operation::look;
  if (group.admitted && !is_look) return;
  restore_states(keys);
  if (is_look) {
    for (std::size_t i = 0; i < keys.size(); ++i) add_holdings(group.checks[i], keys[i]);
    return;
  }
  leave_uncharged(group, keys);
  tell_when_more(group, keys);
}

std::uint64_t Replay::reserve(Group& group, std::span<const std::uint32_t> keys) {
  const std::int64_t now = core::micros(now_);
  lapse(group, keys);
  save_states(keys);
  marks_.assign(keys.size(), {});
  group.admitted = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    store::Check& check = group.checks[i];
    const bool is_charged = check.role == store::Check::Role::charge;
    if (check.receipt != nullptr) check.receipt->result = core::ReceiptResult::none;
    marks_[i].was_open = is_charged && check.receipt != nullptr && receipts(keys[i]).is_open(check.receipt->id, now);
    const Cost cost = marks_[i].was_open ? Cost{0} : check.cost;
    if (is_charged && check.receipt != nullptr && core::is_concurrency(*check.rule)) {
      check.decision = hold(check, keys, i, cost);
    } else if (marks_[i].was_open) {
      check.decision = peek(check, keys[i], cost);
    } else {
      check.decision = is_charged ? charge(check, keys[i]) : peek(check, keys[i], check.cost);
    }
    if (marks_[i].was_open) core::admit_again(check.decision);
    marks_[i].charged = core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
      return core::place_of_charge<A>(of.limit, state<A>(keys[i]), check.decision);
    });
    group.admitted = group.admitted && check.decision.admitted;
    tell_when_more(check, keys[i]);
  }
  const bool is_look = group.operation == store::Operation::look;
  if (!group.admitted || is_look) {
    restore_states(keys);
    if (is_look) {
      for (std::size_t i = 0; i < keys.size(); ++i) add_holdings(group.checks[i], keys[i]);
    } else {
      leave_uncharged(group, keys);
      tell_when_more(group, keys);
    }
    return group.admitted ? 1 : 0;
  }
  std::uint64_t opened = 1;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    store::Check& check = group.checks[i];
    if (check.receipt == nullptr || check.role != store::Check::Role::charge) continue;
    core::Receipts& beside = receipts(keys[i]);
    beside.drop_ended(now);
    const std::size_t before = beside.open.size();
    beside.reserve(marks_[i].charged, check.cost, marks_[i].was_open, *check.receipt, now);
    opened += beside.open.size() - before;
  }
  return opened;
}

namespace {

// In the place of a log that is placed as it is afterwards: what the script says was charged is all that is not known.
struct CorrectedLog {
  using Limit = core::SlidingWindowLog::Limit;
  struct State {
    std::uint64_t charged;
  };

  static void refund(const Limit& /*limit*/, State& /*state*/, Cost /*cost*/, const core::Charged& /*made*/,
                     Instant /*now*/) noexcept {}
  static std::uint64_t owe(const Limit& /*limit*/, State& state, Cost cost, Instant /*now*/) noexcept {
    const std::uint64_t charged = std::min(state.charged, cost.units());
    state.charged -= charged;
    return cost.units() - charged;
  }
};

}  // namespace

std::uint64_t Replay::correct(Group& group, std::span<const std::uint32_t> keys,
                              std::span<const std::uint64_t> charges) {
  std::uint64_t done = 0;
  bool is_possible = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    store::Check& check = group.checks[i];
    lapse(*check.rule, keys[i]);
    const auto is_done = correct(group, check, keys[i], charges[i]);
    is_possible = is_possible && is_done.has_value();
    if (is_done.value_or(false)) ++done;
    check.decision = peek(check, keys[i], Cost{0});
    tell_when_more(check, keys[i]);
  }
  group.admitted = true;
  return is_possible ? done : UINT64_MAX;
}

std::optional<bool> Replay::correct(const Group& group, const store::Check& check, std::uint32_t key,
                                    std::uint64_t charged) {
  core::ReceiptUse without_id;
  core::ReceiptUse& use = check.receipt == nullptr ? without_id : *check.receipt;
  const std::int64_t now = core::micros(now_);
  bool is_possible = true;
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    const auto correct_state = [&]<class B>(typename B::State& its_state) {
      if (group.operation == store::Operation::extend) {
        receipts(key).extend(use, now);
      } else if (group.operation == store::Operation::report) {
        receipts(key).template report<B>(of.limit, its_state, check.cost, use, now);
      } else {
        receipts(key).template settle<B>(of.limit, its_state, use, now);
      }
    };
    if constexpr (std::is_same_v<A, core::SlidingWindowLog>) {
      CorrectedLog::State log{charged};
      correct_state.template operator()<CorrectedLog>(log);
      is_possible = log.charged == 0;
    } else {
      auto& its_state = state<A>(key);
      correct_state.template operator()<A>(its_state);
      if (A::forget_at(of.limit, its_state) <= now_) its_state = {};
    }
  });
  if (!is_possible) return {};
  if (group.operation == store::Operation::report) return core::is_charged(use.result);
  return use.result == core::ReceiptResult::done;
}

void Replay::settle(Group& group, std::uint32_t key) {
  store::Check& check = group.checks[0];
  lapse(*check.rule, key);
  core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    if constexpr (!std::is_same_v<A, core::SlidingWindowLog>) {
      receipts(key).template settle<A>(of.limit, state<A>(key), *group.settlement, core::micros(now_));
      if (A::forget_at(of.limit, state<A>(key)) <= now_) state<A>(key) = {};
    }
  });
  group.checks[0].decision = peek(check, key, Cost{0});
  group.admitted = true;
  tell_when_more(check, key);
}

void Replay::forget(Group& group, std::span<const std::uint32_t> keys) {
  group.admitted = true;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    add_forgotten(group.checks[i], keys[i]);
    states_[keys[i]] = States{};
    group.checks[i].decision = {};
    if (group.checks[i].rule != nullptr) group.checks[i].decision = peek(group.checks[i], keys[i], Cost{0});
  }
}

std::uint64_t Replay::charge_back(const store::Check& check, std::uint32_t key) {
  lapse(*check.rule, key);
  return core::visit_rule(*check.rule, [&]<class A>(const core::RuleOf<A>& of) {
    std::uint64_t left = A::peek(of.limit, state<A>(key), Cost{0}, now_).remaining;
    if (has_slices(key)) left = peek(check, key, Cost{0}).remaining;
    const std::uint64_t units = std::min(check.charge_back, left);
    const bool is_by_ledger = core::can_be_leased<A> && has_slices(key);
    if constexpr (core::can_be_leased<A>) {
      if (is_by_ledger) (void)ledger(key).decide<A>(of.limit, state<A>(key), Cost{units}, core::micros(now_));
    }
    if (!is_by_ledger) (void)A::decide(of.limit, state<A>(key), Cost{units}, now_);
    if (units < check.charge_back) core::bring_within_reach<A>(of.limit, state<A>(key), now_);
    return units;
  });
}
namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

bool is_number(const Reply& reply) noexcept {
  return reply.is(ReplyType::integer) && reply.integer() >= 0 && reply.integer() < (std::int64_t{1} << 53);
}

bool are_numbers(const Reply& array) noexcept {
  for (const Reply number : array) {
    if (!is_number(number)) return false;
  }
  return true;
}

bool is_plain_state(const Reply& reply) noexcept {
  return reply.is(ReplyType::null) || reply.is(ReplyType::bulk);
}

bool is_log_state(const Reply& reply) noexcept {
  if (reply.is(ReplyType::null)) return true;
  return reply.is(ReplyType::array) && reply.size() >= 2 && reply.size() % 2 == 0 && are_numbers(reply);
}

}  // namespace

std::optional<ScriptReply> parse_script_reply(const Reply& reply, const ScriptReplySizes& sizes) noexcept {
  if (!reply.is(ReplyType::array) || reply.size() != (sizes.charges > 0 ? 4U : 3U)) return {};
  auto part = reply.begin();
  const Reply now = *part;
  const Reply states = *++part;
  const Reply admitted = *++part;
  if (!is_number(now) || !states.is(ReplyType::array) || !admitted.is(ReplyType::array)) return {};
  if (states.size() != sizes.keys || admitted.size() != sizes.evaluations) return {};
  std::size_t key = 0;
  for (const Reply state : states) {
    if (!(key++ < sizes.plain_keys ? is_plain_state(state) : is_log_state(state))) return {};
  }
  if (!are_numbers(admitted)) return {};
  ScriptReply parsed{Instant{Duration{now.integer()}}, states, admitted, {}};
  if (sizes.charges == 0) return parsed;
  parsed.charges = *++part;
  if (!parsed.charges->is(ReplyType::array) || parsed.charges->size() != sizes.charges ||
      !are_numbers(*parsed.charges)) {
    return {};
  }
  return parsed;
}

std::optional<LogExcerpt> parse_log(const Reply& reply, std::vector<LogExcerpt::Point>& points) {
  points.clear();
  auto number = reply.begin();
  const std::int64_t used = (*number).integer();
  const std::int64_t newest = (*++number).integer();
  while (++number != reply.end()) {
    const std::int64_t cost = (*number).integer();
    points.push_back({cost, (*++number).integer()});
  }
  const LogExcerpt log{used, newest, points};
  if (!log.is_sound()) return {};
  return log;
}

}  // namespace weir::store::redis
