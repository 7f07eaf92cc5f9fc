// grpc.health.v1.Health: whether this server takes requests. It knows itself as `` and as `ratelimit`.
#pragma once

#include <string_view>

#include "door/health.h"
#include "door/rls/call.h"
#include "wire/http2/server.h"

namespace weir::door {

class HealthService {
 public:
  HealthService(wire::http2::Server& server, const Health& health) noexcept
      : server_(server), health_(health), told_(health.serving()) {}

  void check(Exchange& exchange, std::string_view message);
  // Answers now, and again whenever it changes; notes `watched` at the exchange.
  void watch(Exchange& exchange, std::string_view message, std::uint32_t watched);

  // Tells those who watch if there is news. True if there was.
  bool tell(std::uint32_t watched);

 private:
  void say_status(Exchange& exchange, std::uint64_t status);

  wire::http2::Server& server_;
  const Health& health_;
  bool told_;
};

}  // namespace weir::door
