#include "store/redis/replies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>

#include "store/redis/cluster.h"
#include "wire/resp/integer_text.h"

namespace weir::store::redis {
namespace {

constexpr std::array<std::pair<std::string_view, ErrorKind>, 20> words{{
    {"MOVED", ErrorKind::moved},
    {"ASK", ErrorKind::ask},
    {"TRYAGAIN", ErrorKind::try_again},
    {"CLUSTERDOWN", ErrorKind::cluster_down},
    {"NOSCRIPT", ErrorKind::no_script},
    {"READONLY", ErrorKind::read_only},
    {"MASTERDOWN", ErrorKind::master_down},
    {"LOADING", ErrorKind::loading},
    {"BUSY", ErrorKind::busy},
    {"CROSSSLOT", ErrorKind::cross_slot},
    {"OOM", ErrorKind::out_of_memory},
    {"NOREPLICAS", ErrorKind::no_replicas},
    {"MISCONF", ErrorKind::misconfigured},
    {"WRONGTYPE", ErrorKind::wrong_type},
    {"FOREIGN", ErrorKind::foreign},
    {"EDGES", ErrorKind::edges},
    {"NOAUTH", ErrorKind::no_auth},
    {"WRONGPASS", ErrorKind::wrong_pass},
    {"NOPERM", ErrorKind::no_permission},
    {"DENIED", ErrorKind::denied},
}};

// Removes and returns the first word.
std::string_view take_word(std::string_view& text) noexcept {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

// Unwraps a script's error: `ERR Error running script (call to f_...): @user_script:50: @user_script: 50: -READONLY You
// can't...`, or from a called command `...: @user_script:50: WRONGTYPE Operation...`. Returns any other error
// unchanged.
std::string_view unwrapped(std::string_view error) noexcept {
  if (!error.starts_with("ERR Error running script")) return error;
  for (const std::string_view before : {": -", ": "}) {
    const std::size_t at = error.rfind(before);
    if (at != std::string_view::npos) return error.substr(at + before.size());
  }
  return error;
}

}  // namespace

ErrorKind error_kind(std::string_view error) noexcept {
  error = unwrapped(error);
  const std::string_view first = take_word(error);
  const auto* const found = std::ranges::find(words, first, [](const auto& known) { return known.first; });
  return found == words.end() ? ErrorKind::other : found->second;
}

// Parses `MOVED 3999 127.0.0.1:6381`.
std::optional<Redirect> parse_redirect(std::string_view error, const net::Endpoint& replier) {
  const ErrorKind kind = error_kind(error);
  if (kind != ErrorKind::moved && kind != ErrorKind::ask) return {};
  take_word(error);
  const auto slot = wire::resp::parse_integer(take_word(error));
  if (!slot || *slot < 0 || *slot >= cluster_slots) return {};
  const std::string_view where = take_word(error);
  const std::size_t colon = where.rfind(':');  // the last one, for IPv6 addresses
  if (colon == std::string_view::npos) return {};
  const auto port = wire::resp::parse_integer(where.substr(colon + 1));
  auto to = node_address(where.substr(0, colon), port.value_or(0), replier);
  if (!to) return {};
  return Redirect{kind, static_cast<std::uint16_t>(*slot), std::move(*to)};
}
namespace {

std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

ServerInfo parse_info(std::string_view text) {
  ServerInfo info;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = line.substr(colon + 1);
    if (name == "redis_version") info.version = value;
    if (name == "maxmemory_policy") info.eviction_policy = value;
    if (name == "cluster_enabled") info.cluster = value == "1";
    if (name == "evicted_keys") std::from_chars(value.data(), value.data() + value.size(), info.evicted_keys);
  }
  return info;
}
namespace {

using wire::resp::Reply;
using wire::resp::ReplyType;

std::optional<net::Endpoint> read_address(std::string_view host, std::string_view port_text) {
  const auto port = wire::resp::parse_integer(port_text);
  if (host.empty() || !port || *port < 1 || *port > 65'535) return {};
  return net::Endpoint{std::string(host), static_cast<std::uint16_t>(*port), {}};
}

std::string refusal(const Reply& error) {
  switch (error_kind(error.text())) {
    case ErrorKind::no_auth:
      return "the Sentinel requires a password; set `sentinel.password_file`";
    case ErrorKind::no_permission:
      return "the Sentinel's user lacks permissions; grant `+sentinel|get-master-addr-by-name`";
    default:
      return "is not a Sentinel, or rejected the command: " + std::string(error.text()) +
             "; with `sentinel`, `urls` must list Sentinels (default port 26379)";
  }
}

}  // namespace

Result<net::Endpoint> read_master_address(const Reply& reply, std::string_view name, const net::Endpoint& replier) {
  if (reply.is(ReplyType::null)) {
    return failure(replier.text(), "the Sentinel does not know the master " + std::string(name) +
                                       "; check `sentinel.master` (`SENTINEL masters` lists the names)");
  }
  if (reply.is(ReplyType::error)) return failure(replier.text(), refusal(reply));
  if (reply.is(ReplyType::array) && reply.size() == 2) {
    if (auto address = read_address(reply[0].text(), reply[1].text())) return std::move(*address);
  }
  return failure(replier.text(), "invalid reply from the Sentinel; check that it is a Sentinel");
}

std::optional<ServerRole> read_role(const Reply& reply) noexcept {
  if (!reply.is(ReplyType::array) || reply.size() == 0) return {};
  const std::string_view role = reply[0].text();
  if (role == "master") return ServerRole::master;
  if (role == "slave") return ServerRole::replica;
  if (role == "sentinel") return ServerRole::sentinel;
  return {};
}

// Parses ["message", "+switch-master", "NAME OLD-IP OLD-PORT NEW-IP NEW-PORT"].
std::optional<MasterSwitch> read_master_switch(const Reply& reply) {
  if (!reply.is(ReplyType::array) && !reply.is(ReplyType::push)) return {};
  if (reply.size() != 3 || reply[0].text() != "message" || reply[1].text() != "+switch-master") return {};
  std::string_view rest = reply[2].text();
  std::array<std::string_view, 5> words;
  for (std::string_view& word : words) {
    if (rest.empty()) return {};
    word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size() == rest.size() ? word.size() : word.size() + 1);
  }
  auto from = read_address(words[1], words[2]);
  auto to = read_address(words[3], words[4]);
  if (!rest.empty() || words[0].empty() || !from || !to) return {};
  return MasterSwitch{std::string(words[0]), std::move(*from), std::move(*to)};
}

}  // namespace weir::store::redis
