#include "door/resp/session.h"

#include <atomic>

namespace weir::door {
namespace {

using wire::resp::CommandParser;

std::int64_t next_id() noexcept {
  static std::atomic<std::int64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::string address_of(const net::Peer& peer) {
  if (peer.unix_socket) return "unix:0";
  const bool is_v6 = peer.address.find(':') != std::string::npos;
  return (is_v6 ? '[' + peer.address + ']' : peer.address) + ':' + std::to_string(peer.port);
}

}  // namespace

std::unique_ptr<net::Session> RespDoor::open(const net::Peer& peer, const net::Link& link) {
  return std::make_unique<Session>(*this, peer, link);
}

RespDoor::Session::Session(RespDoor& door, const net::Peer& peer, const net::Link& link)
    : door_(door),
      link_(link),
      is_shared_(door.desk_.is_shared()),
      parser_(door.options_.limits),
      id_(next_id()),
      address_(address_of(peer)) {
  set_rights(Rights::none);
}

std::size_t RespDoor::Session::on_input(std::span<char> bytes, net::Output& out) {
  std::string_view unread(bytes.data(), bytes.size());
  door_.batch_.clear();  // a session that threw may have left its keys
  now_ = door_.desk_.now();
  std::uint64_t commands = 0;
  while (!out.full() && !out.closing() && !out.paused()) {
    const CommandParser::Step step = parser_.next(unread);
    if (step.status == CommandParser::Status::need_more) {
      unread.remove_prefix(step.consumed);
      break;
    }
    if (!take(step.status, unread, out)) break;
    unread.remove_prefix(step.consumed);
    if (step.status == CommandParser::Status::command) ++commands;
  }
  (void)answer_queued(out);
  door_.commands_.raise(commands);
  return bytes.size() - unread.size();
}

bool RespDoor::Session::take(CommandParser::Status status, std::string_view unread, net::Output& out) {
  const bool is_command = status == CommandParser::Status::command;
  const Arguments arguments = parser_.arguments();
  if (is_command && !transaction_ && queue(arguments, unread, out)) return true;
  if (is_command && transaction_ && can_run(arguments)) return run_transaction(out);
  if (!answer_queued(out)) return false;
  is_command ? execute(arguments, out) : end(status, out);
  return true;
}

// After an error nobody knows where the next command begins.
void RespDoor::Session::end(CommandParser::Status status, net::Output& out) {
  if (status == CommandParser::Status::protocol_error) Writer(out.bytes(), protocol_).error(parser_.error());
  out.close_after();
}

void RespDoor::Session::execute(Arguments arguments, net::Output& output) {
  std::string& out = output.bytes();
  const std::size_t begin = out.size();
  if (replies_ == Replies::skip_next) replies_ = Replies::skip_this;
  const bool was_on = replies_ == Replies::on;
  Writer reply(out, protocol_);
  dispatch(arguments, reply);
  if (!was_on && replies_ != Replies::on) out.resize(begin);
  if (replies_ == Replies::skip_this) replies_ = Replies::on;
  if (closing_) output.close_after();
}

void RespDoor::Session::set_rights(Rights rights) noexcept {
  rights_ = rights;
  parser_.set_peer(is_stranger() ? wire::resp::Peer::stranger : wire::resp::Peer::authenticated);
}

bool RespDoor::Session::show_token(std::string_view token) noexcept {
  const RespOptions& options = door_.options_;
  if (options.admin_token.matches(token)) {
    set_rights(Rights::reset);
  } else if (options.token.matches(token)) {
    set_rights(Rights::ask);
  } else {
    return false;
  }
  return true;
}

}  // namespace weir::door
