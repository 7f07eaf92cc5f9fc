#include "door/resp/session.h"

#include <atomic>
#include <functional>

#include "door/resp/argument.h"
#include "wire/resp/throttle.h"

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

bool lies_within(std::string_view part, std::string_view whole) noexcept {
  const std::less_equal<const char*> not_behind;
  return not_behind(whole.data(), part.data()) && not_behind(part.data() + part.size(), whole.data() + whole.size());
}

}  // namespace

std::unique_ptr<net::Session> RespDoor::open(const net::Peer& peer, const net::Link& /*link*/) {
  return std::make_unique<Session>(*this, peer);
}

RespDoor::Session::Session(RespDoor& door, const net::Peer& peer)
    : door_(door), parser_(door.options_.limits), id_(next_id()), address_(address_of(peer)) {
  set_rights(Rights::none);
}

std::size_t RespDoor::Session::on_input(std::span<char> bytes, net::Output& out) {
  std::string_view unread(bytes.data(), bytes.size());
  door_.batch_.clear();  // a session that threw may have left its keys
  now_ = door_.desk_.now();
  std::uint64_t commands = 0;
  while (!out.full() && !out.closing()) {
    const CommandParser::Step step = parser_.next(unread);
    if (step.status == CommandParser::Status::command) {
      ++commands;
      if (!queue_throttle(parser_.arguments(), unread, out.bytes())) execute(parser_.arguments(), out.bytes());
      if (closing_) out.close_after();
    } else {
      answer_batch(out.bytes());
      end(step.status, out);
    }
    unread.remove_prefix(step.consumed);
    if (step.status != CommandParser::Status::command) break;
  }
  answer_batch(out.bytes());
  door_.commands_.raise(commands);
  return bytes.size() - unread.size();
}

// After an error nobody knows where the next command begins.
void RespDoor::Session::end(CommandParser::Status status, net::Output& out) {
  if (status == CommandParser::Status::need_more) return;
  if (status == CommandParser::Status::protocol_error) Writer(out.bytes(), protocol_).error(parser_.error());
  out.close_after();
}

// The way of nearly all commands. False if this is another one, or one that needs a closer look.
bool RespDoor::Session::queue_throttle(Arguments arguments, std::string_view unread, std::string& out) {
  if (!equals_ignoring_case(arguments.front(), "cl.throttle")) return false;
  if (is_stranger() || replies_ != Replies::on) return false;
  const auto asked = wire::resp::parse_throttle(arguments);
  if (!asked) return false;
  const core::Gcra::Limit* limit = door_.throttle_limits_.find(asked->numbers);
  if (limit == nullptr) {
    answer_batch(out);  // by the limit that may have to go
    const auto added = door_.throttle_limits_.add(asked->numbers);
    if (!added) return false;
    limit = *added;
  }
  door_.batch_.add(asked->key, *limit, asked->quantity);
  // A quoted argument is the parser's own, and gone with its next step.
  if (door_.batch_.full() || !lies_within(asked->key, unread)) answer_batch(out);
  return true;
}

void RespDoor::Session::answer_batch(std::string& out) {
  if (!door_.batch_.empty()) door_.batch_.answer(now_, out);
}

void RespDoor::Session::execute(Arguments arguments, std::string& out) {
  answer_batch(out);
  const std::size_t begin = out.size();
  if (replies_ == Replies::skip_next) replies_ = Replies::skip_this;
  const bool was_on = replies_ == Replies::on;
  Writer reply(out, protocol_);
  dispatch(arguments, reply);
  if (!was_on && replies_ != Replies::on) out.resize(begin);
  if (replies_ == Replies::skip_this) replies_ = Replies::on;
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
