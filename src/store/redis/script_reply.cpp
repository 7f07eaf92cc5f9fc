#include "store/redis/script_reply.h"

namespace weir::store::redis {
namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

bool is_number(const Reply& reply) noexcept {
  return reply.is(ReplyType::integer) && reply.integer() >= 0 && reply.integer() < (std::int64_t{1} << 53);
}

bool are_numbers(const Reply& array) noexcept {
  for (const Reply number : array) {
    if (!is_number(number)) return false;
  }
  return true;
}

bool is_plain_state(const Reply& reply) noexcept {
  return reply.is(ReplyType::null) || reply.is(ReplyType::bulk);
}

bool is_log_state(const Reply& reply) noexcept {
  if (reply.is(ReplyType::null)) return true;
  return reply.is(ReplyType::array) && reply.size() >= 2 && reply.size() % 2 == 0 && are_numbers(reply);
}

}  // namespace

std::optional<ScriptReply> parse_script_reply(const Reply& reply, std::size_t plain_keys, std::size_t keys,
                                              std::size_t evaluations) noexcept {
  if (!reply.is(ReplyType::array) || reply.size() != 3) return {};
  auto part = reply.begin();
  const Reply now = *part;
  const Reply states = *++part;
  const Reply admitted = *++part;
  if (!is_number(now) || !states.is(ReplyType::array) || !admitted.is(ReplyType::array)) return {};
  if (states.size() != keys || admitted.size() != evaluations) return {};
  std::size_t key = 0;
  for (const Reply state : states) {
    if (!(key++ < plain_keys ? is_plain_state(state) : is_log_state(state))) return {};
  }
  if (!are_numbers(admitted)) return {};
  return ScriptReply{Instant{Duration{now.integer()}}, states, admitted};
}

std::optional<LogExcerpt> parse_log(const Reply& reply, std::vector<LogExcerpt::Point>& points) {
  points.clear();
  auto number = reply.begin();
  const std::int64_t used = (*number).integer();
  const std::int64_t newest = (*++number).integer();
  while (++number != reply.end()) {
    const std::int64_t cost = (*number).integer();
    points.push_back({cost, (*++number).integer()});
  }
  const LogExcerpt log{used, newest, points};
  if (!log.is_sound()) return {};
  return log;
}

}  // namespace weir::store::redis
