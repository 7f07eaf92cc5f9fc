// Reads the JSON bodies of requests to the admin listener. Nothing of them is stored or logged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/result.h"

namespace weir::frontend {

// {"consumer": "user=alice", "tier": "pro", "limit": "api-by-user"}. The consumer is never empty.
struct ConsumerBody {
  std::string consumer;
  std::string tier;
  std::string limit;
};
[[nodiscard]] Result<ConsumerBody> read_consumer_body(std::string_view body);

// {"method": "POST", "path": "/login", "ip": "127.0.0.1", "headers": {"X-Plan": "pro"}, "user", "api_key", "tier",
//  "cost": 1}. The value of a header is a string or an array of strings.
struct ExplainBody {
  std::string method = "GET";
  std::string path;
  std::string ip = "127.0.0.1";
  std::string user;
  std::string api_key;
  std::string tier;
  std::vector<std::pair<std::string, std::string>> headers;
  std::optional<std::uint64_t> cost;
};
[[nodiscard]] Result<ExplainBody> read_explain_body(std::string_view body);

}  // namespace weir::frontend
