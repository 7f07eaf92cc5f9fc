// The field `grpc-timeout`: how long the caller waits. `100m` is a tenth of a second.
#pragma once

#include <optional>
#include <string_view>

#include "weir/time.h"

namespace weir::wire::grpc {

// At most eight digits and a unit of H, M, S, m, u, n; nanoseconds are rounded down. Empty if it is something else.
[[nodiscard]] std::optional<Duration> parse_timeout(std::string_view text) noexcept;

}  // namespace weir::wire::grpc
