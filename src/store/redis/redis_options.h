// Options of a Redis store: servers, credentials and timeouts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/address.h"
#include "net/tls_context.h"
#include "store/outage/breaker.h"
#include "weir/time.h"

namespace weir::store::redis {

// The Sentinels that know the master's address.
struct SentinelOptions {
  std::vector<net::Endpoint> servers;
  std::string master;  // the master's name
  std::string user;
  std::string password;
  std::shared_ptr<const net::TlsClientContext> tls;
};

enum class Severity : std::uint8_t { info, warning };

struct RedisOptions {
  // One server, or some nodes of a cluster, from which the others are discovered. Empty with Sentinel.
  std::vector<net::Endpoint> servers;
  std::optional<SentinelOptions> sentinel;
  std::string user;
  std::string password;
  int database = 0;
  std::shared_ptr<const net::TlsClientContext> tls;  // null: plain text
  std::string server_name;
  std::string client_name = "weir";

  // The timeout of one group, measured from submit().
  Duration timeout = std::chrono::milliseconds(10);
  // The time in which a connection must become ready.
  Duration connect_timeout = std::chrono::seconds(1);
  Breaker::Options breaker;  // `slow` is ignored, because `timeout` is used

  // Receives one line per event, on the loop's thread.
  std::function<void(Severity severity, const std::string& line)> log;
};

}  // namespace weir::store::redis
