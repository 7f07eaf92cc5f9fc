#include "frontend/resp/session.h"

#include <atomic>

namespace weir::frontend {
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

std::unique_ptr<net::Session> RespFrontend::open(const net::Peer& peer, const net::Link& link) {
  return std::make_unique<Session>(*this, peer, link);
}

RespFrontend::Session::Session(RespFrontend& frontend, const net::Peer& peer, const net::Link& link)
    : frontend_(frontend), link_(link), parser_(frontend.options_.limits), id_(next_id()), address_(address_of(peer)) {
  set_rights(Rights::none);
}

std::size_t RespFrontend::Session::on_input(std::span<char> bytes, net::Output& out) {
  std::string_view unread(bytes.data(), bytes.size());
  std::uint64_t commands = 0;
  while (!out.full() && !out.closing() && !out.paused()) {
    const CommandParser::Step step = parser_.next(unread);
    if (step.status == CommandParser::Status::need_more) {
      unread.remove_prefix(step.consumed);
      break;
    }
    if (!take(step.status, out)) break;
    unread.remove_prefix(step.consumed);
    if (step.status == CommandParser::Status::command) ++commands;
  }
  (void)answer_batch(out);
  frontend_.commands_.raise(commands);
  return bytes.size() - unread.size();
}

bool RespFrontend::Session::take(CommandParser::Status status, net::Output& out) {
  if (status != CommandParser::Status::command) {
    if (!answer_batch(out)) return false;
    end(status, out);
    return true;
  }
  const Arguments arguments = parser_.arguments();
  const Command* const command = lookup(arguments.front());
  const Location location = parser_.in_place() ? Location::in_input : Location::in_parser;
  if (!transaction_ && join(command, arguments, location, out)) return true;
  if (transaction_ && can_exec(command, arguments)) return run_transaction(out);
  if (!answer_batch(out)) return false;
  execute(command, arguments, out);
  return true;
}

bool RespFrontend::Session::join(const Command* command, Arguments arguments, Location location, net::Output& out) {
  if (command == nullptr || command->join == nullptr || is_stranger() || !command->takes(arguments.size()) ||
      !command->join(*this, arguments)) {
    return false;
  }
  if (replies_ == Replies::skip_next) replies_ = Replies::on;
  if (batch_->full() || location == Location::in_parser) (void)answer_batch(out);
  return true;
}

CommandBatch& RespFrontend::Session::open_batch() {
  if (!batch_) batch_ = frontend_.batches_.take();
  return *batch_;
}

bool RespFrontend::Session::answer_batch(net::Output& out) {
  if (!batch_) return true;
  if (!batch_->submitted()) batch_->submit(link_);
  if (batch_->in_flight()) {
    out.pause();
    return false;
  }
  batch_->answer(protocol_, frontend_.throttle_counts_, frontend_.context_.receipt_texts(), out.bytes());
  release_batch();
  return true;
}

void RespFrontend::Session::release_batch() {
  if (!batch_) return;
  batch_->report_resets(frontend_.on_reset_);
  batch_->clear();
  frontend_.batches_.put_back(std::move(batch_));
}

// After a protocol error, the start of the next command is unknown.
void RespFrontend::Session::end(CommandParser::Status status, net::Output& out) {
  if (status == CommandParser::Status::protocol_error) Writer(out.bytes(), protocol_).error(parser_.error());
  out.close_after();
}

void RespFrontend::Session::execute(const Command* command, Arguments arguments, net::Output& output) {
  std::string& out = output.bytes();
  const std::size_t begin = out.size();
  if (replies_ == Replies::skip_next) replies_ = Replies::skip_this;
  const bool was_on = replies_ == Replies::on;
  Writer reply(out, protocol_);
  dispatch(command, arguments, reply);
  if (!was_on && replies_ != Replies::on) out.resize(begin);
  if (replies_ == Replies::skip_this) replies_ = Replies::on;
  if (closing_) output.close_after();
}

void RespFrontend::Session::set_rights(Rights rights) noexcept {
  rights_ = rights;
  parser_.set_peer(is_stranger() ? wire::resp::Peer::unauthenticated : wire::resp::Peer::authenticated);
}

bool RespFrontend::Session::authenticate(std::string_view token) noexcept {
  const RespOptions& options = frontend_.options_;
  if (options.admin_token.matches(token)) {
    set_rights(Rights::reset);
  } else if (options.token.matches(token)) {
    set_rights(Rights::decide);
  } else {
    return false;
  }
  return true;
}

}  // namespace weir::frontend
