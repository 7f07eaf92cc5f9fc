// What holds where nobody has written a policy yet: enough to try everything, and a limit that no one would mind.
#pragma once

#include <string_view>

namespace weir::server {

inline constexpr std::string_view default_policy = R"(version: 1

limits:
  - name: by-caller
    consumer_key: [user, ip]
    algorithm: token_bucket
    rate: 100/min
    burst: 20
)";

}  // namespace weir::server
