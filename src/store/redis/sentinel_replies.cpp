#include "store/redis/sentinel_replies.h"

#include <array>
#include <utility>

#include "store/redis/error_kind.h"
#include "wire/resp/integer_text.h"

namespace weir::store::redis {
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
      return "the Sentinel wants a password; give it as `sentinel.password_file`";
    case ErrorKind::no_permission:
      return "the Sentinel's user may not ask; allow him `+sentinel|get-master-addr-by-name`";
    default:
      return "is no Sentinel, or refuses to answer: " + std::string(error.text()) +
             "; with `sentinel`, the urls are those of Sentinels (port 26379 by default)";
  }
}

}  // namespace

Result<net::Endpoint> read_master_address(const Reply& reply, std::string_view name, const net::Endpoint& asked) {
  if (reply.is(ReplyType::null)) {
    return failure(asked.text(), "the Sentinel knows no master called " + std::string(name) +
                                     "; check `sentinel.master`, `SENTINEL masters` lists the names");
  }
  if (reply.is(ReplyType::error)) return failure(asked.text(), refusal(reply));
  if (reply.is(ReplyType::array) && reply.size() == 2) {
    if (auto address = read_address(reply[0].text(), reply[1].text())) return std::move(*address);
  }
  return failure(asked.text(), "the Sentinel's answer is no address; check that it is a Sentinel");
}

std::optional<ServerRole> read_role(const Reply& reply) noexcept {
  if (!reply.is(ReplyType::array) || reply.size() == 0) return {};
  const std::string_view role = reply[0].text();
  if (role == "master") return ServerRole::master;
  if (role == "slave") return ServerRole::replica;
  if (role == "sentinel") return ServerRole::sentinel;
  return {};
}

// ["message", "+switch-master", "NAME OLD-IP OLD-PORT NEW-IP NEW-PORT"]
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
