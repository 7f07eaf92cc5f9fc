#include "store/redis/handshake.h"

#include <string_view>

#include "store/redis/error_kind.h"
#include "wire/resp/command_writer.h"

namespace weir::store::redis {
namespace {

using wire::resp::append_command;

}  // namespace

Handshake::Handshake(const Credentials& credentials, const std::string& client_name, int database)
    : user_(credentials.user), database_(database) {
  if (!credentials.password.empty()) {
    steps_.push_back(Step::authenticate);
    if (user_.empty()) {
      append_command(commands_, {"AUTH", credentials.password});
    } else {
      append_command(commands_, {"AUTH", user_, credentials.password});
    }
  }
  steps_.push_back(Step::introduce);  // always something: whether anybody answers shows here
  if (client_name.empty()) {
    append_command(commands_, {"PING"});
  } else {
    append_command(commands_, {"CLIENT", "SETNAME", client_name});
  }
  if (database != 0) {
    steps_.push_back(Step::select);
    append_command(commands_, {"SELECT", std::to_string(database)});
  }
}

std::string Handshake::take(const wire::resp::Reply& reply) {
  const Step step = steps_[taken_++];
  if (!reply.is(wire::resp::ReplyType::error)) return {};
  // A user who may do no more than he must may not tell his name.
  if (step == Step::introduce && error_kind(reply.text()) == ErrorKind::no_permission) return {};
  return refusal(step, reply.text());
}

std::string Handshake::refusal(Step step, std::string_view error) const {
  switch (error_kind(error)) {
    case ErrorKind::wrong_pass:
      return user_.empty() ? "the password is wrong (WRONGPASS); check `password_file`, or name a `user`"
                           : "the password of user " + user_ +
                                 " is wrong, or there is no such user (WRONGPASS); check `user` and `password_file`";
    case ErrorKind::no_auth:
      return "the server wants a password (NOAUTH); give it as `password_file`, with `user` if it is for one";
    case ErrorKind::denied:
      return "the server is in protected mode and talks to its own machine only (DENIED); set a password there";
    default:
      break;
  }
  if (step == Step::authenticate) {
    if (error.find("without any password") != std::string_view::npos) {
      return "the server has no password set for its default user; leave `password_file` out, or name a `user`";
    }
    return "the server refuses AUTH; check that it is a Redis server of version 6 or later";
  }
  const std::string said = ": " + std::string(error);
  if (step == Step::select) {
    return "database " + std::to_string(database_) + " cannot be used" + said + "; check the end of its url";
  }
  return "the server refuses to talk" + said;
}

}  // namespace weir::store::redis
