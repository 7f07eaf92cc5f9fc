#include "redis/plain_load.h"

#include <cstdlib>
#include <iostream>

#include "wire/resp/writer.h"

namespace weir::bench {
namespace {

// KEYS: the arrival times. ARGV, per key: burst, microseconds per unit. Returns admitted, and per key remaining,
// retry_after, reset_after.
constexpr std::string_view one_key = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local token = tonumber(ARGV[2])
local arrival = tonumber(redis.call('GET', KEYS[1]) or now)
if arrival < now then arrival = now end
local new = arrival + token
local room = ARGV[1] * token - (new - now)
if room < 0 then return {0, 0, -room, arrival - now} end
redis.call('SET', KEYS[1], string.format('%.0f', new), 'PXAT', string.format('%.0f', math.ceil(new / 1000)))
return {1, math.floor(room / token), 0, new - now}
)lua";

constexpr std::string_view two_keys = R"lua(
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local new, answer = {}, {1}
local arrivals = redis.call('MGET', KEYS[1], KEYS[2])
for i = 1, 2 do
  local arrival = tonumber(arrivals[i] or now)
  if arrival < now then arrival = now end
  local token = tonumber(ARGV[2 * i])
  new[i] = arrival + token
  local room = ARGV[2 * i - 1] * token - (new[i] - now)
  if room < 0 then answer[1] = 0 end
  answer[3 * i - 1] = math.floor(math.max(room, 0) / token)
  answer[3 * i] = math.max(-room, 0)
  answer[3 * i + 1] = arrival - now
end
if answer[1] == 1 then
  for i = 1, 2 do
    redis.call('SET', KEYS[i], string.format('%.0f', new[i]), 'PXAT', string.format('%.0f', math.ceil(new[i] / 1000)))
  end
end
return answer
)lua";

using wire::resp::append_command;

struct Texts {
  std::string burst;
  std::string token;
};

Texts texts_of(const Numbers& numbers) {
  return {std::to_string(numbers.burst), std::to_string(numbers.token_us)};
}

store::redis::ServerConnection::Options options_for(const net::Endpoint& server) {
  store::redis::ServerConnection::Options options;
  options.endpoint = server;
  options.client_name = "plain";
  return options;
}

}  // namespace

PlainLoad::PlainLoad(net::Loop& loop, const net::Endpoint& server)
    : connection_(loop, options_for(server), static_cast<store::redis::ServerConnection::Owner&>(*this)) {
  keys_.all(all_);
  connection_.connect();
}

void PlainLoad::on_ready() {
  append_command(bytes_, {"SCRIPT", "LOAD", one_key});
  append_command(bytes_, {"SCRIPT", "LOAD", two_keys});
  connection_.send(bytes_);
}

void PlainLoad::begin(Work work, std::size_t under_way) {
  work_ = work;
  ending_ = false;
  bytes_.clear();
  for (std::size_t i = 0; i < under_way; ++i) append_request();
  under_way_ += under_way;
  connection_.send(bytes_);
}

void PlainLoad::append_request() {
  static const Texts user = texts_of(of_a_user);
  static const Texts many = texts_of(of_many);
  keys_.next(work_, key_);
  if (work_ == Work::user_and_all) {
    append_command(bytes_, {"EVALSHA", two_, "2", key_, all_, user.burst, user.token, many.burst, many.token});
  } else {
    const Texts& one = work_ == Work::hot_key ? many : user;
    append_command(bytes_, {"EVALSHA", one_, "1", key_, one.burst, one.token});
  }
}

void PlainLoad::ping() {
  pinging_ = true;
  bytes_.clear();
  append_command(bytes_, {"PING"});
  connection_.send(bytes_);
}

void PlainLoad::on_reply(const wire::resp::Reply& reply) {
  if (!ready_) {
    (one_.empty() ? one_ : two_) = reply.text();
    ready_ = !two_.empty();
    return;
  }
  if (pinging_) {
    pinging_ = false;
    on_pong();
    return;
  }
  ++answered_;
  if (!reply.is(wire::resp::ReplyType::array) || reply[0].integer() != 1) ++failed_;
  if (ending_) {
    --under_way_;
    return;
  }
  bytes_.clear();
  append_request();
  connection_.send(bytes_);
}

void PlainLoad::on_lost(const Error& error) {
  std::cerr << error.message() << '\n';
  std::exit(EXIT_FAILURE);
}

}  // namespace weir::bench
