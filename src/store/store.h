// Where the states of limits live, and the one way to them.
//
// A request asks its limits together, as a group of checks: all are charged, or none is. Groups go to a store in
// batches; each is answered once, by its callback, perhaps before submit() returns. A store decides bit for bit as the
// core does.
//
// A store is used on one thread, that of the loop that has it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ledger.h"
#include "core/operations.h"
#include "core/receipts.h"
#include "core/rule.h"
#include "table/hash_key.h"
#include "table/table.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/time.h"

namespace weir::store {

struct SharedName;
struct SharedTerms;
class ThrottleTable;

// What holds for a limit while a shared store is away.
enum class OnFailure : std::uint8_t {
  share,   // this process decides, on its share of the limit
  open,    // all pass
  closed,  // nothing passes
};

// The states of one identity (state_id.h) under one set of numbers. Made by who knows the policy; it stays for as long
// as a check names it.
struct States {
  core::Rule rule;
  table::Table* table = nullptr;      // in this process: all of them, or those of its share
  const SharedName* name = nullptr;   // what they are called on a shared store; null: there is none
  ThrottleTable* throttle = nullptr;  // instead of `table`, for CL.THROTTLE
  OnFailure on_failure = OnFailure::share;
  const SharedTerms* shared = nullptr;  // for the stores around a shared one (shared_terms.h); null: nothing special
};

// Who decided a check.
enum class Path : std::uint8_t {
  store,
  slice,        // this process, on units that the store granted it
  approximate,  // the same for an approximate limit, or unasked
  share,        // this process's share of the limit, the store being away
  open,         // nobody: the limit lets everything pass then
  closed,       // nobody: the limit lets nothing pass then
};

// When a client that a closed limit denied may try again: nobody knows when the store will be back.
inline constexpr Duration closed_retry_after = std::chrono::seconds(1);

// A message about this process's slice of a state, and the answer of a store that decided. The message is reported
// before the group is decided, and answered by a grant behind it, whatever becomes of the group.
struct SliceExchange {
  core::SliceMessage message;
  core::SliceAnswer answer;
  std::uint64_t held_by_others = 0;  // where the check is denied: what holders other than the message's had
  bool is_sent = true;               // false: the message only names the holder
};

// What a store around a shared one adds to a check of `decide`. It lies in that store's own memory, beside its own copy
// of the group (forwarded_group.h); the inner stores read it, and answer in it.
struct CheckExtension {
  // What was admitted in this process while the store was unavailable: charged before all else, but never into debt,
  // whatever becomes of the group. Set by OutageStore. Zero afterwards if it was charged, or may have been, while the
  // group failed.
  std::uint64_t charge_back = 0;
  std::uint64_t not_charged_back = 0;  // answered: what there was no room for
  SliceExchange* exchange = nullptr;   // set by LeasedStore
};

// What a store knows of states beside decisions, for operators. Each state that it is asked of is added to it.
struct Holdings {
  bool known = false;               // false: the store did not say
  std::uint64_t used = 0;           // charged, at most the limit; of what is forgotten, nothing
  std::vector<core::Slice> slices;  // that are out
  std::vector<core::Receipt> open;  // what is reserved and not settled, or held; of `forget`, nothing
  Instant at{};                     // by the clock of the store

  [[nodiscard]] std::uint64_t held() const noexcept {
    std::uint64_t sum = 0;
    for (const core::Slice& slice : slices) sum += slice.units;
    return sum;
  }

  friend bool operator==(const Holdings&, const Holdings&) = default;
};

// One limit's part in a group, and what is decided on it.
struct Check {
  enum class Role : std::uint8_t {
    charge,
    guard,  // has to admit like the others, and is never charged
  };

  const States* states = nullptr;
  const core::Rule* rule = nullptr;  // of the states, or one that the request brought along
  table::KeyHash hash{};             // of the consumer, in this process
  std::string key;                   // of its state on a shared store; empty where there is none
  Cost cost{1};
  Duration max_wait = Duration::max();
  Role role = Role::charge;
  bool wants_more_after = false;  // of the decision
  // Of `look` and `forget`, where it is asked for: what is out; of `forget`, as it was before.
  Holdings* holdings = nullptr;
  // Of `decide`: if it admits, a receipt is opened beside the state, at once with the charge. Of `settle`, `extend` and
  // `report`: what is done. Its answer says what came of it. Stays until the group is answered.
  core::ReceiptUse* receipt = nullptr;

  CheckExtension* extension = nullptr;  // set by stores, in their own groups only

  Path path = Path::store;
  Decision decision;

  [[nodiscard]] std::uint64_t charge_back() const noexcept { return extension == nullptr ? 0 : extension->charge_back; }
  [[nodiscard]] SliceExchange* exchange() const noexcept {
    return extension == nullptr ? nullptr : extension->exchange;
  }
  // The message about a slice that goes with it; null: none.
  [[nodiscard]] SliceExchange* message() const noexcept {
    SliceExchange* const its_exchange = exchange();
    return its_exchange != nullptr && its_exchange->is_sent ? its_exchange : nullptr;
  }
};

enum class Operation : std::uint8_t {
  decide,  // all are charged, or none is
  look,    // what decide would say; charges nothing
  // Corrects charges: each check's receipt, which it has to have, by itself; or one check by `settlement`, where there
  // is none. A release, as a refund, is settled with an actual cost of nothing.
  settle,
  forget,  // as if never seen, receipts too
  extend,  // each check's receipt, which it has to have, lasts longer
  report,  // charges each check's cost without asking, into a debt of at most one capacity; once for each id
};

// Why a store did not decide.
enum class Failure : std::uint8_t {
  none,
  away,         // no connection, or the breaker is open: nothing was sent
  timeout,      // sent, and no answer within the time: it may have been charged
  lost,         // sent, and the connection ended before the answer: it may have been charged
  refused,      // the store answered with an error, and has done nothing
  disagreement  // the answer is not what the core makes of the states in it
};

// Whether a group that was not decided may have been done all the same.
[[nodiscard]] constexpr bool was_sent(Failure failure) noexcept {
  return failure != Failure::away && failure != Failure::refused;
}

// What a store around another does for a group that the inner one does not decide.
enum class Fallback : std::uint8_t {
  none,      // reports the failure
  by_limit,  // what each limit says for that
  share,     // decides on this process's share, whatever the limits say
  at_once,   // the same without asking the store: it was away for this request already; see Group::failure
};

using Deadline = std::chrono::steady_clock::time_point;

struct Group;

// Who submitted a group. Called once for each, on the store's thread.
class Callback {
 public:
  virtual void answered(Group& group) = 0;

 protected:
  ~Callback() = default;
};

// What one request asks together. Stays where it is until it is answered; may be used again then.
struct Group {
  static constexpr std::size_t max_checks = 64;

  Operation operation = Operation::decide;
  std::vector<Check> checks;                   // at least one, at most max_checks to be charged; guards beside them
  std::optional<core::Settlement> settlement;  // of `settle` without receipts
  Fallback fallback = Fallback::none;
  std::optional<Deadline> deadline;  // until when the answer is of use; none: as long as the store gives it
  Callback* callback = nullptr;

  // The answer. Where `decide` denies, the checks that would have admitted say what is left uncharged, as a cost of
  // nothing would be told; see table::decide_together.
  Failure failure = Failure::none;  // of the store; where this process decided instead, why
  bool decided = false;             // by whomever: the decisions and `admitted` are good
  bool admitted = false;            // all of them; of `forget`: it is forgotten; of settle, extend, report: true
  Instant now{};                    // before: the time by which a local store decides. After: by the clock of the store
};

using Batch = std::span<Group* const>;

class Store {
 public:
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  virtual void submit(Batch batch) = 0;
  void submit(Group& group) {
    Group* const only = &group;
    submit({&only, 1});
  }
};

}  // namespace weir::store
