// A verdict as WEIR.CHECK and WEIR.PEEK reply it. In RESP2 an array:
//
//   0 admitted / 1 denied, quota, remaining, retry_after, reset_after, delay, limit, reason
//
// and in RESP3 a map of the same by name: admitted (a boolean), quota, remaining, retry_after_us, reset_after_us,
// delay_us, limit, reason. Times are in microseconds, exact: who comes back after retry_after is admitted. It is 0 when
// admitted and -1 when waiting does not help. Where no limit has a part in it (a tier without limits), limit is null,
// and quota and remaining are -1.
#pragma once

#include <string_view>

#include "engine/verdict.h"
#include "wire/resp/reply_writer.h"

namespace weir::door {

// `limit`: the name of the limit that decided; empty if none did.
void write_verdict(const engine::Verdict& verdict, std::string_view limit, wire::resp::Protocol protocol,
                   wire::resp::ReplyWriter& reply);

}  // namespace weir::door
