// Which Redis a store is on, and how patient it is with it.
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

// The servers that know where the master is.
struct SentinelOptions {
  std::vector<net::Endpoint> servers;
  std::string master;  // the name that they have for it
  std::string user;
  std::string password;
  std::shared_ptr<const net::TlsClientContext> tls;
};

enum class News : std::uint8_t { good, bad };

struct RedisOptions {
  // One server; or some of a cluster, which name the others. With Sentinel: none.
  std::vector<net::Endpoint> servers;
  std::optional<SentinelOptions> sentinel;
  std::string user;
  std::string password;
  int database = 0;
  std::shared_ptr<const net::TlsClientContext> tls;  // null: plain
  std::string server_name;
  std::string client_name = "weir";

  // Of one group, from submit() on.
  Duration timeout = std::chrono::milliseconds(10);
  // From connecting until the connection is ready.
  Duration timeout = std::chrono::seconds(1);
  Breaker::Options breaker;  // `slow` is the timeout

  // One line, when something changes; on the loop's thread.
  std::function<void(News news, const std::string& line)> log;
};

}  // namespace weir::store::redis
