#include "server/station.h"

#include <algorithm>
#include <utility>

#include "server/token_file.h"
#include "store/redis/redis_store.h"

namespace weir::server {
namespace {

door::AuthHeaders auth_headers(AuthHeaders configured) noexcept {
  switch (configured) {
    case AuthHeaders::original:
      return door::AuthHeaders::original;
    case AuthHeaders::forwarded:
      return door::AuthHeaders::forwarded;
    case AuthHeaders::path:
      return door::AuthHeaders::path;
    case AuthHeaders::automatic:
      break;
  }
  return door::AuthHeaders::agreeing;
}

// None if the door does not ask for one.
Result<door::Token> token_of(const DoorConfig& door) {
  if (!door.token_file) return door::Token();
  auto token = read_token(*door.token_file);
  if (!token) return tl::unexpected(token.error());
  return door::Token(std::move(*token));
}

door::HttpOptions http_options(const HttpDoorConfig& config, door::Token token, std::size_t loops) {
  door::HttpOptions options;
  options.limits.body_bytes = config.max_body;
  options.hosts = door::HostNames(config.hosts);
  options.token = std::move(token);
  options.auth_headers = auth_headers(config.auth_headers);
  options.hold_max = config.hold_max;
  options.hold_limit = (config.hold_limit + loops - 1) / loops;
  return options;
}

door::RlsOptions rls_options(const RlsDoorConfig& config, door::Token token) {
  door::RlsOptions options;
  options.limits.body_bytes = config.max_message;
  options.token = std::move(token);
  return options;
}

}  // namespace

Result<DoorOptions> door_options(const Config& config, const std::string& admin_token, std::size_t loops) {
  DoorOptions options;
  options.settings = {config.fields.choice, config.fields.retry_jitter};
  const door::Token admin(admin_token);
  if (const auto& http = config.doors.http) {
    auto token = token_of(*http);
    if (!token) return tl::unexpected(token.error());
    options.http = http_options(*http, std::move(*token), loops);
  }
  if (const auto& rls = config.doors.rls) {
    auto token = token_of(*rls);
    if (!token) return tl::unexpected(token.error());
    options.rls = rls_options(*rls, std::move(*token));
  }
  if (const auto& resp = config.doors.resp) {
    auto token = token_of(*resp);
    if (!token) return tl::unexpected(token.error());
    options.resp = door::RespOptions{.limits = {}, .token = std::move(*token), .admin_token = admin};
  }
  if (const auto& door = config.doors.admin) {
    auto token = token_of(*door);
    if (!token) return tl::unexpected(token.error());
    options.admin = door::AdminOptions{
        .limits = {}, .hosts = door::HostNames(door->hosts), .token = std::move(*token), .admin_token = admin};
  }
  return options;
}

Station::Station(const Premises& premises, const DoorOptions& options, net::Loop& loop, store::StoreCounts* counts)
    : recorder_(premises.names, premises.log, loop.index()),
      store_(premises.redis == nullptr ? nullptr
                                       : std::make_unique<store::redis::RedisStore>(loop, *premises.redis, *counts)),
      desk_(premises.engine, premises.clock, options.settings, &recorder_, store_.get()) {
  if (options.http) http_.emplace(desk_, premises.health, *options.http);
  if (options.rls) rls_.emplace(desk_, premises.health, *options.rls);
  if (options.resp) resp_.emplace(desk_, *premises.throttle, *options.resp);
  if (options.admin) admin_.emplace(desk_, premises.backend, premises.health, *options.admin);
}

// The store answers what is under way, to hearings that need the desk for it.
Station::~Station() {
  store_.reset();
}

void Station::change(const DoorOptions& options) {
  desk_.change(options.settings);
  if (http_ && options.http) http_->change(*options.http);
  if (rls_ && options.rls) rls_->change(*options.rls);
  if (resp_ && options.resp) resp_->change(*options.resp);
  if (admin_ && options.admin) admin_->change(*options.admin);
}

}  // namespace weir::server
