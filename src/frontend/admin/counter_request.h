// One counter: that of a consumer of a limit, or of a descriptor of a domain. What it has left, and how it is made to
// start afresh.
//
// To inspect it charges nothing:
//
//   {"limit": "api-by-user", "tier": "free", "admitted": true, "reason": "within", "retry_after": 0,
//    "mode": "enforce", "quota": 20, "remaining": 3, "reset_after": 10.2, "more_after": 0.6,
//    "consistency": "leased", "used": 9, "held": 8, "holders": 1,
//    "slices": [{"holder": "5be0cd19137e", "units": 8, "ends_after": 0.71, "own": false}],
//    "candidate": {"admitted": true, "quota": 30, "remaining": 13, "consistency": "exact"}, "consumer": "user=alice"}
//
// `admitted`, `reason` and `retry_after` are what this limit would say to its next request; `retry_after` is null where
// waiting does not help. `remaining`, `reset_after` and `more_after` are what is there before it; `more_after` is null
// while nothing is used, and all from `mode` on in a tier without limits. Seconds, exact to the microsecond. That of a
// descriptor has `domain`, too, and `consumer` is `remote_address=192.0.2.7 + path=/login`.
//
// `used` is what is charged, `held` what the slices that are out hold, as the store knows them; `remaining` is what
// this node could admit: neither used nor held, and what is left of its own slices. `holders` counts all slices, of
// which at most 32 are listed, those first that end last. All of it is null while a shared store is away.
//
// To reset it forgets what was counted for it, warnings and blocks included:
//
//   {"limit": "api-by-user", "consumer": "user=alice", "reset": true,
//    "out": {"units": 8, "holders": 1, "ends_after": 0.71}}
//
// `out` is what other nodes may still spend of slices that they hold, and for how long at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/evaluation_batch.h"
#include "weir/result.h"

namespace weir::frontend {

class CounterRequest {
 public:
  enum class Kind : std::uint8_t { inspect, reset };

  CounterRequest() = default;
  CounterRequest(const CounterRequest&) = delete;
  CounterRequest& operator=(const CounterRequest&) = delete;
  virtual ~CounterRequest() = default;

  // The batch views the request, which stays until the batch is done.
  void add_to(engine::EvaluationBatch& batch) {
    first_ = batch.size();
    add(batch);
  }

  // Its number in the batch.
  [[nodiscard]] std::size_t first() const noexcept { return first_; }

  // When the batch is done: the answer as JSON. On an error the policy does not know the counter, or it cannot be
  // forgotten.
  [[nodiscard]] virtual Result<std::string> answer(const engine::EvaluationBatch& batch) const = 0;
  // The status of an error.
  [[nodiscard]] virtual unsigned status_of_error(const engine::EvaluationBatch& batch) const = 0;

 protected:
  virtual void add(engine::EvaluationBatch& batch) = 0;

 private:
  std::size_t first_ = 0;
};

[[nodiscard]] std::unique_ptr<CounterRequest> consumer_request(CounterRequest::Kind kind, std::string_view limit,
                                                               std::string_view consumer, std::string_view tier = {});
[[nodiscard]] std::unique_ptr<CounterRequest> descriptor_request(
    CounterRequest::Kind kind, std::string_view domain, std::vector<std::pair<std::string, std::string>> entries);

}  // namespace weir::frontend
