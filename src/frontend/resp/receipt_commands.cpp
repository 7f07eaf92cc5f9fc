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

using engine::ReceiptRequest;
using wire::resp::ReplyWriter;
using Action = ReceiptRequest::Action;
using Words = std::span<const std::string_view>;

constexpr std::int64_t max_cost = 4'294'967'295;

std::optional<Cost> read_cost(std::string_view text) noexcept {
  const auto number = wire::resp::parse_integer(text);
  if (!number || *number < 0 || *number > max_cost) return std::nullopt;
  return Cost(static_cast<std::uint64_t>(*number));
}

// Reads the lease of a receipt, at least 1 ms. The engine reduces it to the maximum.
std::optional<Duration> read_lease(std::string_view text) noexcept {
  const auto number = wire::resp::parse_integer(text);
  const std::int64_t longest = std::chrono::floor<std::chrono::milliseconds>(Duration::max()).count();
  if (!number || *number < 1 || *number > longest) return std::nullopt;
  return std::chrono::milliseconds(*number);
}

std::string no_key_error() {
  return "ERR " + std::string(ReceiptTexts::no_key);
}

// Reads COST, LEASE, ID, TIER and MAXWAIT of a reservation; ID and TIER of a report.
std::string read_receipt_options(Words words, ReceiptCommand& command) {
  const bool reserves = command.request.action == Action::reserve;
  for (; !words.empty(); words = words.subspan(2)) {
    if (words.size() < 2) return std::string(syntax_error);
    if (base::equals_lower(words[0], "id")) {
      if (words[1].empty()) return "ERR ID must not be empty: omit it, or send an id that identifies the request";
      command.request.id = engine::receipt_id_of(words[1]);
    } else if (reserves && base::equals_lower(words[0], "lease")) {
      const auto lasts = read_lease(words[1]);
      if (!lasts) return std::string(not_an_integer);
      command.request.lasts = *lasts;
    } else if (reserves && base::equals_lower(words[0], "cost")) {
      const auto cost = read_cost(words[1]);
      if (!cost) return std::string(not_an_integer);
      command.named.cost = *cost;
    } else if (!reserves && !base::equals_lower(words[0], "tier")) {
      return std::string(syntax_error);
    } else if (const std::string_view wrong = read_options(words.first(2), command.named); !wrong.empty()) {
      return std::string(wrong);
    }
  }
  return {};
}

std::string read_settlement(Words arguments, ReceiptTexts& texts, ReceiptCommand& command) {
  if (arguments.size() > 3) return std::string(syntax_error);
  if (command.request.action == Action::settle) {
    command.request.actual = read_cost(arguments[2]);
    if (!command.request.actual) return std::string(not_an_integer);
  } else if (arguments.size() == 3) {
    const auto lasts = read_lease(arguments[2]);
    if (!lasts) return std::string(not_an_integer);
    command.request.lasts = *lasts;
  }
  if (!texts.can_seal()) return no_key_error();
  command.receipt = texts.open(arguments[1]);
  if (command.receipt) return {};
  return "ERR receipt: invalid: it was altered, or its key is missing; keep replaced keys in receipts.key_file after "
         "the "
         "new one";
}

}  // namespace

std::string read_receipt_command(Action action, Words arguments, ReceiptTexts& texts, ReceiptCommand& command) {
  command.request.action = action;
  const bool reserves = action == Action::reserve;
  if (!reserves && action != Action::report) return read_settlement(arguments, texts, command);
  const std::size_t options = reserves ? 3 : 4;
  command.named = named_query(arguments, false, false);
  if (!reserves) {
    command.named.cost = read_cost(arguments[3]);
    if (!command.named.cost) return std::string(not_an_integer);
  }
  std::string wrong = read_receipt_options(arguments.subspan(options), command);
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
