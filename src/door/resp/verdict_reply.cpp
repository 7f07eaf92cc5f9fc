#include "door/resp/verdict_reply.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace weir::door {
namespace {

std::int64_t saturated(std::uint64_t number) noexcept {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(number, largest));
}

}  // namespace

void write_verdict(const engine::Verdict& verdict, std::string_view limit, wire::resp::Protocol protocol,
                   wire::resp::ReplyWriter& reply) {
  const bool is_map = protocol == wire::resp::Protocol::resp3;
  const auto name = [&](std::string_view text) {
    if (is_map) reply.bulk(text);
  };
  const bool has_limit = verdict.limit != engine::Verdict::no_limit;
  if (is_map) {
    reply.map(8);
    reply.bulk("admitted");
    reply.boolean(verdict.admitted);
  } else {
    reply.array(8);
    reply.integer(verdict.admitted ? 0 : 1);
  }
  name("quota"), reply.integer(has_limit ? saturated(verdict.decision.limit) : -1);
  name("remaining"), reply.integer(has_limit ? saturated(verdict.decision.remaining) : -1);
  name("retry_after_us"), reply.integer(verdict.retry_after ? verdict.retry_after->count() : -1);
  name("reset_after_us"), reply.integer(verdict.decision.reset_after.count());
  name("delay_us"), reply.integer(verdict.delay.count());
  name("limit");
  if (has_limit) {
    reply.bulk(limit);
  } else {
    reply.null();
  }
  name("reason"), reply.bulk(name_of(verdict.reason));
}

}  // namespace weir::door
