#include "door/resp/throttle_batch.h"

#include <cstdint>
#include <utility>

#include "wire/resp/throttle.h"

namespace weir::door {

void ThrottleBatch::answer(Instant now, std::string& out) {
  const std::size_t size = std::exchange(size_, 0);
  for (std::size_t i = 0; i < size; ++i) hashes_[i] = table_.hash(keys_[i]);
  for (std::size_t i = 0; i < size; ++i) table_.prefetch(hashes_[i]);
  std::uint64_t limited = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const Decision decision = table_.decide(*asks_[i].limit, hashes_[i], asks_[i].quantity, now);
    if (!decision.admitted) ++limited;
    append_throttle_reply(out, wire::resp::throttle_reply(decision));
  }
  counts_.allowed.raise(size - limited);
  counts_.limited.raise(limited);
}

}  // namespace weir::door
