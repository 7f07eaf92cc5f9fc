#include "store/redis/sentinel_watch.h"

#include <chrono>
#include <utility>

#include "store/redis/replies.h"
#include "wire/resp/writer.h"

namespace weir::store::redis {
namespace {

constexpr Duration between_tries = std::chrono::milliseconds(100);

}  // namespace

SentinelWatch::SentinelWatch(net::Loop& loop, const RedisOptions& options, Owner& owner)
    : loop_(loop), options_(options), owner_(owner) {}

// A subscribed connection accepts no other commands, so a new connection is made.
void SentinelWatch::find() {
  if (finding_) return;
  finding_ = true;
  connect();
}

void SentinelWatch::tick(SteadyTime now) {
  if (waiting_ && now >= retry_at_) return connect();
  if (asked_ && now - asked_at_ > options_.connect_timeout) {
    on_lost({connection_->endpoint().text(), "did not return the master's address in time"});
  }
}

void SentinelWatch::connect() {
  waiting_ = false;
  const SentinelOptions& sentinel = *options_.sentinel;
  connection_ = std::make_unique<ServerConnection>(
      loop_,
      ServerConnection::Options{.endpoint = sentinel.servers[next_ % sentinel.servers.size()],
                                .user = sentinel.user,
                                .password = sentinel.password,
                                .database = 0,
                                .tls = sentinel.tls,
                                .server_name = options_.server_name,
                                .client_name = options_.client_name,
                                .connect_timeout = options_.connect_timeout,
                                .reply_limits = {}},
      static_cast<ServerConnection::Owner&>(*this));
  connection_->connect();
}

void SentinelWatch::on_ready() {
  std::string commands;
  wire::resp::append_command(commands, {"SENTINEL", "get-master-addr-by-name", options_.sentinel->master});
  wire::resp::append_command(commands, {"SUBSCRIBE", "+switch-master"});
  asked_ = true;
  asked_at_ = SteadyTime::clock::now();
  connection_->send(commands);
}

void SentinelWatch::on_reply(const wire::resp::Reply& reply) {
  if (std::exchange(asked_, false)) {
    const auto master = read_master_address(reply, options_.sentinel->master, connection_->endpoint());
    if (!master) return on_lost(master.error());
    finding_ = false;
    return owner_.on_master(*master);
  }
  const auto news = read_master_switch(reply);
  if (news && news->name == options_.sentinel->master) owner_.on_master(news->to);
}

void SentinelWatch::on_lost(const Error& error) {
  connection_->close();
  asked_ = false;
  finding_ = waiting_ = true;
  ++next_;
  retry_at_ = SteadyTime::clock::now() + between_tries;
  owner_.on_sentinel_lost(error.message());
}

}  // namespace weir::store::redis
