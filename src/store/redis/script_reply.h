// The script's reply, checked before any of it is used: a server that is not ours may say anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "store/redis/replay.h"
#include "weir/time.h"
#include "wire/resp/reply.h"

namespace weir::store::redis {

struct ScriptReply {
  Instant now;
  wire::resp::Reply states;    // one for each key: plain ones first, then logs
  wire::resp::Reply admitted;  // a number for each evaluation
};

// Nothing if it is not of this form. An error of the server is not.
[[nodiscard]] std::optional<ScriptReply> parse_script_reply(const wire::resp::Reply& reply, std::size_t plain_keys,
                                                            std::size_t keys, std::size_t evaluations) noexcept;

// A log of the reply, not null. `points` is room for it. Nothing if it is not sound.
[[nodiscard]] std::optional<LogExcerpt> parse_log(const wire::resp::Reply& reply,
                                                  std::vector<LogExcerpt::Point>& points);

}  // namespace weir::store::redis
