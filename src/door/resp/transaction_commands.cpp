// MULTI, EXEC and DISCARD. Between MULTI and EXEC commands are kept, each answered by QUEUED; nothing is charged. EXEC
// runs them in their order, one array of their replies. It is not consumed before it is done with: where the output is
// full or the store has yet to answer, the session comes back to it.
#include <string>

#include "door/resp/argument.h"
#include "door/resp/session.h"

namespace weir::door {

void RespDoor::Session::multi(Arguments /*arguments*/, Writer& reply) {
  if (transaction_) return reply.error("ERR MULTI calls can not be nested");
  transaction_ = std::make_unique<Transaction>(door_.options_.limits.command_length);
  reply.simple_string("OK");
}

void RespDoor::Session::discard(Arguments /*arguments*/, Writer& reply) {
  if (!transaction_) return reply.error("ERR DISCARD without MULTI");
  transaction_.reset();
  reply.simple_string("OK");
}

// Those that can be run do not come here.
void RespDoor::Session::exec(Arguments /*arguments*/, Writer& reply) {
  if (!transaction_) return reply.error("ERR EXEC without MULTI");
  transaction_.reset();
  reply.error("EXECABORT Transaction discarded because of previous errors.");
}

void RespDoor::Session::keep_for_exec(Arguments arguments, Writer& reply) {
  if (transaction_->add(arguments)) return reply.simple_string("QUEUED");
  reply.error("ERR a transaction has at most " + std::to_string(Transaction::most_commands) + " commands and " +
              std::to_string(door_.options_.limits.command_length) + " bytes");
}

bool RespDoor::Session::can_run(Arguments arguments) const noexcept {
  if (transaction_->running()) return true;  // it is the same EXEC
  return !transaction_->spoilt() && !is_stranger() && arguments.size() == 1 &&
         equals_ignoring_case(arguments.front(), "exec");
}

bool RespDoor::Session::run_transaction(net::Output& out) {
  Transaction& transaction = *transaction_;
  if (!transaction.running()) {
    if (replies_ == Replies::skip_next) replies_ = Replies::skip_this;
    if (replies_ == Replies::on) Writer(out.bytes(), protocol_).array(transaction.size());
    transaction.begin();
  }
  for (; !transaction.over(); transaction.advance()) {
    if (out.full() || out.paused()) return false;
    const Arguments arguments = transaction.current();
    if (queue(arguments, transaction.bytes(), out)) continue;
    if (!answer_queued(out)) return false;
    const std::size_t begin = out.bytes().size();
    Writer reply(out.bytes(), protocol_);
    dispatch(arguments, reply);
    if (replies_ != Replies::on) out.bytes().resize(begin);
  }
  if (!answer_queued(out)) return false;
  transaction_.reset();
  if (replies_ == Replies::skip_this) replies_ = Replies::on;
  return true;
}

}  // namespace weir::door
