#include "store/redis/server_connection.h"

#include <utility>

#include "store/redis/handshake.h"

namespace weir::store::redis {
namespace {

using wire::resp::ReplyParser;

net::OutgoingOptions outgoing_options(const ServerConnection::Options& options) {
  net::OutgoingOptions outgoing;
  outgoing.endpoint = options.endpoint;
  outgoing.tls = options.tls;
  outgoing.server_name = options.server_name;
  outgoing.patience = options.patience;
  outgoing.input_bound = options.reply_limits.length + 1;  // the parser refuses before, and says why
  return outgoing;
}

}  // namespace

// Outlives the ServerConnection, if that ends while one of its replies is being taken.
struct ServerConnection::Talk {
  explicit Talk(const Options& options)
      : parser(options.reply_limits),
        handshake({options.user, options.password}, options.client_name, options.database) {}

  ReplyParser parser;
  Handshake handshake;
  bool ready = false;
  bool over = false;  // lost, or closed by the owner: who may have destroyed the ServerConnection, too
};

ServerConnection::ServerConnection(net::Loop& loop, Options options, Owner& owner)
    : options_(std::move(options)),
      owner_(owner),
      outgoing_(loop, outgoing_options(options_), *this),
      patience_(loop) {}

ServerConnection::~ServerConnection() {
  close();
}

void ServerConnection::connect() {
  close();
  talk_ = std::make_shared<Talk>(options_);
  deadline_ = std::chrono::steady_clock::now() + options_.patience;
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
  patience_.cancel();
  outgoing_.close();
}

void ServerConnection::on_connected() {
  outgoing_.send(talk_->handshake.commands());
  patience_.set(deadline_,
                [this] { lose("does not answer in time; check that it is a Redis server, and what it is doing"); });
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
  patience_.cancel();
  owner_.on_ready();
}

void ServerConnection::on_lost(const Error& error) {
  lose(error.what);
}

// The last thing that is done: the owner may destroy this.
void ServerConnection::lose(std::string what) {
  close();
  owner_.on_lost(Error{options_.endpoint.text(), std::move(what)});
}

}  // namespace weir::store::redis
