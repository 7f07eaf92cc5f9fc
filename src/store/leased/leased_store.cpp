#include "store/leased/leased_store.h"

#include <time.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "store/forwarded_group.h"
#include "store/shared/shared_terms.h"

namespace weir::store {
namespace {

bool is_leased(const Check& check) noexcept {
  return check.states != nullptr && slices_of(*check.states) != nullptr && check.rule == &check.states->rule;
}

SliceTable& table_of(const Check& leased) noexcept {
  return *leased.states->shared->slices;
}

bool has_leased(const Group& group) noexcept {
  return std::ranges::any_of(group.checks, is_leased);
}

Path path_of(const SliceTable& table, const SliceTable::Taken& taken) noexcept {
  if (!table.is_approximate()) return Path::slice;
  return taken.on == SliceTable::On::share ? Path::share : Path::approximate;
}

// Returns what would remain after a denied check if other holders had no slices. Zero if they have none.
std::uint64_t with_leased(const Check& check) {
  const SliceExchange* const exchange = check.exchange();
  if (exchange == nullptr) return 0;
  std::uint64_t leased = exchange->leased_to_others;
  if (!exchange->is_sent) leased -= std::min(leased, table_of(check).leased(check.hash));
  return leased == 0 ? 0 : leased + check.decision.remaining;
}

// True if only the store can decide the group: receipts, and the charges they belong to, are kept there.
bool is_for_store(const Group& group) noexcept {
  if (group.operation >= Operation::extend) return true;
  return std::ranges::any_of(group.checks, [](const Check& check) { return check.receipt != nullptr; });
}

// Returns the store's time by the table of any check, since all tables share one clock.
Instant store_time(const Group& group, SliceTable::Ticks now) noexcept {
  return table_of(*std::ranges::find_if(group.checks, is_leased)).store_time(now);
}

}  // namespace

struct LeasedStore::Forwarded final : Callback {
  explicit Forwarded(LeasedStore& its_store) noexcept : store(its_store) {}
  virtual ~Forwarded() = default;
  void answered(Group& /*group*/) override { store.conclude(*this); }

  LeasedStore& store;
  ForwardedGroup copy;                   // copy of the checks that no slice covers
  std::vector<Spent> spent;              // checks of the original group that slices cover
  std::vector<SliceExchange> exchanges;  // one per forwarded check
  Ticks sent_at = 0;
};

struct LeasedStore::Background final : Callback {
  explicit Background(LeasedStore& its_store) : store(its_store) {
    group.checks.resize(1);
    group.callback = this;
  }
  virtual ~Background() = default;
  void answered(Group& /*group*/) override { store.conclude(*this); }

  LeasedStore& store;
  Group group;
  SliceExchange exchange;
  CheckExtension extension{.exchange = &exchange};
  std::shared_ptr<SliceTable> table;
  Ticks sent_at = 0;
};

LeasedStore::Ticks LeasedStore::boot_time() noexcept {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return Ticks{time.tv_sec} * 1'000'000 + time.tv_nsec / 1'000;
}

LeasedStore::LeasedStore(Store& inner, std::function<Ticks()> clock) : inner_(inner), clock_(std::move(clock)) {}

LeasedStore::~LeasedStore() = default;

// A callback may submit, so the list is detached while it is used.
void LeasedStore::submit(Batch batch) {
  if (std::ranges::none_of(batch, [](const Group* group) { return has_leased(*group); })) return inner_.submit(batch);
  const Ticks now = clock_();
  std::vector<Group*> forwarded = std::exchange(forwarded_, {});
  for (Group* group : batch) {
    if (!has_leased(*group) || is_for_store(*group)) {
      forwarded.push_back(group);
    } else if (group->operation == Operation::decide) {
      decide(*group, now, forwarded);
    } else {
      spent_.clear();
      forwarded.push_back(&forward(*group, now));
    }
  }
  if (!forwarded.empty()) inner_.submit(forwarded);
  forwarded.clear();
  forwarded_ = std::move(forwarded);
  if (!renewals_.empty()) send_renewals(now);
}

void LeasedStore::decide(Group& group, Ticks now, std::vector<Group*>& forwarded) {
  if (spend(group, now)) return admit(group, now);
  if (can_deny()) return deny(group, now);
  forwarded.push_back(&forward(group, now));
}

// Spends where possible. Returns true if all checks were covered.
bool LeasedStore::spend(Group& group, Ticks now) {
  taken_.clear();
  spent_.clear();
  for (std::size_t i = 0; i < group.checks.size(); ++i) {
    Check& check = group.checks[i];
    SliceTable::Taken& taken = taken_.emplace_back();
    if (!is_leased(check)) continue;
    SliceTable& table = table_of(check);
    const bool is_guard = check.role == Check::Role::guard;
    taken = is_guard ? table.look(check.hash, check.cost, now) : table.take(check.hash, check.cost, now);
    if (taken.renews) renewals_.push_back({&table, check.hash, check.key});
    if (taken.answer == SliceTable::Answer::ask) continue;
    check.path = path_of(table, taken);
    check.decision = taken.decision;
    if (taken.on != SliceTable::On::share) check.decision.charged_at = table.store_time(now);
    if (taken.answer == SliceTable::Answer::spent && !is_guard) spent_.push_back({i, taken.number, taken.on});
  }
  return std::ranges::all_of(taken_, [](const auto& one) { return one.answer == SliceTable::Answer::spent; });
}

// True if every check was decided without the store.
bool LeasedStore::can_deny() const noexcept {
  return std::ranges::none_of(taken_, [](const auto& one) { return one.answer == SliceTable::Answer::ask; });
}

void LeasedStore::admit(Group& group, Ticks now) {
  group.failure = Failure::none;
  group.decided = group.admitted = true;
  group.now = store_time(group, now);
  group.callback->answered(group);
}

void LeasedStore::deny(Group& group, Ticks now) {
  group.failure = Failure::none;
  group.decided = true;
  group.admitted = false;
  group.now = store_time(group, now);
  put_back(group, spent_, now);
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (taken_[i].by_leased) SliceCounts::raise(table_of(group.checks[i]).counts().contended_denials);
  }
  group.callback->answered(group);
}

// Returns what was spent for a denied group. Its checks report what remains without the charge.
void LeasedStore::put_back(Group& group, std::vector<Spent>& spent, Ticks now) {
  for (const Spent& one : spent) {
    Check& check = group.checks[one.place];
    Decision& decision = check.decision;
    decision.remaining = std::min(decision.limit, decision.remaining + check.cost.units());
    if (decision.remaining == decision.limit) decision.more_after.reset();
    SliceTable& table = table_of(check);
    if (!table.put_back(check.hash, one.on, one.number, one.slice, decision.charged_at, check.cost)) {
      refund(check, now);
    } else if (table.retired()) {
      remember(table);  // it may have been dropped after it returned all its slices
    }
  }
  spent.clear();
}

// Sends to the store what was not spent: the whole group or, if something was spent, the rest of it.
Group& LeasedStore::forward(Group& group, Ticks now) {
  Forwarded& request = forwarded_pool_.acquire(*this);
  ++in_flight_;
  request.sent_at = now;
  for (Spent& one : spent_) {
    const Check& check = group.checks[one.place];
    if (one.on == SliceTable::On::slice) one.slice = table_of(check).suspend(check.hash, one.number, check.cost);
  }
  request.spent.assign(spent_.begin(), spent_.end());
  if (spent_.empty()) {
    request.copy.take_all(group, request);
  } else {
    request.copy.positions.clear();
    for (std::size_t i = 0; i < group.checks.size(); ++i) {
      if (taken_[i].answer != SliceTable::Answer::spent) request.copy.positions.push_back(i);
    }
    request.copy.take(group, request);
  }
  for (Check& check : request.copy.group.checks) check.path = Path::store;
  if (group.operation == Operation::decide) add_messages(request, now);
  return request.copy.group;
}

void LeasedStore::add_messages(Forwarded& request, Ticks now) {
  std::vector<Check>& checks = request.copy.group.checks;
  request.exchanges.assign(checks.size(), {});
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (!is_leased(checks[i])) continue;
    SliceTable& table = table_of(checks[i]);
    SliceExchange& exchange = request.exchanges[i];
    request.copy.extend(i).exchange = &exchange;
    exchange.message.holder = table.holder();
    exchange.is_sent = false;
    if (checks[i].role == Check::Role::guard) continue;
    const auto message = table.ask(checks[i].hash, checks[i].key, now);
    if (!message) continue;
    remember(table);
    exchange.message = *message;
    exchange.is_sent = true;
  }
}

void LeasedStore::conclude(Forwarded& request) {
  const Ticks now = clock_();
  Group& whole = *request.copy.whole;
  read_answers(request, now);
  request.copy.write_back();
  if (!whole.decided || !whole.admitted) put_back(whole, request.spent, now);
  for (const Spent& one : request.spent) {
    const Check& check = whole.checks[one.place];
    if (one.slice != 0) table_of(check).use_pending(check.hash, one.slice, check.cost);
  }
  const bool reports_remaining = whole.operation == Operation::look || whole.operation == Operation::settle;
  if (reports_remaining && whole.failure == Failure::none) add_rest(whole, now);
  --in_flight_;
  forwarded_pool_.release(request);
  whole.callback->answered(whole);
}

void LeasedStore::read_answers(const Forwarded& request, Ticks now) {
  const Group& answered = request.copy.group;
  const bool by_store = answered.failure == Failure::none && answered.decided;
  for (const Check& check : answered.checks) {
    if (!is_leased(check)) continue;
    SliceTable& table = table_of(check);
    if (by_store) table.note_store_time(answered.now, request.sent_at, now);
    if (const SliceExchange* const exchange = check.message()) {
      const core::SliceAnswer& answer = exchange->answer;
      if (table.retired()) remember(table);
      if (answer.taken) {
        table.answered(check.hash, exchange->message.number, answer, check.decision, request.sent_at, now);
      } else {
        table.unanswered(check.hash, exchange->message.number, was_sent(answered.failure), now);
      }
    }
    if (answered.operation == Operation::forget && by_store) table.forget(check.hash);
    if (answered.operation == Operation::decide && by_store && !check.decision.admitted) {
      if (check.cost.units() <= with_leased(check)) SliceCounts::raise(table.counts().contended_denials);
      table.denied(check.hash, check.cost, check.decision, with_leased(check), now);
    }
  }
}

// Adds this process's own slices to what remains: the store counts them as leased, but this process can spend them.
void LeasedStore::add_rest(Group& group, Ticks now) {
  bool admitted = true;
  for (Check& check : group.checks) {
    Decision& decision = check.decision;
    const std::uint64_t rest = is_leased(check) ? table_of(check).rest(check.hash, now) : 0;
    decision.remaining = std::min(decision.limit, decision.remaining + rest);
    const bool is_covered = rest > 0 && check.cost.units() > 0 && decision.remaining >= check.cost.units();
    if (group.operation == Operation::look && !decision.admitted && is_covered) {
      decision.admitted = true;
      decision.retry_after = Duration::zero();
      decision.remaining -= check.cost.units();
    }
    admitted = admitted && decision.admitted;
  }
  if (group.operation == Operation::look) group.admitted = admitted;
}

// The functions below send messages that no request waits for.

LeasedStore::Background& LeasedStore::background(SliceTable& table, table::KeyHash key, std::string_view shared_key,
                                                 Ticks now) {
  Background& message = background_pool_.acquire(*this);
  ++in_flight_;
  message.table = table.shared_from_this();
  message.sent_at = now;
  message.group.deadline.reset();
  message.group.settlement.reset();
  message.group.now = table.store_time(now);
  Check& check = message.group.checks[0];
  check.states = &table.states();
  check.rule = &table.rule();
  check.hash = key;
  check.key = shared_key;
  check.cost = Cost{0};
  check.extension = nullptr;
  check.path = Path::store;
  return message;
}

void LeasedStore::send(SliceTable& table, table::KeyHash key, std::string_view shared_key,
                       const core::SliceMessage& message, Ticks now) {
  Background& sent = background(table, key, shared_key, now);
  sent.group.operation = Operation::decide;
  sent.exchange = {message, {}};
  sent.group.checks[0].extension = &sent.extension;
  inner_.submit(sent.group);
}

// The units were already reported as used. A window takes them back if it is the one in which they were spent. A bucket
// could only take back what is still visible of the charge, whose time is unknown here: a full refund would count the
// time since then twice. So they stay charged.
void LeasedStore::refund(const Check& check, Ticks now) {
  const bool is_bucket = core::visit_rule(*check.rule, []<class A>(const core::RuleOf<A>&) {
    return std::is_same_v<typename A::State, core::ArrivalState>;
  });
  if (is_bucket || check.cost.units() == 0) return;
  Background& sent = background(table_of(check), check.hash, check.key, now);
  sent.group.operation = Operation::settle;
  sent.group.settlement = core::Settlement{check.cost, Cost{0}, {.at = check.decision.charged_at}};
  inner_.submit(sent.group);
}

void LeasedStore::conclude(Background& message) {
  const Ticks now = clock_();
  const Check& check = message.group.checks[0];
  if (message.group.failure == Failure::none) {
    message.table->note_store_time(message.group.now, message.sent_at, now);
  }
  if (message.table->retired()) remember(*message.table);
  if (check.message() != nullptr) {
    const core::SliceAnswer& answer = message.exchange.answer;
    const std::uint64_t number = message.exchange.message.number;
    if (answer.taken) {
      message.table->answered(check.hash, number, answer, check.decision, message.sent_at, now);
    } else {
      message.table->unanswered(check.hash, number, was_sent(message.group.failure), now);
    }
  }
  message.table.reset();
  --in_flight_;
  background_pool_.release(message);
}

void LeasedStore::send_renewals(Ticks now) {
  std::vector<Renewal> renewals = std::exchange(renewals_, {});
  for (const Renewal& one : renewals) {
    const auto message = one.table->renew(one.key, one.shared_key, now);
    if (!message) continue;
    remember(*one.table);
    send(*one.table, one.key, one.shared_key, *message, now);
  }
  renewals.clear();
  renewals_ = std::move(renewals);
}

void LeasedStore::tick() {
  const Ticks now = clock_();
  for (std::size_t i = 0; i < tables_.size();) {
    SliceTable& table = *tables_[i];
    const bool is_retired = table.retired();
    is_retired ? table.give_back_all(now, due_) : table.collect_due(now, due_);
    send_due(table, now);
    if (is_retired) {
      tables_.erase(tables_.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void LeasedStore::give_back_all() {
  const Ticks now = clock_();
  for (const auto& table : tables_) {
    table->give_back_all(now, due_);
    send_due(*table, now);
  }
}

void LeasedStore::send_due(SliceTable& table, Ticks now) {
  std::vector<SliceTable::Due> due = std::exchange(due_, {});
  for (const SliceTable::Due& one : due) send(table, one.key, one.shared_key, one.message, now);
  due.clear();
  due_ = std::move(due);
}

void LeasedStore::remember(SliceTable& table) {
  const auto is_it = [&](const auto& known) { return known.get() == &table; };
  if (std::ranges::none_of(tables_, is_it)) tables_.push_back(table.shared_from_this());
}

}  // namespace weir::store
