// Parses URLs, and server replies about clusters, masters and errors, from any bytes: the result is complete and within
// its bounds.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "store/redis/cluster.h"
#include "store/redis/replies.h"
#include "store/redis/url.h"
#include "wire/resp/reply_parser.h"

namespace {

using namespace weir::store::redis;
using weir::net::Endpoint;

void require(bool holds) {
  if (!holds) std::abort();
}

bool reachable(const Endpoint& endpoint) {
  return endpoint.unix_socket() ? endpoint.path.starts_with('/') : endpoint.port > 0 && endpoint.path.empty();
}

void check_url(std::string_view text) {
  const auto url = parse_url(text);
  if (url) {
    require(reachable(url->endpoint) && url->database >= 0);
    require(url->user.empty() || !url->password.empty());
  } else {
    const std::size_t at = text.rfind('@');  // the password is before it
    require(at == std::string_view::npos || url.error().where.ends_with(text.substr(at)));
  }
}

void check_error(std::string_view text, const Endpoint& asked) {
  const auto redirect = parse_redirect(text, asked);
  if (!redirect) return;
  require(redirect->kind == error_kind(text));
  require(redirect->slot < cluster_slots && reachable(redirect->to) && !redirect->to.host.empty());
}

void check_reply(const weir::wire::resp::Reply& reply, const Endpoint& asked) {
  if (const auto map = ClusterMap::read(reply, asked)) {
    bool complete = true;
    for (std::uint16_t slot = 0; slot < cluster_slots; ++slot) {
      const Endpoint* const master = map->master_of(slot);
      require(master == nullptr || (reachable(*master) && !master->host.empty()));
      complete = complete && master != nullptr;
    }
    require(complete == map->complete());
  }
  if (const auto master = read_master_address(reply, "name", asked)) require(reachable(*master));
  if (const auto change = read_master_switch(reply)) require(reachable(change->from) && reachable(change->to));
  (void)read_role(reply);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(data, data + size);
  const Endpoint host{"10.0.0.9", 6379, ""};
  const Endpoint local{"", 0, "/run/redis.sock"};
  check_url(input);
  require(cluster_slot(input) < cluster_slots);
  for (const Endpoint& asked : {host, local}) {
    check_error(input, asked);
    weir::wire::resp::ReplyParser parser;
    if (parser.next(input).status == weir::wire::resp::ReplyParser::Status::reply) check_reply(parser.reply(), asked);
  }
  return 0;
}
