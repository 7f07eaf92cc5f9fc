// An array of whole numbers as MessagePack, the format that a Redis script decodes fastest.
#include "store/redis/script_argument.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "wire/resp/writer.h"

namespace weir::store::redis {

namespace number_array_detail {

template <std::size_t bytes>
void append_tagged(std::string& out, unsigned tag, std::uint64_t number) {
  char text[1 + bytes];
  text[0] = static_cast<char>(tag);
  for (std::size_t i = 0; i < bytes; ++i) text[1 + i] = static_cast<char>(number >> (8 * (bytes - 1 - i)));
  out.append(text, sizeof text);
}

}  // namespace number_array_detail

// The head of an array; its numbers follow.
inline void append_array_head(std::string& out, std::size_t numbers) {
  number_array_detail::append_tagged<4>(out, 0xdd, numbers);
}

inline void append_number(std::string& out, std::int64_t number) {
  using number_array_detail::append_tagged;
  const auto bits = static_cast<std::uint64_t>(number);
  if (number >= 0 && number < 128) {
    out.push_back(static_cast<char>(number));
  } else if (number >= 0 && number < 65'536) {
    append_tagged<2>(out, 0xcd, bits);
  } else if (number >= 0 && number < 4'294'967'296) {
    append_tagged<4>(out, 0xce, bits);
  } else {
    append_tagged<8>(out, 0xd3, bits);
  }
}

namespace {

// Defined by the script.
enum class Section : std::uint8_t { buckets, windows, logs };
constexpr std::string_view beside_a_log = ":r";
enum : std::int64_t { decide_one = 1, decide_alike };
enum : std::int64_t { only_short = 0, decide_and_look, any };

Section section_of(const ScriptPlan::KeyUse& use) noexcept {
  if (use.is_log) return Section::logs;
  return use.is_bucket ? Section::buckets : Section::windows;
}

}  // namespace

void ScriptArgument::prepare(const ScriptPlan& plan) {
  order_.clear();
  positions_.resize(plan.keys());
  bool has_logs = false;
  for (const Section section : {Section::buckets, Section::windows}) {
    if (section == Section::windows) bucket_keys_ = order_.size();
    for (std::uint32_t key = 0; key < plan.keys(); ++key) {
      if (section_of(plan.use(key)) != section) {
        has_logs |= plan.use(key).is_log;
        continue;
      }
      positions_[key] = static_cast<std::uint32_t>(order_.size());
      order_.push_back({key, false});
    }
  }
  plain_keys_ = order_.size();
  if (has_logs) place_logs(plan);
}

void ScriptArgument::place_logs(const ScriptPlan& plan) {
  for (std::uint32_t key = 0; key < plan.keys(); ++key) {
    if (plan.use(key).has_receipts) order_.push_back({key, true});
  }
  plain_keys_ = order_.size();
  for (std::uint32_t key = 0; key < plan.keys(); ++key) {
    if (!plan.use(key).is_log) continue;
    positions_[key] = static_cast<std::uint32_t>(order_.size());
    order_.push_back({key, false});
  }
}

void ScriptArgument::write(std::string& out, std::string_view name, std::string_view script, const ScriptPlan& plan) {
  write_numbers(plan);
  wire::resp::CommandWriter command(out, 4 + order_.size());
  command.argument(name);
  command.argument(script);
  command.argument(static_cast<std::int64_t>(order_.size()));
  for (const ScriptKey key : order_) {
    if (!key.is_receipts) {
      command.argument(plan.key(key.key));
      continue;
    }
    // This key is in the same slot of a cluster, because the part in braces is the same.
    receipts_key_.assign(plan.key(key.key)).append(beside_a_log);
    command.argument(receipts_key_);
  }
  command.argument(packed_);
}

std::int64_t ScriptArgument::term_at(const ScriptPlan& plan, ScriptKey key) const noexcept {
  return key.is_receipts ? -number_of(key.key) : position_of_term(plan.use(key.key).term);
}

void ScriptArgument::write_numbers(const ScriptPlan& plan) {
  constexpr std::size_t head = 4;
  const std::size_t with_term = order_.size() - bucket_keys_;
  numbers_.assign(head + with_term, 0);
  add_terms(plan, numbers_.size());
  numbers_[0] = static_cast<std::int64_t>(bucket_keys_);
  numbers_[1] = static_cast<std::int64_t>(plain_keys_);
  numbers_[2] = static_cast<std::int64_t>(numbers_.size() + 1);
  for (std::size_t i = 0; i < with_term; ++i) {
    numbers_[head + i] = term_at(plan, order_[bucket_keys_ + i]);
  }
  needs_ = only_short;
  for (const ScriptPlan::Evaluation& evaluation : plan.evaluations()) add_evaluation(plan, evaluation);
  numbers_[3] = needs_;

  packed_.clear();
  append_array_head(packed_, numbers_.size());
  for (const std::int64_t number : numbers_) append_number(packed_, number);
}

void ScriptArgument::add_terms(const ScriptPlan& plan, std::size_t begin) {
  term_positions_.clear();
  term_is_simple_.clear();
  for (const ScriptTerm& term : plan.terms()) {
    const TermNumbers numbers(term, plan.now());
    term_positions_.push_back(static_cast<std::uint32_t>(begin));
    term_is_simple_.push_back(numbers.is_simple());
    numbers_.insert(numbers_.end(), numbers.values().begin(), numbers.values().end());
    begin = numbers_.size();
  }
}

// Lua counts from 1, so the positions of terms and keys do, too.
std::int64_t ScriptArgument::position_of_term(std::uint32_t term) const noexcept {
  return term == ScriptPlan::no_term ? 0 : std::int64_t{term_positions_[term]} + 1;
}

void ScriptArgument::add_evaluation(const ScriptPlan& plan, const ScriptPlan::Evaluation& evaluation) {
  const auto checks = plan.checks_of(evaluation);
  const auto copies = static_cast<std::int64_t>(evaluation.copies);
  if (evaluation.exchange != nullptr) return add_message(evaluation, checks.front());
  if (evaluation.has_receipts()) return add_receipts(plan, evaluation);
  const bool is_short = evaluation.operation == ScriptPlan::Operation::decide && checks.size() == 1 &&
                        !checks[0].is_guard && term_is_simple_[checks[0].term];
  if (is_short) {
    numbers_.push_back(copies == 1 ? decide_one : decide_alike);
    if (copies > 1) numbers_.push_back(copies);
  } else {
    numbers_.push_back(static_cast<std::int64_t>(evaluation.operation));
    numbers_.push_back(copies);
    numbers_.push_back(static_cast<std::int64_t>(checks.size()));
    needs_ =
        std::max<std::int64_t>(needs_, evaluation.operation <= ScriptPlan::Operation::look ? decide_and_look : any);
  }
  for (const ScriptPlan::Check& check : checks) {
    const std::int64_t key = number_of(check.key);
    numbers_.push_back(check.is_guard ? -key : key);
    numbers_.push_back(position_of_term(check.term));
  }
}

void ScriptArgument::add_receipts(const ScriptPlan& plan, const ScriptPlan::Evaluation& evaluation) {
  const auto checks = plan.checks_of(evaluation);
  const bool settles = evaluation.operation == ScriptPlan::Operation::settle_receipt;
  numbers_.push_back(static_cast<std::int64_t>(evaluation.operation));
  numbers_.push_back(evaluation.only_peeks ? 0 : 1);
  numbers_.push_back(static_cast<std::int64_t>(checks.size()));
  for (const ScriptPlan::Check& check : checks) {
    static constexpr core::ReceiptUse none;
    const core::ReceiptUse& use = check.receipt == nullptr || check.is_guard ? none : *check.receipt;
    const std::int64_t key = number_of(check.key);
    numbers_.push_back(check.is_guard ? -key : key);
    numbers_.push_back(position_of_term(check.term));
    for (const std::uint64_t half : {use.id.low, use.id.high}) {
      numbers_.push_back(static_cast<std::int64_t>(half & 0xffff'ffff));
      numbers_.push_back(static_cast<std::int64_t>(half >> 32));
    }
    constexpr std::uint64_t most = (std::uint64_t{1} << 53) - 1;
    const std::int64_t actual = use.actual ? static_cast<std::int64_t>(std::min(use.actual->units(), most)) : -1;
    numbers_.push_back(settles ? actual : core::Receipts::end_of(use.lasts, 0));
  }
  needs_ = any;
}

void ScriptArgument::add_message(const ScriptPlan::Evaluation& evaluation, const ScriptPlan::Check& check) {
  const core::SliceMessage& message = evaluation.exchange->message;
  const auto add = [&](std::uint64_t number) {
    constexpr std::uint64_t most = (std::uint64_t{1} << 53) - 1;
    numbers_.push_back(static_cast<std::int64_t>(std::min(number, most)));
  };
  numbers_.push_back(static_cast<std::int64_t>(evaluation.operation));
  numbers_.push_back(number_of(check.key));
  numbers_.push_back(position_of_term(check.term));
  add(message.holder & 0xffff'ffff);
  add(message.holder >> 32);
  add(message.number);
  const bool is_report = evaluation.operation == ScriptPlan::Operation::report;
  add(is_report ? message.keep : message.want);
  add(is_report ? message.back : message.nodes);
  add(is_report ? message.unasked : static_cast<std::uint64_t>(message.lease.count()));
  needs_ = any;
}

}  // namespace weir::store::redis
