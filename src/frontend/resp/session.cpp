#include "frontend/resp/session.h"

#include <atomic>

#include "frontend/resp/argument.h"
#include "frontend/resp/receipt_commands.h"
#include "wire/resp/throttle.h"

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
  const bool is_command = status == CommandParser::Status::command;
  const Arguments arguments = parser_.arguments();
  const Lies lies = parser_.in_place() ? Lies::in_input : Lies::in_parser;
  if (is_command && !transaction_ && batch(arguments, lies, out)) return true;
  if (is_command && transaction_ && can_run(arguments)) return run_transaction(out);
  if (!answer_batch(out)) return false;
  is_command ? execute(arguments, out) : end(status, out);
  return true;
}

bool RespFrontend::Session::batch(Arguments arguments, Lies lies, net::Output& out) {
  if (is_stranger() || !add_to_batch(arguments)) return false;
  if (replies_ == Replies::skip_next) replies_ = Replies::on;
  if (batch_->full() || lies == Lies::in_parser) (void)answer_batch(out);
  return true;
}

bool RespFrontend::Session::add_to_batch(Arguments arguments) {
  const std::string_view name = arguments.front();
  if (name == "CL.THROTTLE" || equals_ignoring_case(name, "cl.throttle")) return add_throttle(arguments);
  if (equals_ignoring_case(name, "weir.reset")) {
    if (arguments.size() != 3 || rights_ != Rights::reset) return false;
    open_batch().add_reset(frontend_.context_, named_ask(arguments, false, true), wanted_reply());
    return true;
  }
  const bool peeks = equals_ignoring_case(name, "weir.peek");
  if (!peeks && !equals_ignoring_case(name, "weir.check")) return add_receipt_command(arguments);
  if (arguments.size() < 3) return false;
  match::NamedQuery ask = named_ask(arguments, peeks, peeks);
  if (!read_options(arguments.subspan(3), ask).empty()) return false;
  open_batch().add(frontend_.context_, ask, wanted_reply());
  return true;
}

bool RespFrontend::Session::add_receipt_command(Arguments arguments) {
  const auto what = receipt_command(arguments.front());
  if (!what) return false;
  ReceiptQuestion question;
  const std::string wrong = read_receipt_command(*what, arguments, frontend_.context_.receipt_texts(), question);
  if (!wrong.empty()) return false;
  open_batch().add(frontend_.context_, question, wanted_reply());
  return true;
}

// The state is on its way into the cache from the moment its key is known, while the numbers and the next commands are
// read.
bool RespFrontend::Session::add_throttle(Arguments arguments) {
  if (arguments.size() < 2) return false;
  const table::KeyHash hash = frontend_.context_.evaluator().seek_throttle(arguments[1]);
  const ThrottleLimits::Read* const read = frontend_.throttle_limits_.read(arguments);
  if (read == nullptr) return false;
  open_batch().add_throttle(frontend_.context_, hash, arguments[1], read->limit, read->quantity, wanted_reply());
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
  forget_batch();
  return true;
}

void RespFrontend::Session::forget_batch() {
  if (!batch_) return;
  batch_->tell_resets(frontend_.on_reset_);
  batch_->clear();
  frontend_.batches_.give_back(std::move(batch_));
}

void RespFrontend::Session::refuse_throttle(Arguments arguments, Writer& reply) {
  const auto asked = wire::resp::parse_throttle(arguments);
  if (!asked) return reply.error(asked.error().message());
  const auto limit = frontend_.throttle_limits_.get(asked->numbers);
  if (!limit) reply.error(limit.error().message());
}

void RespFrontend::Session::refuse_check(Arguments arguments, Writer& reply) {
  match::NamedQuery unused = named_ask(arguments, false, false);
  reply.error(read_options(arguments.subspan(3), unused));
}

void RespFrontend::Session::refuse_receipt_command(Arguments arguments, Writer& reply) {
  ReceiptQuestion unused;
  const engine::ReceiptAsk::What what = *receipt_command(arguments.front());
  reply.error(read_receipt_command(what, arguments, frontend_.context_.receipt_texts(), unused));
}

void RespFrontend::Session::refuse_reset(Arguments /*arguments*/, Writer& reply) {
  reply.error(frontend_.options_.admin_token.is_set()
                  ? "NOPERM WEIR.RESET needs the admin token: show it by AUTH first"
                  : "NOPERM WEIR.RESET needs the admin token, and this server has none");
}

// After an error nobody knows where the next command begins.
void RespFrontend::Session::end(CommandParser::Status status, net::Output& out) {
  if (status == CommandParser::Status::protocol_error) Writer(out.bytes(), protocol_).error(parser_.error());
  out.close_after();
}

void RespFrontend::Session::execute(Arguments arguments, net::Output& output) {
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

void RespFrontend::Session::set_rights(Rights rights) noexcept {
  rights_ = rights;
  parser_.set_peer(is_stranger() ? wire::resp::Peer::stranger : wire::resp::Peer::authenticated);
}

bool RespFrontend::Session::show_token(std::string_view token) noexcept {
  const RespOptions& options = frontend_.options_;
  if (options.admin_token.matches(token)) {
    set_rights(Rights::reset);
  } else if (options.token.matches(token)) {
    set_rights(Rights::ask);
  } else {
    return false;
  }
  return true;
}

}  // namespace weir::frontend
