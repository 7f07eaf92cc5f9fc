#include "frontend/resp/receipt_commands.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <utility>

#include "answer/answer.h"
#include "base/ascii.h"
#include "frontend/resp/argument.h"
#include "frontend/resp/limit_commands.h"
#include "policy/ruleset.h"
#include "wire/resp/integer_text.h"

namespace weir::frontend {
namespace {

using engine::ReceiptAsk;
using wire::resp::ReplyWriter;
using What = ReceiptAsk::What;
using Words = std::span<const std::string_view>;

constexpr std::int64_t largest_cost = 4'294'967'295;

std::optional<Cost> read_cost(std::string_view text) noexcept {
  const auto number = wire::resp::parse_integer(text);
  if (!number || *number < 0 || *number > largest_cost) return std::nullopt;
  return Cost(static_cast<std::uint64_t>(*number));
}

// Of a receipt, which lasts for at least a millisecond. What is beyond the longest is cut to it later.
std::optional<Duration> read_lease(std::string_view text) noexcept {
  const auto number = wire::resp::parse_integer(text);
  const std::int64_t longest = std::chrono::floor<std::chrono::milliseconds>(Duration::max()).count();
  if (!number || *number < 1 || *number > longest) return std::nullopt;
  return std::chrono::milliseconds(*number);
}

std::string no_key_error() {
  return "ERR " + std::string(ReceiptTexts::no_key);
}

// COST, LEASE, ID, TIER and MAXWAIT of a reserve; ID and TIER of a report.
std::string read_receipt_options(Words words, ReceiptQuestion& question) {
  const bool reserves = question.ask.what == What::reserve;
  for (; !words.empty(); words = words.subspan(2)) {
    if (words.size() < 2) return std::string(syntax_error);
    if (base::equals_lower(words[0], "id")) {
      if (words[1].empty()) return "ERR ID is empty: leave it out, or name what is not to count twice";
      question.ask.id = engine::receipt_id_of(words[1]);
    } else if (reserves && base::equals_lower(words[0], "lease")) {
      const auto lasts = read_lease(words[1]);
      if (!lasts) return std::string(not_an_integer);
      question.ask.lasts = *lasts;
    } else if (reserves && base::equals_lower(words[0], "cost")) {
      const auto cost = read_cost(words[1]);
      if (!cost) return std::string(not_an_integer);
      question.named.cost = *cost;
    } else if (!reserves && !base::equals_lower(words[0], "tier")) {
      return std::string(syntax_error);
    } else if (const std::string_view wrong = read_options(words.first(2), question.named); !wrong.empty()) {
      return std::string(wrong);
    }
  }
  return {};
}

std::string read_settlement(Words arguments, ReceiptTexts& texts, ReceiptQuestion& question) {
  if (arguments.size() > 3) return std::string(syntax_error);
  if (question.ask.what == What::settle) {
    question.ask.actual = read_cost(arguments[2]);
    if (!question.ask.actual) return std::string(not_an_integer);
  } else if (arguments.size() == 3) {
    const auto lasts = read_lease(arguments[2]);
    if (!lasts) return std::string(not_an_integer);
    question.ask.lasts = *lasts;
  }
  if (!texts.can_seal()) return no_key_error();
  question.receipt = texts.open(arguments[1]);
  if (question.receipt) return {};
  return "ERR receipt: does not open: write it as WEIR.RESERVE replied it; if its key was replaced meanwhile, keep the "
         "old one in receipts.key_file behind the new one";
}

}  // namespace

std::string read_receipt_command(What what, Words arguments, ReceiptTexts& texts, ReceiptQuestion& question) {
  question.ask.what = what;
  const bool reserves = what == What::reserve;
  if (!reserves && what != What::report) return read_settlement(arguments, texts, question);
  const std::size_t options = reserves ? 3 : 4;
  question.named = named_ask(arguments, false, false);
  if (!reserves) {
    question.named.cost = read_cost(arguments[3]);
    if (!question.named.cost) return std::string(not_an_integer);
  }
  std::string wrong = read_receipt_options(arguments.subspan(options), question);
  if (wrong.empty() && reserves && !texts.can_seal()) return no_key_error();
  return wrong;
}

void write_receipt(const engine::EvaluationBatch& batch, std::size_t number, bool is_map, ReceiptTexts& texts,
                   ReplyWriter& reply) {
  const engine::ReceiptParts* const receipt = batch.receipt(number);
  const auto name = [&](std::string_view text) {
    if (is_map) reply.bulk(text);
  };
  name("receipt");
  if (receipt == nullptr || !texts.can_seal()) {
    reply.null();
    name("receipt_ends_us"), reply.integer(-1);
    return;
  }
  std::string text;
  texts.append(text, *receipt);
  reply.bulk(text);
  Instant ends{};
  for (const engine::ReceiptOutcome& outcome : batch.receipt_outcomes(number)) ends = std::max(ends, outcome.ends);
  const Duration left = std::max(ends - batch.verdict(number).at, Duration::zero());
  name("receipt_ends_us"), reply.integer(left.count());
}

void write_receipt_results(const engine::EvaluationBatch& batch, std::size_t number, ReplyWriter& reply) {
  const auto outcomes = batch.receipt_outcomes(number);
  reply.array(outcomes.size());
  for (const engine::ReceiptOutcome& outcome : outcomes) {
    reply.array(2);
    if (outcome.limit) {
      reply.bulk(batch.bindings().ruleset().limits[*outcome.limit].name);
    } else {
      reply.null();
    }
    reply.bulk(answer::name_of(outcome.result));
  }
}

}  // namespace weir::frontend
