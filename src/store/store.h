// The interface to where the states of limits live.
//
// A request submits its limits together, as a group of checks: all are charged, or none is. Groups are submitted in
// batches; each is answered exactly once, by its callback, possibly before submit() returns. Every store makes exactly
// the same decisions as the core.
//
// A store is used on one thread, that of its loop.
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

// The fallback of a limit while the shared store is unavailable.
enum class OnFailure : std::uint8_t {
  share,   // this process decides, on its share of the limit
  open,    // everything is admitted
  closed,  // everything is denied
};

// The states of one identity (state_id.h) under one set of numbers. Created by the owner of the policy; must outlive
// every check that refers to it.
struct States {
  core::Rule rule;
  table::Table* table = nullptr;      // in this process: all states, or those of its share
  const SharedName* name = nullptr;   // key names on a shared store; null: not shared
  ThrottleTable* throttle = nullptr;  // instead of `table`, for CL.THROTTLE
  OnFailure on_failure = OnFailure::share;
  const SharedTerms* shared = nullptr;  // settings for stores around a shared one (shared_terms.h); may be null
};

// How a check was decided.
enum class Path : std::uint8_t {
  store,
  slice,        // this process decided, on units that the store granted
  approximate,  // like `slice`, for an approximate limit, or on units not yet granted
  share,        // this process decided, on its share of the limit: the store is unavailable
  open,         // fallback `open`: admitted without a decision
  closed,       // fallback `closed`: denied without a decision
};

// Retry-After of a closed limit: it is unknown when the store will be available again.
inline constexpr Duration closed_retry_after = std::chrono::seconds(1);

// A message about this process's slice of a state, and the store's answer. The message is applied before the group is
// decided, and the grant is made after it, whatever the decision.
struct SliceExchange {
  core::SliceMessage message;
  core::SliceAnswer answer;
  // If denied: units leased to other holders; without a message, to all holders.
  std::uint64_t leased_to_others = 0;
  bool is_sent = true;  // false: the message only names the holder
};

// Additions of a wrapping store to a check of `decide`. They are in that store's own memory, next to its copy of the
// group (forwarded_group.h); inner stores read them and write their answers to them.
struct CheckExtension {
  // Units that this process admitted while the store was unavailable. They are charged before the group is decided,
  // whatever the decision, but never into debt. Set by OutageStore; zero once they were charged, or may have been, even
  // if the group failed.
  std::uint64_t charge_back = 0;
  std::uint64_t not_charged_back = 0;  // answer: units that did not fit
  SliceExchange* exchange = nullptr;   // set by LeasedStore
};

// Details of states beyond decisions, for operators. A group adds up the details of all its states.
struct Holdings {
  bool known = false;               // false: the store did not report them
  std::uint64_t used = 0;           // charged, at most the limit; 0 after `forget`
  std::vector<core::Slice> slices;  // currently leased
  std::vector<core::Receipt> open;  // open reservations and holds; empty after `forget`
  Instant at{};                     // the time, by the store's clock

  [[nodiscard]] std::uint64_t leased_units() const noexcept {
    std::uint64_t sum = 0;
    for (const core::Slice& slice : slices) sum += slice.units;
    return sum;
  }

  friend bool operator==(const Holdings&, const Holdings&) = default;
};

// One limit's part in a group, and its decision.
struct Check {
  enum class Role : std::uint8_t {
    charge,
    guard,  // must admit like the others, but is never charged
  };

  const States* states = nullptr;
  const core::Rule* rule = nullptr;  // the rule of `states`, or one that the request supplied
  table::KeyHash hash{};             // the consumer's hash in this process
  std::string key;                   // the state's key on a shared store; empty if not shared
  Cost cost{1};
  Duration max_wait = Duration::max();
  Role role = Role::charge;
  bool wants_more_after = false;  // fill Decision::more_after
  // Set for `look` and `forget` if the caller needs it. For `forget`, it receives the values before the deletion.
  Holdings* holdings = nullptr;
  // For `decide`: the receipt to open, atomically with the charge, if admitted. For `settle`, `extend` and `report`:
  // the receipt to operate on. Holds the result, and must stay valid until the group is answered.
  core::ReceiptUse* receipt = nullptr;

  CheckExtension* extension = nullptr;  // set by stores, in their own groups only

  Path path = Path::store;
  Decision decision;

  [[nodiscard]] std::uint64_t charge_back() const noexcept { return extension == nullptr ? 0 : extension->charge_back; }
  [[nodiscard]] SliceExchange* exchange() const noexcept {
    return extension == nullptr ? nullptr : extension->exchange;
  }
  // The message about a slice that is sent with the check; null if there is none.
  [[nodiscard]] SliceExchange* message() const noexcept {
    SliceExchange* const its_exchange = exchange();
    return its_exchange != nullptr && its_exchange->is_sent ? its_exchange : nullptr;
  }
};

enum class Operation : std::uint8_t {
  decide,  // all are charged, or none is
  look,    // returns what decide would; charges nothing
  // Corrects charges: each check's receipt, which must be set; or, without receipts, one check by `settlement`. A
  // release, like a refund, settles at an actual cost of zero.
  settle,
  forget,  // deletes the state and its receipts
  extend,  // extends each check's receipt, which must be set
  report,  // charges each check's cost without a decision, into a debt of at most one capacity; once per id
};

// The reason why a store did not decide.
enum class Failure : std::uint8_t {
  none,
  unavailable,  // no connection, or the breaker is open: nothing was sent
  timeout,      // sent, but not answered in time: it may have been charged
  lost,         // sent, but the connection was lost before the answer: it may have been charged
  refused,      // the store answered with an error and did nothing
  disagreement  // the answer differs from what the core decides on the returned states
};

// True if a group that was not decided may have been charged anyway.
[[nodiscard]] constexpr bool was_sent(Failure failure) noexcept {
  return failure != Failure::unavailable && failure != Failure::refused;
}

// What a wrapping store does for a group that its inner store does not decide.
enum class Fallback : std::uint8_t {
  none,      // reports the failure
  by_limit,  // applies each limit's fallback
  share,     // decides on this process's share, regardless of the limits' fallbacks
  at_once,   // like `share`, but without asking the store, which already failed for this request; see Group::failure
};

using Deadline = std::chrono::steady_clock::time_point;

struct Group;

// Implemented by the submitter of a group. Called once per group, on the store's thread.
class Callback {
 public:
  virtual void answered(Group& group) = 0;

 protected:
  ~Callback() = default;
};

// The checks of one request. Must stay at its address until answered; may then be reused.
struct Group {
  static constexpr std::size_t max_checks = 64;

  Operation operation = Operation::decide;
  std::vector<Check> checks;                   // at least one; at most max_checks to be charged, plus guards
  std::optional<core::Settlement> settlement;  // for `settle` without receipts
  Fallback fallback = Fallback::none;
  std::optional<Deadline> deadline;  // when the answer is no longer useful; none: the store's own timeout
  Callback* callback = nullptr;

  // The answer. If `decide` denies, checks that would have admitted report what remains without the charge, as for a
  // cost of zero; see table::decide_together.
  Failure failure = Failure::none;  // the store's failure; set even if this process decided instead
  bool decided = false;             // true if the store or a fallback decided: the decisions and `admitted` are valid
  bool admitted = false;  // all checks admit; `forget`: it was deleted; settle, extend and report: always true
  Instant now{};          // in: the time at which a local store decides. Out: the time by the store's clock
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
