// The seam to a store that several nodes share. It is asynchronous: who asks is told later.
//
// An ask is judged as a whole, all or nothing, by the store's own clock. The store decides bit for bit as the core
// does, on states that it keeps under the keys of the checks.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/rule.h"
#include "core/settle.h"
#include "weir/cost.h"
#include "weir/decision.h"
#include "weir/time.h"

namespace weir::store {

// One limit's part in an ask.
struct SharedCheck {
  enum class Role : std::uint8_t {
    charged,
    guard,  // has to admit like the others, and is never charged
  };

  std::string key;  // as SharedKeys writes it; keys of one limit and consumer have one {tag}
  const core::Rule* rule = nullptr;
  Cost cost{1};
  Duration max_wait = Duration::max();
  Role role = Role::charged;

  // What was admitted here while the store was away: charged before all else, but never into debt; whatever becomes
  // of the ask.
  std::uint64_t charge_back = 0;
};

// What is said of one check.
struct SharedAnswer {
  Decision decision;
  std::optional<Duration> more_after;  // until more remains than the decision says; nothing if all is there
};

enum class SharedOperation : std::uint8_t {
  decide,  // all are charged, or none is
  look,    // what decide would say; charges nothing
  settle,  // corrects a charge; one check, see `settlement`. A refund is settled with an actual cost of nothing
  forget,  // as if never seen
};

// Why an ask was not judged.
enum class StoreFailure : std::uint8_t {
  none,
  away,         // no connection, or the breaker is open: nothing was sent
  timeout,      // sent, and no answer within the time: it may have been charged
  lost,         // sent, and the connection ended before the answer: it may have been charged
  refused,      // the store answered with an error, and has done nothing
  disagreement  // the answer is not what the core makes of the states in it
};

class SharedAsk;

using AskDeadline = std::chrono::steady_clock::time_point;

// Who asked. Called on the loop's thread, never from within SharedStore::ask, once for each ask.
class SharedAsker {
 public:
  virtual void answered(SharedAsk& ask) = 0;

 protected:
  ~SharedAsker() = default;
};

// Stays where it is until it is answered. May be used again then.
class SharedAsk {
 public:
  SharedOperation operation = SharedOperation::decide;
  std::vector<SharedCheck> checks;             // at least one; at most table::most_together
  std::optional<core::Settlement> settlement;  // of `settle`
  // Until when the answer is of use. None: as SharedStore::deadline says when it is asked.
  std::optional<AskDeadline> deadline;
  SharedAsker* asker = nullptr;

  // The answer: one for each check, if nothing failed. Where `decide` denies, the checks that would have admitted say
  // what is left uncharged, as a cost of nothing would be told; see table::decide_together.
  StoreFailure failure = StoreFailure::none;
  std::vector<SharedAnswer> answers;
  bool admitted = false;  // all of them
  Instant now{};          // by the clock of the store
};

// One for each loop, used on its thread.
class SharedStore {
 public:
  SharedStore() = default;
  SharedStore(const SharedStore&) = delete;
  SharedStore& operator=(const SharedStore&) = delete;
  virtual ~SharedStore() = default;

  // False, at once, if the store is away (the breaker is open) or the deadline has passed: then nothing was sent, and
  // `ask` is not kept.
  [[nodiscard]] virtual bool ask(SharedAsk& ask) = 0;

  // Of a decision that begins now, for all asks that it takes.
  [[nodiscard]] virtual AskDeadline deadline() const = 0;
};

}  // namespace weir::store
