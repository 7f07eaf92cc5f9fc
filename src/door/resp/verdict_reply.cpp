#include "door/resp/verdict_reply.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

namespace weir::door {
namespace {

using wire::resp::Protocol;
using wire::resp::ReplyWriter;

std::int64_t saturated(std::uint64_t number) noexcept {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(number, largest));
}

// Redis's clients tell errors by their first word.
void refuse(const Error& error, ReplyWriter& reply) {
  reply.error("ERR " + error.message());
}

void write_verdict(const engine::Verdict& verdict, const engine::Plan& plan, Protocol protocol, ReplyWriter& reply) {
  const bool is_map = protocol == Protocol::resp3;
  const auto name = [&](std::string_view text) {
    if (is_map) reply.bulk(text);
  };
  const bool has_limit = verdict.limit != engine::Verdict::no_limit;
  const bool has_numbers = has_limit && !engine::is_outright(verdict.reason);
  if (is_map) {
    reply.map(8);
    reply.bulk("admitted");
    reply.boolean(verdict.admitted);
  } else {
    reply.array(8);
    reply.integer(verdict.admitted ? 0 : 1);
  }
  name("quota"), reply.integer(has_numbers ? saturated(verdict.decision.limit) : -1);
  name("remaining"), reply.integer(has_numbers ? saturated(verdict.decision.remaining) : -1);
  name("retry_after_us"), reply.integer(verdict.retry_after ? verdict.retry_after->count() : -1);
  name("reset_after_us"), reply.integer(verdict.decision.reset_after.count());
  name("delay_us"), reply.integer(verdict.delay.count());
  name("limit");
  if (has_limit) {
    reply.bulk(plan.ruleset().limits[verdict.limit].name);
  } else {
    reply.null();
  }
  name("reason"), reply.bulk(name_of(verdict.reason));
}

}  // namespace

void reply_verdict(const Result<engine::Verdict>& verdict, const engine::Plan& plan, Protocol protocol,
                   ReplyWriter& reply) {
  if (!verdict) return refuse(verdict.error(), reply);
  write_verdict(*verdict, plan, protocol, reply);
}

void reply_reset(const Result<void>& done, ReplyWriter& reply) {
  if (!done) return refuse(done.error(), reply);
  reply.simple_string("OK");
}

}  // namespace weir::door
