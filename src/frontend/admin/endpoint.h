// What a request to the admin frontend asks for, by its path.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "frontend/admin/target.h"

namespace weir::frontend {

enum class Subject : std::uint8_t {
  page,
  document,
  healthz,
  readyz,
  metrics,
  status,
  ruleset,
  denied,
  stream,
  history,
  limits,
  limit,
  consumer,
  reset_consumer,
  explain,
  policy,
  cluster,
  events,
  inspect,
  reset,
  inspect_descriptor,
  reset_descriptor,
  reload,
};

struct Endpoint {
  Subject subject;
  std::string_view name{};  // of a limit, a domain or a file of the page; views into the target, like the next
  std::string_view consumer{};
};

// A path of the listener, as docs/openapi.yaml writes it: `{name}` is one segment. A test compares them.
struct AdminRoute {
  std::string_view path;
  Subject subject;
};
[[nodiscard]] std::span<const AdminRoute> admin_routes() noexcept;

// Nothing: there is no such path.
[[nodiscard]] std::optional<Endpoint> endpoint_of(const Target& target);

// What it asks of its callers.
enum class Right : std::uint8_t { none, read, change };
[[nodiscard]] Right right_of(Subject subject) noexcept;

// Otherwise by GET and HEAD.
[[nodiscard]] bool is_by_post(Subject subject) noexcept;

// For a caller whose path is not there.
inline constexpr std::string_view what_there_is =
    "There are GET /metrics, /v1/status, /v1/ruleset, /v1/denied, /v1/stream, /v1/history, /v1/limits, "
    "/v1/limits/NAME, /v1/policy, /v1/cluster, /v1/events, /v1/limits/NAME/consumers/CONSUMER and "
    "/v1/domains/NAME/descriptor?KEY=VALUE, POST /v1/explain, /v1/consumer, /v1/consumer/reset, "
    "/v1/limits/NAME/consumers/CONSUMER/reset, /v1/domains/NAME/descriptor/reset?KEY=VALUE and /v1/reload, "
    "GET /healthz, /readyz and /openapi.yaml, and GET / for a page.";

}  // namespace weir::frontend
