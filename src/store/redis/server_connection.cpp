#include "store/redis/server_connection.h"

#include <string_view>
#include <utility>

#include "store/redis/replies.h"
#include "wire/resp/writer.h"

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
  steps_.push_back(Step::introduce);  // always sent: its reply proves that the server is alive
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
  // A user with minimal permissions may not be allowed to set a name.
  if (step == Step::introduce && error_kind(reply.text()) == ErrorKind::no_permission) return {};
  return refusal(step, reply.text());
}

std::string Handshake::refusal(Step step, std::string_view error) const {
  switch (error_kind(error)) {
    case ErrorKind::wrong_pass:
      return user_.empty()
                 ? "wrong password (WRONGPASS); check `password_file`, or set `user`"
                 : "wrong password or unknown user " + user_ + " (WRONGPASS); check `user` and `password_file`";
    case ErrorKind::no_auth:
      return "the server requires a password (NOAUTH); set `password_file`, and `user` if needed";
    case ErrorKind::denied:
      return "the server is in protected mode and accepts only local connections (DENIED); set a password there";
    default:
      break;
  }
  if (step == Step::authenticate) {
    if (error.find("without any password") != std::string_view::npos) {
      return "the server's default user has no password; remove `password_file`, or set `user`";
    }
    return "the server rejected AUTH; check that it is a Redis server of version 6 or later";
  }
  const std::string reason = ": " + std::string(error);
  if (step == Step::select) {
    return "database " + std::to_string(database_) + " is not available" + reason + "; check the database in its url";
  }
  return "the server rejected the connection" + reason;
}
namespace {

using wire::resp::ReplyParser;

net::OutgoingOptions outgoing_options(const ServerConnection::Options& options) {
  net::OutgoingOptions outgoing;
  outgoing.endpoint = options.endpoint;
  outgoing.tls = options.tls;
  outgoing.server_name = options.server_name;
  outgoing.timeout = options.connect_timeout;
  outgoing.input_bound = options.reply_limits.length + 1;  // the parser fails earlier, with the reason
  return outgoing;
}

}  // namespace

// Outlives the ServerConnection if that is destroyed while one of its replies is processed.
struct ServerConnection::Talk {
  explicit Talk(const Options& options)
      : parser(options.reply_limits),
        handshake({options.user, options.password}, options.client_name, options.database) {}

  ReplyParser parser;
  Handshake handshake;
  bool ready = false;
  bool over = false;  // lost, or closed by the owner, who may even have destroyed the ServerConnection
};

ServerConnection::ServerConnection(net::Loop& loop, Options options, Owner& owner)
    : options_(std::move(options)), owner_(owner), outgoing_(loop, outgoing_options(options_), *this), timeout_(loop) {}

ServerConnection::~ServerConnection() {
  close();
}

void ServerConnection::connect() {
  close();
  talk_ = std::make_shared<Talk>(options_);
  deadline_ = std::chrono::steady_clock::now() + options_.connect_timeout;
  outgoing_.connect();
}

bool ServerConnection::ready() const noexcept {
  return talk_ && talk_->ready;
}

void ServerConnection::send(std::string_view commands) {
  if (ready()) outgoing_.send(commands);
}

void ServerConnection::close() {
  if (talk_) talk_->over = true;
  talk_ = nullptr;
  timeout_.cancel();
  outgoing_.close();
}

void ServerConnection::on_connected() {
  outgoing_.send(talk_->handshake.commands());
  timeout_.set(deadline_,
               [this] { lose("does not answer in time; check that it is a Redis server and not overloaded"); });
}

std::size_t ServerConnection::on_bytes(std::span<char> bytes) {
  const std::shared_ptr<Talk> talk = talk_;
  std::string_view unread(bytes.data(), bytes.size());
  while (!talk->over) {
    const auto step = talk->parser.next(unread);
    if (step.status == ReplyParser::Status::need_more) break;
    if (step.status == ReplyParser::Status::refused) {
      lose("sends " + std::string(talk->parser.problem()) + "; check that it is a Redis server");
      break;
    }
    unread.remove_prefix(step.consumed);
    if (talk->ready) {
      owner_.on_reply(talk->parser.reply());
    } else {
      take_greeting(talk->parser.reply());
    }
  }
  return bytes.size() - unread.size();
}

void ServerConnection::take_greeting(const wire::resp::Reply& reply) {
  if (std::string problem = talk_->handshake.take(reply); !problem.empty()) {
    lose(std::move(problem));
    return;
  }
  if (!talk_->handshake.done()) return;
  talk_->ready = true;
  timeout_.cancel();
  owner_.on_ready();
}

void ServerConnection::on_lost(const Error& error) {
  lose(error.what);
}

// Must be the last step: the owner may destroy this object.
void ServerConnection::lose(std::string what) {
  close();
  owner_.on_lost(Error{options_.endpoint.text(), std::move(what)});
}

}  // namespace weir::store::redis
