#include "door/resp/throttle_batch.h"

#include <cstdint>
#include <span>
#include <utility>

#include "wire/resp/throttle.h"

namespace weir::door {

void ThrottleBatch::answer(Instant now, std::string& out) {
  const std::size_t size = std::exchange(size_, 0);
  std::uint64_t limited = 0;
  for (const Ask& ask : std::span(asks_).first(size)) {
    const Decision decision = table_.decide(*ask.limit, ask.key, ask.quantity, now);
    if (!decision.admitted) ++limited;
    append_throttle_reply(out, wire::resp::throttle_reply(decision));
  }
  counts_.allowed.raise(size - limited);
  counts_.limited.raise(limited);
}

}  // namespace weir::door
