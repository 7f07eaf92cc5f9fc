#include "server/shared_limits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "server/store_access.h"

namespace weir::server {

void StoreLog::say(store::redis::News news, const std::string& line) {
  const std::lock_guard guard(mutex_);
  const auto now = std::chrono::steady_clock::now();
  const auto is_this = [&](const Said& said) { return said.line == line && now - said.at < together; };
  if (std::ranges::any_of(said_, is_this)) return;
  said_[next_++ % said_.size()] = {line, now};
  if (news == store::redis::News::good) {
    log_.info(line);
  } else {
    log_.warning(line);
  }
}

Result<SharedLimits> open_shared_limits(const RedisConfig& redis, const std::shared_ptr<StoreLog>& log) {
  auto access = open_store_access(redis);
  if (!access) return tl::unexpected(access.error());
  SharedLimits shared;
  shared.keys = std::make_shared<store::SharedKeys>(redis.prefix, access->key_secret);
  store::redis::RedisOptions& options = shared.options;
  std::vector<net::Endpoint> endpoints;
  for (const store::redis::Url& url : redis.urls) endpoints.push_back(url.endpoint);
  if (redis.sentinel) {
    options.sentinel = store::redis::SentinelOptions{.servers = std::move(endpoints),
                                                     .master = redis.sentinel->master,
                                                     .user = access->sentinels.user,
                                                     .password = access->sentinels.password,
                                                     .tls = access->tls};
  } else {
    options.servers = std::move(endpoints);
  }
  options.user = access->servers.user;
  options.password = access->servers.password;
  options.database = redis.urls.front().database;
  options.tls = access->tls;
  options.server_name = redis.tls.server_name;
  options.timeout = redis.timeout;
  options.log = [log](store::redis::News news, const std::string& line) { log->say(news, line); };
  return shared;
}

}  // namespace weir::server
