// Commands about the connection itself: who is there, and how it wants to be answered.
#include <optional>
#include <string>

#include "door/resp/argument.h"
#include "door/resp/client_name.h"
#include "door/resp/server_version.h"
#include "door/resp/session.h"
#include "wire/resp/integer_text.h"

namespace weir::door {

using wire::resp::parse_integer;
using wire::resp::Protocol;

namespace {

constexpr std::string_view wrong_token = "WRONGPASS invalid username-password pair or user is disabled.";

// What follows the version in HELLO.
struct HelloOptions {
  std::optional<std::string_view> token;
  std::optional<std::string_view> name;
  std::string_view unknown;  // the first option that is none
};

HelloOptions hello_options(std::span<const std::string_view> words) noexcept {
  HelloOptions options;
  while (!words.empty()) {
    if (equals_ignoring_case(words[0], "auth") && words.size() >= 3) {
      options.token = words[2];
      words = words.subspan(3);
    } else if (equals_ignoring_case(words[0], "setname") && words.size() >= 2) {
      options.name = words[1];
      words = words.subspan(2);
    } else {
      options.unknown = words[0];
      return options;
    }
  }
  return options;
}

}  // namespace

void RespDoor::Session::ping(Arguments arguments, Writer& reply) {
  if (arguments.size() > 2) return reply.error("ERR wrong number of arguments for 'ping' command");
  if (arguments.size() == 2) return reply.bulk(arguments[1]);
  reply.simple_string("PONG");
}

void RespDoor::Session::echo(Arguments arguments, Writer& reply) {
  reply.bulk(arguments[1]);
}

void RespDoor::Session::auth(Arguments arguments, Writer& reply) {
  if (arguments.size() > 3) return reply.error(syntax_error);
  const bool asks_for_none = !door_.options_.token.is_set() && !door_.options_.admin_token.is_set();
  if (show_token(arguments.back()) || (asks_for_none && arguments.size() == 3)) return reply.simple_string("OK");
  reply.error(asks_for_none ? "ERR AUTH <password> called without any password configured for the default user. "
                              "Are you sure your configuration is correct?"
                            : wrong_token);
}

void RespDoor::Session::hello(Arguments arguments, Writer& reply) {
  Protocol wanted = protocol_;
  HelloOptions options;
  if (arguments.size() > 1) {
    const auto version = parse_integer(arguments[1]);
    if (!version) return reply.error("ERR Protocol version is not an integer or out of range");
    if (*version != 2 && *version != 3) return reply.error("NOPROTO unsupported protocol version");
    wanted = *version == 2 ? Protocol::resp2 : Protocol::resp3;
    options = hello_options(arguments.subspan(2));
  }
  if (options.unknown.data() != nullptr) {
    return reply.error("ERR Syntax error in HELLO option '" + std::string(options.unknown) + '\'');
  }
  if (options.name && !is_client_name(*options.name)) return reply.error(bad_client_name);
  const bool has_token = door_.options_.token.is_set() || door_.options_.admin_token.is_set();
  if (options.token && !show_token(*options.token) && has_token) return reply.error(wrong_token);
  if (is_stranger()) {
    return reply.error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> "
        "option can be used to authenticate the client and select the RESP protocol version at the same time");
  }
  if (options.name) name_ = *options.name;
  protocol_ = wanted;
  reply.set_protocol(wanted);

  reply.map(8);
  reply.bulk("server"), reply.bulk("redis");
  reply.bulk("version"), reply.bulk(redis_version);
  reply.bulk("proto"), reply.integer(static_cast<std::int64_t>(wanted));
  reply.bulk("id"), reply.integer(id_);
  reply.bulk("mode"), reply.bulk("standalone");
  reply.bulk("role"), reply.bulk("master");
  reply.bulk("modules"), reply.array(0);
  reply.bulk("weir_version"), reply.bulk(weir_version);
}

void RespDoor::Session::select(Arguments arguments, Writer& reply) {
  const auto index = parse_integer(arguments[1]);
  if (!index) return reply.error(not_an_integer);
  if (*index != 0) return reply.error("ERR DB index is out of range");
  reply.simple_string("OK");
}

void RespDoor::Session::reset(Arguments /*arguments*/, Writer& reply) {
  set_rights(Rights::none);
  protocol_ = Protocol::resp2;
  replies_ = Replies::on;
  transaction_.reset();
  name_.clear();
  reply.simple_string("RESET");
}

void RespDoor::Session::quit(Arguments /*arguments*/, Writer& reply) {
  closing_ = true;
  reply.simple_string("OK");
}

}  // namespace weir::door
