// MULTI, EXEC and DISCARD. Commands between MULTI and EXEC are queued and charge nothing. EXEC runs them in order and
// replies with an array. Its input is not consumed until it is done: while the output is full or the store has not
// answered, the session returns to it later.
#include "frontend/resp/transaction.h"

#include "frontend/resp/session.h"

namespace weir::frontend {

// Strings and vectors double their capacity as they grow, so twice the size is taken, in steps.
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
  if (aborted_) return Added::queued;
  std::size_t bytes = bytes_.size() + (ends_.size() + command.size()) * sizeof(std::uint32_t);
  for (const std::string_view argument : command) bytes += argument.size();
  if (bytes > max_bytes_ || counts_.size() == max_commands) {
    abort();
    return Added::too_long;
  }
  if (!take_for(bytes + (counts_.size() + 1) * sizeof(std::uint32_t))) {
    abort();
    return Added::no_memory;
  }
  for (const std::string_view argument : command) {
    bytes_ += argument;
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  counts_.push_back(static_cast<std::uint32_t>(command.size()));
  return Added::queued;
}

void Transaction::abort() noexcept {
  aborted_ = true;
  std::string().swap(bytes_);
  std::vector<std::uint32_t>().swap(ends_);
  std::vector<std::uint32_t>().swap(counts_);
  budget_->release(taken_);
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

// Called only if there is nothing to run: see can_exec().
void RespFrontend::Session::exec(Arguments /*arguments*/, Writer& reply) {
  if (!transaction_) return reply.error("ERR EXEC without MULTI");
  transaction_.reset();
  reply.error("EXECABORT Transaction discarded because of previous errors.");
}

void RespFrontend::Session::enqueue(Arguments arguments, Writer& reply) {
  const Transaction::Added added = transaction_->add(arguments);
  if (added == Transaction::Added::queued) return reply.simple_string("QUEUED");
  if (added == Transaction::Added::no_memory) {
    return reply.error("OOM the transactions of all connections exceed " +
                       std::to_string(frontend_.transaction_budget_->max_bytes()) +
                       " bytes: retry later, or use smaller transactions");
  }
  reply.error("ERR transaction too large: at most " + std::to_string(Transaction::max_commands) + " commands and " +
              std::to_string(frontend_.options_.limits.command_length) + " bytes");
}

bool RespFrontend::Session::can_exec(const Command* command, Arguments arguments) const noexcept {
  if (transaction_->running()) return true;  // the same EXEC continues
  return !transaction_->aborted() && !is_stranger() && arguments.size() == 1 && command != nullptr &&
         command->run == &Session::exec;
}

bool RespFrontend::Session::run_transaction(net::Output& out) {
  Transaction& transaction = *transaction_;
  if (!transaction.running()) {
    if (replies_ == Replies::skip_next) replies_ = Replies::skip_this;
    if (replies_ == Replies::on) Writer(out.bytes(), protocol_).array(transaction.size());
    transaction.begin();
  }
  for (; !transaction.done(); transaction.advance()) {
    if (out.full() || out.paused()) return false;
    const Arguments arguments = transaction.current();
    const Command* const command = lookup(arguments.front());
    if (join(command, arguments, Location::in_input, out)) continue;
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
