#include "store/redis/error_kind.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "store/redis/cluster_slot.h"
#include "store/redis/node_address.h"
#include "wire/resp/integer_text.h"

namespace weir::store::redis {
namespace {

constexpr std::array<std::pair<std::string_view, ErrorKind>, 19> words{{
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
    {"NOAUTH", ErrorKind::no_auth},
    {"WRONGPASS", ErrorKind::wrong_pass},
    {"NOPERM", ErrorKind::no_permission},
    {"DENIED", ErrorKind::denied},
}};

// Takes the first word off.
std::string_view take_word(std::string_view& text) noexcept {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

// What is wrapped into a script's error: `ERR Error running script (call to f_...): @user_script:50: @user_script: 50:
// -READONLY You can't...`, from a command that was called `...: @user_script:50: WRONGTYPE Operation...`. Otherwise the
// error itself.
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

// `MOVED 3999 127.0.0.1:6381`
std::optional<Redirect> parse_redirect(std::string_view error, const net::Endpoint& asked) {
  const ErrorKind kind = error_kind(error);
  if (kind != ErrorKind::moved && kind != ErrorKind::ask) return {};
  take_word(error);
  const auto slot = wire::resp::parse_integer(take_word(error));
  if (!slot || *slot < 0 || *slot >= cluster_slots) return {};
  const std::string_view where = take_word(error);
  const std::size_t colon = where.rfind(':');  // of an IPv6 address, the last one
  if (colon == std::string_view::npos) return {};
  const auto port = wire::resp::parse_integer(where.substr(colon + 1));
  auto to = node_address(where.substr(0, colon), port.value_or(0), asked);
  if (!to) return {};
  return Redirect{kind, static_cast<std::uint16_t>(*slot), std::move(*to)};
}

}  // namespace weir::store::redis
