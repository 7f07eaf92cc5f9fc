#include "server/redis_facts.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace weir::server {

using store::redis::ServerRole;

namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

constexpr std::size_t pings = 9;
constexpr std::string_view no_script = "0000000000000000000000000000000000000000";

std::int64_t number_in(std::string_view text) noexcept {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void take_info(const Reply& reply, RedisFacts& facts) {
  if (reply.is(ReplyType::error)) {
    facts.forbidden = reply.text();
  } else {
    facts.info = store::redis::parse_info(reply.text());
  }
}

// Of a master: its word, how far it is, and who follows it.
void take_role(const Reply& reply, RedisFacts& facts) {
  if (reply.is(ReplyType::error) && facts.forbidden.empty()) facts.forbidden = reply.text();
  const auto role = store::redis::read_role(reply);
  if (!role) return;
  facts.role = *role;
  if (*role == ServerRole::master && reply.size() > 2) facts.replicas = reply[2].size();
}

Result<void> measure(RedisInquiry& inquiry, RedisFacts& facts) {
  std::array<Duration, pings> times{};
  for (Duration& time : times) {
    if (auto asked = inquiry.ask({"PING"}, [](const Reply&) {}); !asked) return asked;
    time = inquiry.round_trip();
  }
  std::nth_element(times.begin(), times.begin() + pings / 2, times.end());
  facts.round_trip = times[pings / 2];
  Instant theirs{};
  const auto take = [&](const Reply& reply) {
    if (!reply.is(ReplyType::array) || reply.size() != 2) return;
    theirs = Instant(std::chrono::seconds(number_in(reply[0].text())) + Duration(number_in(reply[1].text())));
  };
  if (auto asked = inquiry.ask({"TIME"}, take); !asked) return asked;
  if (theirs != Instant{}) facts.clock_ahead = theirs - inquiry.asked_at();
  return {};
}

// What deciding takes, as far as it can be tried without doing it.
Result<void> try_rights(RedisInquiry& inquiry, const std::string& prefix, RedisFacts& facts) {
  const auto take = [&](const Reply& reply) {
    const bool refused = reply.is(ReplyType::error) && reply.text().starts_with("NOPERM");
    if (refused && facts.forbidden.empty()) facts.forbidden = reply.text();
  };
  const std::string key = prefix + "{check}";
  auto asked = inquiry.ask({"SCRIPT", "LOAD", "return 1"}, take);
  if (asked) asked = inquiry.ask({"EVALSHA", no_script, "1", key}, take);
  if (asked) asked = inquiry.ask({"MGET", key}, take);
  return asked;
}

}  // namespace

Result<RedisFacts> gather_facts(RedisInquiry& inquiry, const std::string& prefix) {
  RedisFacts facts;
  auto asked = inquiry.ask({"INFO"}, [&](const Reply& reply) { take_info(reply, facts); });
  if (asked) asked = inquiry.ask({"ROLE"}, [&](const Reply& reply) { take_role(reply, facts); });
  if (asked) asked = measure(inquiry, facts);
  if (asked && facts.role != ServerRole::sentinel) asked = try_rights(inquiry, prefix, facts);
  if (!asked) return tl::unexpected(asked.error());
  return facts;
}

bool is_too_old(std::string_view version) noexcept {
  const std::size_t dot = version.find('.');
  const std::int64_t major = number_in(version);
  const std::int64_t minor = dot == std::string_view::npos ? 0 : number_in(version.substr(dot + 1));
  return major < 6 || (major == 6 && minor < 2);
}

}  // namespace weir::server
