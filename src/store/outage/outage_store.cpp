#include "store/outage/outage_store.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

#include "core/arithmetic.h"
#include "core/share.h"
#include "store/forwarded_group.h"
#include "store/shared/shared_terms.h"

namespace weir::store {
namespace {

// The key under which units to be charged to the store are counted.
table::KeyHash charges_of(table::KeyHash consumer) noexcept {
  return {consumer.value ^ 0x6F77656421A5C3E7U};
}

bool charges_back(const Check& check) noexcept {
  if (core::is_concurrency(*check.rule)) return false;  // a hold is released where it was taken
  return check.states->shared != nullptr && check.states->shared->charges_back;
}

bool is_charged_back(const Group& group, const Check& check) noexcept {
  return group.operation == Operation::decide && check.role == Check::Role::charge && charges_back(check);
}

// True if what this process counted must be charged to the store. A repeated report was counted before.
bool must_charge_back(const Group& group, const Check& check) noexcept {
  if (group.operation != Operation::report) return is_charged_back(group, check);
  return charges_back(check) && (check.receipt == nullptr || core::is_charged(check.receipt->result));
}

// Returns the units that the store newly granted to this process for a leased limit.
std::uint64_t granted_in(const Check& check) noexcept {
  const SliceExchange* const exchange = check.message();
  if (exchange == nullptr || !exchange->answer.taken) return 0;
  return exchange->answer.units - std::min(exchange->message.keep, exchange->answer.units);
}

bool is_bucket(const core::Rule& rule) noexcept {
  return core::visit_rule(
      rule, []<class A>(const core::RuleOf<A>&) { return std::is_base_of_v<core::ArrivalLimit, typename A::Limit>; });
}

// Keeps units that did not fit, to charge them later, but only for buckets. A window has no more room until it ends,
// and then they no longer count.
void keep_excess(const Group& group) noexcept {
  for (const Check& check : group.checks) {
    if (check.charge_back() == 0) continue;
    check.extension->charge_back = is_bucket(*check.rule) ? check.extension->not_charged_back : 0;
  }
}

// True if the group settles or extends receipts.
bool is_about_receipts(const Group& group) noexcept {
  return group.operation == Operation::extend ||
         (group.operation == Operation::settle && group.checks[0].receipt != nullptr);
}

// The share of a limit supplied by a request.
core::Rule share_of(const core::Rule& whole, std::uint64_t nodes, Cost cost) noexcept {
  const auto scaled = [&](const Result<Limit>& limit) {
    return limit ? core::compile(core::node_share_of(*limit, nodes, cost)) : whole;
  };
  if (const auto* of = std::get_if<core::RuleOf<core::FixedWindow>>(&whole)) {
    return scaled(Limit::fixed_window({of->limit.limit, Duration{of->limit.window}}));
  }
  if (const auto* of = std::get_if<core::RuleOf<core::Gcra>>(&whole)) {
    const Rate rate{static_cast<std::uint64_t>(of->limit.count), Duration{of->limit.per}};
    return scaled(Limit::gcra({rate, of->limit.burst}));
  }
  return whole;
}

std::uint64_t capacity_of(const core::Rule& rule) noexcept {
  return core::visit_rule(rule, []<class A>(const core::RuleOf<A>& of) -> std::uint64_t {
    if constexpr (std::is_base_of_v<core::ArrivalLimit, typename A::Limit>) {
      return of.limit.burst;
    } else {
      return of.limit.limit;
    }
  });
}

// True if a share regains units when the store does. A sliding window would count the units of the past from now on,
// for longer than the store does.
bool refills_with_store(const core::Rule& rule) noexcept {
  return is_bucket(rule) || std::holds_alternative<core::RuleOf<core::FixedWindow>>(rule);
}

Decision closed_decision(std::uint64_t capacity, Instant now) noexcept {
  return {.admitted = false,
          .limit = capacity,
          .remaining = 0,
          .retry_after = closed_retry_after,
          .reset_after = closed_retry_after,
          .delay = Duration::zero(),
          .more_after = closed_retry_after,
          .charged_at = now};
}

}  // namespace

struct OutageStore::Forwarded final : Callback {
  explicit Forwarded(OutageStore& its_store) noexcept : store(its_store) {}
  virtual ~Forwarded() = default;
  void answered(Group& /*group*/) override { store.conclude(*this); }

  OutageStore& store;
  ForwardedGroup copy;
};

OutageStore::OutageStore(Store& inner, const Clock& clock, Duration timeout, std::atomic<bool>& has_charges,
                         const std::atomic<std::uint32_t>* nodes) noexcept
    : inner_(inner), clock_(clock), timeout_(timeout), has_charges_(has_charges), nodes_(nodes) {}

OutageStore::~OutageStore() = default;

const core::Rule* OutageStore::local_rule(const Check& check, core::Rule& room) const noexcept {
  const States& states = *check.states;
  if (check.rule != &states.rule) {
    // The share must admit at least one request: for CL.THROTTLE one of this cost, for an override one of cost 1.
    room = share_of(*check.rule, nodes(), states.throttle != nullptr ? check.cost : Cost{1});
    return &room;
  }
  if (states.shared == nullptr) return &states.rule;
  if (const auto* const rule = std::get_if<core::Rule>(&states.shared->share)) return rule;
  const auto* const divided = std::get_if<NodeShare>(&states.shared->share);
  if (divided == nullptr) return &states.rule;
  room = core::compile(core::node_share_of(divided->limit, nodes(), divided->max_cost));
  return &room;
}

// A callback may submit, so the list is detached while it is used.
void OutageStore::submit(Batch batch) {
  std::vector<Group*> forwarded = std::exchange(forwarded_, {});
  for (Group* group : batch) {
    if (group->fallback == Fallback::at_once) {
      Forwarded& request = forward(*group);
      is_about_receipts(*group) ? settle_here(request.copy.group) : decide_here(request.copy.group);
      answer(request);
    } else {
      if (!group->deadline) group->deadline = Deadline::clock::now() + timeout_;
      Forwarded& request = forward(*group);
      if (has_charges_.load(std::memory_order_relaxed)) take_charges(request.copy);
      forwarded.push_back(&request.copy.group);
    }
  }
  if (!forwarded.empty()) inner_.submit(forwarded);
  forwarded.clear();
  forwarded_ = std::move(forwarded);
}

OutageStore::Forwarded& OutageStore::forward(Group& group) {
  Forwarded& request = pool_.acquire(*this);
  request.copy.take_all(group, request);
  return request;
}

void OutageStore::answer(Forwarded& request) {
  request.copy.write_back();
  Group& whole = *request.copy.whole;
  pool_.release(request);
  whole.callback->answered(whole);
}

void OutageStore::conclude(Forwarded& request) {
  Group& group = request.copy.group;
  if (group.failure != Failure::none || group.operation == Operation::forget || is_about_receipts(group)) {
    const Lock lock = lock_states_ ? lock_states_() : Lock();
    if (group.failure != Failure::none) unsteady_until_ = Deadline::clock::now() + unsteady_for;
    decide_late(group, *request.copy.whole);
  } else if (is_unsteady() && group.operation == Operation::decide) {
    const Lock lock = lock_states_ ? lock_states_() : Lock();
    keep_excess(group);
    keep_charges(group);
    count_here(group);
  }
  answer(request);
}

// Reads no clock as long as the store has not failed.
bool OutageStore::is_unsteady() noexcept {
  if (!unsteady_until_) return false;
  if (Deadline::clock::now() >= *unsteady_until_) unsteady_until_.reset();
  return unsteady_until_.has_value();
}

// Counts as much as fits: the store may have admitted more for this node than its share.
void OutageStore::count_here(const Group& group) noexcept {
  const Instant now = clock_.now();
  core::Rule room;
  for (const Check& check : group.checks) {
    if (check.states->on_failure != OnFailure::share || !is_charged_back(group, check)) continue;
    const core::Rule& rule = *local_rule(check, room);
    const std::uint64_t units = granted_in(check) + (group.admitted ? check.cost.units() : 0);
    if (units > 0) check.states->table->add_usage(rule, check.hash, Cost{units}, now);
    if (refills_with_store(rule)) lower_share(check, rule, now);
  }
}

// Counts what other nodes used: at most the share's part of what the store has remaining stays here, rounded up.
void OutageStore::lower_share(const Check& check, const core::Rule& rule, Instant now) noexcept {
  table::Table& table = *check.states->table;
  const Decision here = table.peek(rule, {check.hash, Cost{0}}, now);
  const std::uint64_t part = core::multiply_divide_ceil(check.decision.remaining, here.limit, capacity_of(*check.rule));
  if (here.remaining > part) table.add_usage(rule, check.hash, Cost{here.remaining - part}, now);
}

// Settles receipts that this process issued while the store was unavailable: the store does not know them. For a
// receipt unknown to both, the store reports that it ended; while it is unavailable, the result is unknown.
void OutageStore::settle_here(Group& group) {
  const Instant now = clock_.now();
  core::Rule room;
  bool is_done = true;
  for (Check& check : group.checks) {
    if (check.receipt->result == core::ReceiptResult::done && group.failure == Failure::none) continue;
    core::ReceiptUse use = *check.receipt;
    if (check.states->table != nullptr) {
      table::Table& table = *check.states->table;
      const core::Rule& rule = *local_rule(check, room);
      const Decision decision = group.operation == Operation::extend ? table.extend(rule, check.hash, use, now)
                                                                     : table.settle(rule, check.hash, use, now);
      if (use.result == core::ReceiptResult::done) {
        *check.receipt = use;
        check.decision = decision;
        check.path = Path::share;
        continue;
      }
    }
    if (group.failure != Failure::none) check.receipt->result = core::ReceiptResult::none;
    is_done = false;
  }
  if (group.failure != Failure::none) group.decided = group.admitted = is_done;
}

void OutageStore::decide_late(Group& group, const Group& whole) {
  if (is_about_receipts(group)) return settle_here(group);
  if (group.failure != Failure::none) {
    if (!was_sent(group.failure)) keep_charges(group);
    if (group.fallback != Fallback::none) decide_here(group);
  }
  if (group.operation != Operation::forget) return;
  core::Rule room;
  for (const Check& check : whole.checks) {  // includes what this process counted while the store was unavailable
    if (check.states->table == nullptr) continue;
    const core::Rule& rule = *local_rule(check, room);
    const Instant now = clock_.now();
    (void)check.states->table->reset(rule, check.hash, now);
    if (charges_back(check)) (void)check.states->table->reset(rule, charges_of(check.hash), now);
  }
}

// Moves the pending charges into `copy`. Units that no longer count in this process are not charged to the store.
void OutageStore::take_charges(ForwardedGroup& copy) {
  const Instant now = clock_.now();
  core::Rule room;
  for (std::size_t i = 0; i < copy.group.checks.size(); ++i) {
    const Check& check = copy.group.checks[i];
    if (!is_charged_back(copy.group, check)) continue;
    table::Table& table = *check.states->table;
    const core::Rule& rule = *local_rule(check, room);
    const std::uint64_t kept = table.take_usage(core::pending_rule_of(rule), charges_of(check.hash), now);
    if (kept == 0) continue;
    const Decision here = table.peek(rule, {check.hash, Cost{0}}, now);
    copy.extend(i).charge_back = std::min(kept, here.limit - here.remaining);
  }
}

// Keeps units to be charged later, at most the share's capacity.
void OutageStore::keep_charges(const Group& group) noexcept {
  const Instant now = clock_.now();
  core::Rule room;
  for (const Check& check : group.checks) {
    const std::uint64_t units = check.charge_back();
    if (units == 0) continue;
    check.states->table->add_usage(core::pending_rule_of(*local_rule(check, room)), charges_of(check.hash), Cost{units},
                                   now);
    check.extension->charge_back = 0;
  }
}

void OutageStore::decide_by_choice(Group& group) const noexcept {
  for (Check& check : group.checks) {
    check.path = Path::share;
    if (group.fallback != Fallback::by_limit) continue;
    if (check.states->on_failure == OnFailure::open) {
      check.path = Path::open;
      check.decision = Decision{};
      check.decision.admitted = true;
    } else if (check.states->on_failure == OnFailure::closed) {
      check.path = Path::closed;
      check.decision = closed_decision(capacity_of(*check.rule), group.now);
    }
  }
}

// The checks are this store's copies: they get the rules by which this process decides.
void OutageStore::decide_here(Group& group) {
  group.now = clock_.now();
  if (rules_.size() < group.checks.size()) rules_.resize(group.checks.size());
  decide_by_choice(group);
  for (std::size_t i = 0; i < group.checks.size(); ++i) {
    group.checks[i].rule = local_rule(group.checks[i], rules_[i]);
  }
  decider_.decide(group);
  for (const Check& check : group.checks) {
    const bool is_owed = group.admitted && check.path == Path::share && check.cost > Cost{0} &&
                         !was_sent(group.failure) && must_charge_back(group, check);
    if (!is_owed) continue;
    has_charges_.store(true, std::memory_order_relaxed);
    check.states->table->add_usage(core::pending_rule_of(*check.rule), charges_of(check.hash), check.cost, group.now);
  }
}

}  // namespace weir::store
