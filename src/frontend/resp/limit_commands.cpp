#include "frontend/resp/limit_commands.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "frontend/resp/argument.h"
#include "frontend/resp/receipt_commands.h"
#include "wire/resp/integer_text.h"
#include "wire/resp/throttle.h"

namespace weir::frontend {
namespace {

using wire::resp::ReplyWriter;

std::int64_t saturated(std::uint64_t number) noexcept {
  constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(std::min(number, largest));
}

// The caller writes `more` elements after these.
void write_verdict(const engine::Verdict& verdict, const policy::Ruleset& ruleset, bool is_map, std::size_t more,
                   ReplyWriter& reply) {
  const auto name = [&](std::string_view text) {
    if (is_map) reply.bulk(text);
  };
  const bool has_limit = verdict.limit != engine::Verdict::no_limit;
  const bool has_numbers = has_limit && !engine::is_outright(verdict.reason);
  if (is_map) {
    reply.map(8 + more);
    reply.bulk("admitted");
    reply.boolean(verdict.admitted);
  } else {
    reply.array(8 + more);
    reply.integer(verdict.admitted ? 0 : 1);
  }
  name("quota"), reply.integer(has_numbers ? saturated(verdict.decision.limit) : -1);
  name("remaining"), reply.integer(has_numbers ? saturated(verdict.decision.remaining) : -1);
  name("retry_after_us"), reply.integer(verdict.retry_after ? verdict.retry_after->count() : -1);
  name("reset_after_us"), reply.integer(verdict.decision.reset_after.count());
  name("delay_us"), reply.integer(verdict.delay.count());
  name("limit");
  if (has_limit) {
    reply.bulk(ruleset.limits[verdict.limit].name);
  } else {
    reply.null();
  }
  name("reason"), reply.bulk(name_of(verdict.reason));
}

}  // namespace

const ThrottleLimits::Read* ThrottleLimits::read_into(Written& written, std::span<const std::string_view> arguments) {
  const auto parsed = wire::resp::parse_throttle(arguments);
  if (!parsed) return nullptr;
  const auto limit = get(parsed->numbers);
  if (!limit) return nullptr;
  written.read = {**limit, parsed->quantity};
  written.count = 0;
  std::size_t end = 0;
  const auto numbers = arguments.subspan(2);
  for (std::size_t i = 0; i < numbers.size(); end += numbers[i++].size()) {
    if (end + numbers[i].size() > written.texts.size()) return &written.read;  // too long to cache
    numbers[i].copy(written.texts.data() + end, numbers[i].size());
    written.sizes[i] = static_cast<std::uint8_t>(numbers[i].size());
  }
  written.count = numbers.size();
  return &written.read;
}

Result<const core::Gcra::Limit*> ThrottleLimits::get(const BucketNumbers& numbers) {
  Set& set = sets_[set_of(numbers)];
  for (const std::optional<Cached>& cached : set.cached) {
    if (cached && cached->numbers.burst == numbers.burst && cached->numbers.rate == numbers.rate) return &cached->limit;
  }
  const Result<Limit> checked = Limit::gcra(numbers);
  if (!checked) return failure("Cell error", "Store error: " + checked.error().message());
  const std::size_t way = std::exchange(set.next, (set.next + 1) % ways);
  return &set.cached[way].emplace(Cached{numbers, core::Gcra::Limit(*checked)}).limit;
}

match::NamedQuery named_query(std::span<const std::string_view> arguments, bool peeks, bool one_meaning) noexcept {
  return {.limit = arguments[1], .consumer = arguments[2], .peek = peeks, .one_meaning = one_meaning};
}

std::string_view read_options(std::span<const std::string_view> words, match::NamedQuery& query) noexcept {
  constexpr std::int64_t max_wait = std::chrono::floor<std::chrono::milliseconds>(Duration::max()).count();
  for (; !words.empty(); words = words.subspan(2)) {
    if (words.size() < 2) return syntax_error;
    if (base::equals_lower(words[0], "tier")) {
      query.tier = words[1];
      continue;
    }
    const bool is_cost = base::equals_lower(words[0], "cost");
    if (!is_cost && !base::equals_lower(words[0], "maxwait")) return syntax_error;
    const auto number = wire::resp::parse_integer(words[1]);
    if (!number || *number < 0) return not_an_integer;
    if (is_cost) {
      query.cost = Cost(static_cast<std::uint64_t>(*number));
    } else {
      if (*number > max_wait) return not_an_integer;
      query.max_wait = std::chrono::milliseconds(*number);
    }
  }
  return {};
}

void CommandBatch::add(LoopContext& context, const match::NamedQuery& query, Reply reply) {
  next(context, Kind::verdict, reply).add(query);
}

void CommandBatch::add_reset(LoopContext& context, const match::NamedQuery& query, Reply reply) {
  engine::EvaluationBatch& evaluation = next(context, Kind::reset, reply);
  resets_.push_back({evaluation.size(), std::string(query.limit)});
  evaluation.add_reset(query);
}

void CommandBatch::add(LoopContext& context, const ReceiptCommand& command, Reply reply) {
  const bool reserves = command.request.action == engine::ReceiptRequest::Action::reserve;
  engine::EvaluationBatch& evaluation = next(context, reserves ? Kind::reserve : Kind::receipt, reply);
  command.receipt ? evaluation.add(*command.receipt, command.request) : evaluation.add(command.named, command.request);
}

void CommandBatch::submit(const net::Link& link) {
  submitted_ = true;
  frontend::submit(*evaluation_, link);
}

void CommandBatch::answer(wire::resp::Protocol protocol, ThrottleCounts& counts, ReceiptTexts& texts,
                          std::string& out) const {
  ReplyWriter reply(out, protocol);
  std::size_t number = 0;
  std::size_t throttles = 0;
  std::uint64_t limited = 0;
  for (const Command& command : std::span(commands_).first(size_)) {
    if (command.kind != Kind::throttle) {
      if (command.reply == Reply::sent) write(command, number, protocol, texts, reply);
      ++number;
      continue;
    }
    const Decision& decision = evaluation_->throttle(throttles++);
    if (!decision.admitted) ++limited;
    if (command.reply == Reply::sent) wire::resp::append_throttle_reply(out, decision);
  }
  counts.allowed.raise(throttles - limited);
  counts.limited.raise(limited);
}

// Redis clients classify errors by their first word.
void CommandBatch::write(const Command& command, std::size_t number, wire::resp::Protocol protocol, ReceiptTexts& texts,
                         ReplyWriter& reply) const {
  if (const Error* const error = evaluation_->error(number)) return reply.error("ERR " + error->message());
  if (command.kind == Kind::reset) return reply.simple_string("OK");
  if (command.kind == Kind::receipt) return write_receipt_results(*evaluation_, number, reply);
  const bool is_map = protocol == wire::resp::Protocol::resp3;
  const bool reserves = command.kind == Kind::reserve;
  write_verdict(evaluation_->verdict(number), evaluation_->bindings().ruleset(), is_map, reserves ? 2 : 0, reply);
  if (reserves) write_receipt(*evaluation_, number, is_map, texts, reply);
}

void CommandBatch::report_resets(const OnReset& on_reset) const {
  using Outcome = MadeReset::Outcome;
  if (!on_reset || !submitted_) return;
  for (const Reset& reset : resets_) {
    const match::Matcher& matcher = evaluation_->bindings().matcher();
    const bool has_error = evaluation_->error(reset.number) != nullptr;
    bool has_key = !has_error;
    if (has_error && !evaluation_->in_flight()) {
      std::string unused;
      has_key = match::read_named(matcher, evaluation_->named(reset.number), unused).has_value();
    }
    on_reset({.limit = matcher.find_limit(reset.limit) ? std::string_view(reset.limit) : std::string_view(),
              .consumer = has_key ? evaluation_->consumer(reset.number) : std::string_view(),
              .outcome = has_error                  ? Outcome::failed
                         : evaluation_->in_flight() ? Outcome::unanswered
                                                    : Outcome::done});
  }
}

void CommandBatch::clear() noexcept {
  size_ = 0;
  resets_.clear();
  if (evaluation_) evaluation_->in_flight() ? evaluation_.reset() : evaluation_->clear();
  submitted_ = false;
}

}  // namespace weir::frontend
