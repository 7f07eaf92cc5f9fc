// One consumer of one limit: what it has left, and how it is made to start afresh.
//
// To inspect it charges nothing:
//
//   {"limit": "api-by-user", "tier": "free", "admitted": true, "reason": "within", "retry_after": 0,
//    "mode": "enforce", "quota": 20, "remaining": 3, "reset_after": 10.2, "more_after": 0.6, "consumer": "user=alice"}
//
// `admitted`, `reason` and `retry_after` are what this limit would say to its next request; `retry_after` is null where
// waiting does not help. `remaining`, `reset_after` and `more_after` are what is there before it; `more_after` is null
// while nothing is used, and all from `mode` on in a tier without limits. Seconds, exact to the microsecond.
//
// To reset it forgets what was counted for it, warnings and blocks included.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "door/desk.h"
#include "engine/hearing.h"
#include "engine/named.h"
#include "weir/result.h"

namespace weir::door {

class ConsumerTask {
 public:
  enum class Kind : std::uint8_t { inspect, reset };

  ConsumerTask(Kind kind, std::string_view limit, std::string_view consumer, std::string_view tier = {})
      : kind_(kind), limit_(limit), consumer_(consumer), tier_(tier) {}

  [[nodiscard]] const std::string& limit() const noexcept { return limit_; }

  // The answer as JSON. On an error the policy does not know the limit or the tier, or the consumer does not fit.
  [[nodiscard]] Result<std::string> judge(Desk& desk) const;

  // The same at a hearing, which has no other questions, and is over when it is answered. The task stays until then.
  // An error may also be the store's.
  void ask(engine::Hearing& hearing) const;
  [[nodiscard]] Result<std::string> answer(const engine::Hearing& hearing) const;

  // The status of an error.
  [[nodiscard]] unsigned status_of_error(Desk& desk) const;

 private:
  // What the limit would say to the next request, and what is there before it.
  [[nodiscard]] std::array<engine::NamedAsk, 2> looks() const noexcept;
  [[nodiscard]] engine::NamedAsk named() const noexcept {
    return {.limit = limit_, .consumer = consumer_, .one_meaning = true};
  }

  [[nodiscard]] std::string inspection(const engine::Plan& plan, const engine::Verdict& next,
                                       const engine::Verdict& present, std::string_view consumer) const;
  [[nodiscard]] std::string done(std::string_view consumer) const;

  Kind kind_;
  std::string limit_;
  std::string consumer_;
  std::string tier_;
};

}  // namespace weir::door
