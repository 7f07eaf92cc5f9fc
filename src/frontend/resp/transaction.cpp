// MULTI, EXEC and DISCARD. Between MULTI and EXEC commands are kept, each answered by QUEUED; nothing is charged. EXEC
// runs them in their order, one array of their replies. It is not consumed before it is done: where the output is full
// or the store has yet to answer, the session comes back to it.
#include "frontend/resp/transaction.h"

#include "frontend/resp/session.h"

namespace weir::frontend {

// Strings and vectors double their room as they grow: twice as much is taken, in steps.
bool Transaction::take_for(std::size_t bytes) noexcept {
  constexpr std::size_t step = 16'384;
  const std::size_t needed = 2 * bytes;
  if (needed <= free_bytes || needed <= taken_) return true;
  const std::size_t more = (needed - taken_ + step - 1) / step * step;
  if (!budget_->take(more)) return false;
  taken_ += more;
  return true;
}

Transaction::Added Transaction::add(Arguments command) {
  if (spoilt_) return Added::kept;
  std::size_t bytes = bytes_.size() + (ends_.size() + command.size()) * sizeof(std::uint32_t);
  for (const std::string_view argument : command) bytes += argument.size();
  if (bytes > max_bytes_ || counts_.size() == max_commands) {
    spoil();
    return Added::too_long;
  }
  if (!take_for(bytes + (counts_.size() + 1) * sizeof(std::uint32_t))) {
    spoil();
    return Added::no_memory;
  }
  for (const std::string_view argument : command) {
    bytes_ += argument;
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  counts_.push_back(static_cast<std::uint32_t>(command.size()));
  return Added::kept;
}

void Transaction::spoil() noexcept {
  spoilt_ = true;
  std::string().swap(bytes_);
  std::vector<std::uint32_t>().swap(ends_);
  std::vector<std::uint32_t>().swap(counts_);
  budget_->give_back(taken_);
  taken_ = 0;
}

Transaction::Arguments Transaction::current() {
  current_.clear();
  for (std::size_t i = next_argument_; i < next_argument_ + counts_[next_]; ++i) {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    current_.push_back(bytes().substr(begin, ends_[i] - begin));
  }
  return current_;
}

void Transaction::advance() noexcept {
  next_argument_ += counts_[next_++];
}

void RespFrontend::Session::multi(Arguments /*arguments*/, Writer& reply) {
  if (transaction_) return reply.error("ERR MULTI calls can not be nested");
  transaction_ = std::make_unique<Transaction>(frontend_.options_.limits.command_length, frontend_.transaction_budget_);
  reply.simple_string("OK");
}

void RespFrontend::Session::discard(Arguments /*arguments*/, Writer& reply) {
  if (!transaction_) return reply.error("ERR DISCARD without MULTI");
  transaction_.reset();
  reply.simple_string("OK");
}

// Those that can be run do not come here.
void RespFrontend::Session::exec(Arguments /*arguments*/, Writer& reply) {
  if (!transaction_) return reply.error("ERR EXEC without MULTI");
  transaction_.reset();
  reply.error("EXECABORT Transaction discarded because of previous errors.");
}

void RespFrontend::Session::keep_for_exec(Arguments arguments, Writer& reply) {
  const Transaction::Added added = transaction_->add(arguments);
  if (added == Transaction::Added::kept) return reply.simple_string("QUEUED");
  if (added == Transaction::Added::no_memory) {
    return reply.error("OOM the transactions of all connections have more than " +
                       std::to_string(frontend_.transaction_budget_->max_bytes()) +
                       " bytes: try again later, or in smaller ones");
  }
  reply.error("ERR a transaction has at most " + std::to_string(Transaction::max_commands) + " commands and " +
              std::to_string(frontend_.options_.limits.command_length) + " bytes");
}

bool RespFrontend::Session::can_exec(const Command* command, Arguments arguments) const noexcept {
  if (transaction_->running()) return true;  // it is the same EXEC
  return !transaction_->spoilt() && !is_stranger() && arguments.size() == 1 && command != nullptr &&
         command->run == &Session::exec;
}

bool RespFrontend::Session::run_transaction(net::Output& out) {
  Transaction& transaction = *transaction_;
  if (!transaction.running()) {
    if (replies_ == Replies::skip_next) replies_ = Replies::skip_this;
    if (replies_ == Replies::on) Writer(out.bytes(), protocol_).array(transaction.size());
    transaction.begin();
  }
  for (; !transaction.over(); transaction.advance()) {
    if (out.full() || out.paused()) return false;
    const Arguments arguments = transaction.current();
    const Command* const command = lookup(arguments.front());
    if (join(command, arguments, Lies::in_input, out)) continue;
    if (!answer_batch(out)) return false;
    const std::size_t begin = out.bytes().size();
    Writer reply(out.bytes(), protocol_);
    dispatch(command, arguments, reply);
    if (replies_ != Replies::on) out.bytes().resize(begin);
  }
  if (!answer_batch(out)) return false;
  transaction_.reset();
  if (replies_ == Replies::skip_this) replies_ = Replies::on;
  return true;
}

}  // namespace weir::frontend
