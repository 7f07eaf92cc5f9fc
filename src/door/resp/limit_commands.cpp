// The commands that the door is there for: CL.THROTTLE, and WEIR.CHECK, WEIR.PEEK, WEIR.RESET on named limits.
#include <chrono>
#include <optional>
#include <string>

#include "door/resp/argument.h"
#include "door/resp/session.h"
#include "door/resp/verdict_reply.h"
#include "wire/resp/integer_text.h"
#include "wire/resp/throttle.h"

namespace weir::door {
namespace {

using engine::NamedAsk;
using wire::resp::ReplyWriter;

// Redis's clients tell errors by their first word.
void refuse(const Error& error, ReplyWriter& reply) {
  reply.error("ERR " + error.message());
}

// COST n, TIER t, MAXWAIT ms, in any order. What is wrong, as to be replied; empty: nothing.
std::string_view read_options(std::span<const std::string_view> words, NamedAsk& ask) noexcept {
  constexpr std::int64_t longest_wait = std::chrono::floor<std::chrono::milliseconds>(Duration::max()).count();
  for (; !words.empty(); words = words.subspan(2)) {
    if (words.size() < 2) return syntax_error;
    if (equals_ignoring_case(words[0], "tier")) {
      ask.tier = words[1];
      continue;
    }
    const bool is_cost = equals_ignoring_case(words[0], "cost");
    if (!is_cost && !equals_ignoring_case(words[0], "maxwait")) return syntax_error;
    const auto number = wire::resp::parse_integer(words[1]);
    if (!number || *number < 0) return not_an_integer;
    if (is_cost) {
      ask.cost = Cost(static_cast<std::uint64_t>(*number));
    } else {
      if (*number > longest_wait) return not_an_integer;
      ask.max_wait = std::chrono::milliseconds(*number);
    }
  }
  return {};
}

std::string_view limit_name(const engine::Judge& judge, const engine::Verdict& verdict) noexcept {
  if (verdict.limit == engine::Verdict::no_limit) return {};
  return judge.plan().ruleset().limits[verdict.limit].name;
}

}  // namespace

// Those that were not queued: nearly always there is something wrong with them.
void RespDoor::Session::throttle(Arguments arguments, Writer& reply) {
  const auto asked = wire::resp::parse_throttle(arguments);
  if (!asked) return reply.error(asked.error().message());
  const auto limit = door_.throttle_limits_.add(asked->numbers);
  if (!limit) return reply.error(limit.error().message());
  door_.batch_.add(asked->key, **limit, asked->quantity);
  door_.batch_.answer(now_, reply.out());
}

void RespDoor::Session::check(Arguments arguments, Writer& reply) {
  answer_ask(arguments, {.limit = arguments[1], .consumer = arguments[2]}, reply);
}

void RespDoor::Session::peek(Arguments arguments, Writer& reply) {
  answer_ask(arguments, {.limit = arguments[1], .consumer = arguments[2], .peek = true}, reply);
}

void RespDoor::Session::answer_ask(Arguments arguments, NamedAsk ask, Writer& reply) {
  if (const auto wrong = read_options(arguments.subspan(3), ask); !wrong.empty()) return reply.error(wrong);
  engine::Judge& judge = door_.desk_.judge();
  const auto held = judge.hold();
  const Result<engine::Verdict> verdict = judge.judge(ask, now_);
  if (!verdict) return refuse(verdict.error(), reply);
  write_verdict(*verdict, limit_name(judge, *verdict), protocol_, reply);
}

void RespDoor::Session::reset_consumer(Arguments arguments, Writer& reply) {
  if (rights_ != Rights::reset) {
    return reply.error(door_.options_.admin_token.is_set()
                           ? "NOPERM WEIR.RESET needs the admin token: show it by AUTH first"
                           : "NOPERM WEIR.RESET needs the admin token, and this server has none");
  }
  const Result<void> done = door_.desk_.judge().reset({.limit = arguments[1], .consumer = arguments[2]}, now_);
  if (!done) return refuse(done.error(), reply);
  reply.simple_string("OK");
}

}  // namespace weir::door
