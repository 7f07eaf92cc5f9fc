// CLIENT: what a connection is called, and what it is told about itself.
#include <string>

#include "door/resp/argument.h"
#include "door/resp/client_name.h"
#include "door/resp/session.h"

namespace weir::door {

// One line, in the form of Redis.
std::string RespDoor::Session::description() const {
  std::string text = "id=" + std::to_string(id_);
  text += " addr=" + address_;
  text += " name=" + name_;
  text += " db=0 user=default resp=" + std::to_string(static_cast<int>(protocol_));
  text += " lib-name=" + library_;
  text += " lib-ver=" + library_version_;
  return text += '\n';
}

void RespDoor::Session::client_id(Arguments /*arguments*/, Writer& reply) {
  reply.integer(id_);
}

void RespDoor::Session::client_info(Arguments /*arguments*/, Writer& reply) {
  reply.verbatim(description());
}

void RespDoor::Session::client_list(Arguments /*arguments*/, Writer& reply) {
  reply.verbatim(description());
}

void RespDoor::Session::client_get_name(Arguments /*arguments*/, Writer& reply) {
  if (name_.empty()) return reply.null();
  reply.bulk(name_);
}

void RespDoor::Session::client_set_name(Arguments arguments, Writer& reply) {
  if (!is_client_name(arguments[2])) return reply.error(bad_client_name);
  name_ = arguments[2];
  reply.simple_string("OK");
}

void RespDoor::Session::client_set_info(Arguments arguments, Writer& reply) {
  const bool is_name = equals_ignoring_case(arguments[2], "lib-name");
  if (!is_name && !equals_ignoring_case(arguments[2], "lib-ver")) {
    return reply.error("ERR Unrecognized option '" + std::string(arguments[2]) + '\'');
  }
  if (!is_client_name(arguments[3])) {
    return reply.error("ERR " + std::string(is_name ? "lib-name" : "lib-ver") +
                       " cannot contain spaces, newlines or special characters.");
  }
  (is_name ? library_ : library_version_) = arguments[3];
  reply.simple_string("OK");
}

void RespDoor::Session::client_switch(Arguments arguments, Writer& reply) {
  const bool is_known = equals_ignoring_case(arguments[2], "on") || equals_ignoring_case(arguments[2], "off");
  if (!is_known) return reply.error(syntax_error);
  reply.simple_string("OK");
}

// Only ON is answered.
void RespDoor::Session::client_reply(Arguments arguments, Writer& reply) {
  if (equals_ignoring_case(arguments[2], "on")) {
    replies_ = Replies::on;
    reply.simple_string("OK");
  } else if (equals_ignoring_case(arguments[2], "off")) {
    replies_ = Replies::off;
  } else if (equals_ignoring_case(arguments[2], "skip")) {
    if (replies_ != Replies::off) replies_ = Replies::skip_next;
  } else {
    reply.error(syntax_error);
  }
}

}  // namespace weir::door
