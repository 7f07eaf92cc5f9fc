// Commands on the connection: authentication, protocol version, names (CLIENT) and replies.
#include <algorithm>
#include <optional>
#include <string>

#include "base/ascii.h"
#include "frontend/resp/argument.h"
#include "frontend/resp/session.h"
#include "wire/resp/integer_text.h"

namespace weir::frontend {

using wire::resp::parse_integer;
using wire::resp::Protocol;

namespace {

constexpr std::size_t max_client_name_length = 256;
constexpr std::string_view bad_client_name = "ERR Client names cannot contain spaces, newlines or special characters.";

// Accepts printable characters without spaces, like Redis. An empty name removes the name.
bool is_client_name(std::string_view name) noexcept {
  return name.size() <= max_client_name_length &&
         std::ranges::all_of(name, [](char c) { return c >= '!' && c <= '~'; });
}

constexpr std::string_view wrong_token = "WRONGPASS invalid username-password pair or user is disabled.";

// The options after the version in HELLO.
struct HelloOptions {
  std::optional<std::string_view> token;
  std::optional<std::string_view> name;
  std::string_view unknown;  // the first unknown option
};

HelloOptions hello_options(std::span<const std::string_view> words) noexcept {
  HelloOptions options;
  while (!words.empty()) {
    if (base::equals_lower(words[0], "auth") && words.size() >= 3) {
      options.token = words[2];
      words = words.subspan(3);
    } else if (base::equals_lower(words[0], "setname") && words.size() >= 2) {
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

void RespFrontend::Session::ping(Arguments arguments, Writer& reply) {
  if (arguments.size() > 2) return reply.error("ERR wrong number of arguments for 'ping' command");
  if (arguments.size() == 2) return reply.bulk(arguments[1]);
  reply.simple_string("PONG");
}

void RespFrontend::Session::echo(Arguments arguments, Writer& reply) {
  reply.bulk(arguments[1]);
}

void RespFrontend::Session::auth(Arguments arguments, Writer& reply) {
  if (arguments.size() > 3) return reply.error(syntax_error);
  const bool needs_no_token = !frontend_.options_.token.is_set() && !frontend_.options_.admin_token.is_set();
  if (authenticate(arguments.back()) || (needs_no_token && arguments.size() == 3)) return reply.simple_string("OK");
  reply.error(needs_no_token ? "ERR AUTH <password> called without any password configured for the default user. "
                               "Are you sure your configuration is correct?"
                             : wrong_token);
}

void RespFrontend::Session::hello(Arguments arguments, Writer& reply) {
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
  const bool has_token = frontend_.options_.token.is_set() || frontend_.options_.admin_token.is_set();
  if (options.token && !authenticate(*options.token) && has_token) return reply.error(wrong_token);
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

void RespFrontend::Session::select(Arguments arguments, Writer& reply) {
  const auto index = parse_integer(arguments[1]);
  if (!index) return reply.error(not_an_integer);
  if (*index != 0) return reply.error("ERR DB index is out of range");
  reply.simple_string("OK");
}

void RespFrontend::Session::reset(Arguments /*arguments*/, Writer& reply) {
  set_rights(Rights::none);
  protocol_ = Protocol::resp2;
  replies_ = Replies::on;
  transaction_.reset();
  name_.clear();
  reply.simple_string("RESET");
}

void RespFrontend::Session::quit(Arguments /*arguments*/, Writer& reply) {
  closing_ = true;
  reply.simple_string("OK");
}

// Returns one line in Redis's format.
std::string RespFrontend::Session::description() const {
  std::string text = "id=" + std::to_string(id_);
  text += " addr=" + address_;
  text += " name=" + name_;
  text += " db=0 user=default resp=" + std::to_string(static_cast<int>(protocol_));
  text += " lib-name=" + library_;
  text += " lib-ver=" + library_version_;
  return text += '\n';
}

void RespFrontend::Session::client_id(Arguments /*arguments*/, Writer& reply) {
  reply.integer(id_);
}

void RespFrontend::Session::client_info(Arguments /*arguments*/, Writer& reply) {
  reply.verbatim(description());
}

void RespFrontend::Session::client_get_name(Arguments /*arguments*/, Writer& reply) {
  if (name_.empty()) return reply.null();
  reply.bulk(name_);
}

void RespFrontend::Session::client_set_name(Arguments arguments, Writer& reply) {
  if (!is_client_name(arguments[2])) return reply.error(bad_client_name);
  name_ = arguments[2];
  reply.simple_string("OK");
}

void RespFrontend::Session::client_set_info(Arguments arguments, Writer& reply) {
  const bool is_name = base::equals_lower(arguments[2], "lib-name");
  if (!is_name && !base::equals_lower(arguments[2], "lib-ver")) {
    return reply.error("ERR Unrecognized option '" + std::string(arguments[2]) + '\'');
  }
  if (!is_client_name(arguments[3])) {
    return reply.error("ERR " + std::string(is_name ? "lib-name" : "lib-ver") +
                       " cannot contain spaces, newlines or special characters.");
  }
  (is_name ? library_ : library_version_) = arguments[3];
  reply.simple_string("OK");
}

void RespFrontend::Session::client_switch(Arguments arguments, Writer& reply) {
  const bool is_known = base::equals_lower(arguments[2], "on") || base::equals_lower(arguments[2], "off");
  if (!is_known) return reply.error(syntax_error);
  reply.simple_string("OK");
}

// Only ON gets a reply.
void RespFrontend::Session::client_reply(Arguments arguments, Writer& reply) {
  if (base::equals_lower(arguments[2], "on")) {
    replies_ = Replies::on;
    reply.simple_string("OK");
  } else if (base::equals_lower(arguments[2], "off")) {
    replies_ = Replies::off;
  } else if (base::equals_lower(arguments[2], "skip")) {
    if (replies_ != Replies::off) replies_ = Replies::skip_next;
  } else {
    reply.error(syntax_error);
  }
}

}  // namespace weir::frontend
