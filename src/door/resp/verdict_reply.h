// A verdict as WEIR.CHECK and WEIR.PEEK reply it. In RESP2 an array:
//
//   0 admitted / 1 denied, quota, remaining, retry_after, reset_after, delay, limit, reason
//
// and in RESP3 a map of the same by name: admitted (a boolean), quota, remaining, retry_after_us, reset_after_us,
// delay_us, limit, reason. Times are in microseconds, exact: who comes back after retry_after is admitted. It is 0 when
// admitted and -1 when waiting does not help. Where no limit has a part in it (a tier without limits), limit is null,
// and quota and remaining are -1.
#pragma once

#include "engine/plan.h"
#include "engine/verdict.h"
#include "weir/result.h"
#include "wire/resp/reply_writer.h"

namespace weir::door {

// `plan`: the verdict's.
void reply_verdict(const Result<engine::Verdict>& verdict, const engine::Plan& plan, wire::resp::Protocol protocol,
                   wire::resp::ReplyWriter& reply);

// WEIR.RESET.
void reply_reset(const Result<void>& done, wire::resp::ReplyWriter& reply);

}  // namespace weir::door
