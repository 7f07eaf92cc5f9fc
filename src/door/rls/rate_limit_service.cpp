#include "door/rls/rate_limit_service.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "door/answer.h"
#include "door/http_session.h"
#include "door/metadata.h"
#include "wire/problem.h"
#include "wire/rls/unit.h"

namespace weir::door {
namespace {

using engine::DescriptorStatus;
using engine::Verdict;
using wire::rls::Code;
using wire::rls::RateLimitResponse;

constexpr std::size_t waiting_memory = std::size_t{1} << 10;  // of a batch that waits

static_assert(wire::rls::RateLimitRequest::most_descriptors == table::most_together);

// Answers are made a few at a time, and then written: so the code of each step is still in the processor's cache for
// the next one, and what it made for the step behind.
constexpr std::size_t made_at_once = 8;

Code code_of(bool admitted) noexcept {
  return admitted ? Code::ok : Code::over_limit;
}

// A denial that has no end has no reset to tell of.
bool waiting_helps(bool admitted, const Decision& decision) noexcept {
  return admitted || decision.retry_after.has_value();
}

wire::rls::DescriptorStatus status_of(const DescriptorStatus& status) {
  wire::rls::DescriptorStatus told{.code = code_of(status.admitted)};
  switch (status.kind) {
    case DescriptorStatus::Kind::unmatched:
      break;
    case DescriptorStatus::Kind::unlimited:
      told.limit_remaining = UINT32_MAX;
      break;
    case DescriptorStatus::Kind::limited:
      told.current_limit = {wire::rls::in_units({status.numbers.limit, status.numbers.window}), status.name};
      told.limit_remaining = status.decision.remaining;
      if (waiting_helps(status.admitted, status.decision)) told.duration_until_reset = status.decision.reset_after;
      break;
  }
  return told;
}

wire::rls::DescriptorStatus status_of(const Ruling& ruling, const Verdict& verdict) {
  wire::rls::DescriptorStatus told{.code = code_of(verdict.admitted)};
  if (verdict.limit == Verdict::no_limit) return told;
  const auto& limit = *ruling.plan().limits()[verdict.limit].source;
  const auto& numbers = limit.live.by_tier[verdict.tier];
  if (numbers) told.current_limit = {wire::rls::in_units(numbers->rate()), limit.name};
  told.limit_remaining = verdict.decision.remaining;
  if (waiting_helps(verdict.admitted, verdict.decision)) told.duration_until_reset = verdict.decision.reset_after;
  return told;
}

std::string_view unread_text(Unread why) noexcept {
  switch (why) {
    case Unread::message_too_long:
      return "This request is longer than what is judged here, so it is denied.";
    case Unread::head_too_long:
      return "The metadata of this call is longer than what is judged here, so it is denied.";
    case Unread::too_many_descriptors:
      return "This request has more descriptors than are judged together, so it is denied.";
    case Unread::malformed:
      break;
  }
  return "This request has bytes where there can be none, so it is denied.";
}

// Of the verdicts on one call, the one that its client is told of.
bool is_tighter(const Verdict& one, const Verdict& other) noexcept {
  if (one.admitted != other.admitted) return !one.admitted;
  if (!one.admitted && !one.retry_after) return other.retry_after.has_value();
  if (!one.admitted) return other.retry_after && *one.retry_after > *other.retry_after;
  if (one.limit == Verdict::no_limit || other.limit == Verdict::no_limit) return one.limit != Verdict::no_limit;
  __extension__ using Wide = unsigned __int128;
  return Wide{one.decision.remaining} * other.decision.limit < Wide{other.decision.remaining} * one.decision.limit;
}

}  // namespace

void RateLimitService::begin() {
  if (desk_.is_shared() && !current_) current_ = waiting_.take(desk_, waiting_memory);
  (current_ ? *current_ : at_once_).clear();
}

void RateLimitService::call(wire::http2::Server& server, Exchange& exchange, std::string_view message) {
  if (!request_.read(message)) return fail(server, exchange, Status::internal, "the message is no RateLimitRequest");
  if (request_.has_too_many()) return deny_unread(server, exchange, Unread::too_many_descriptors);
  if (const std::string_view fault = fault_of(request_); !fault.empty()) {
    return fail(server, exchange, Status::invalid_argument, fault);
  }
  CallBatch& batch = current_ ? *current_ : at_once_;
  if (request_.domain() != query_domain) return ask_by_descriptors(batch, exchange);
  batch.by_query.push_back({&exchange, batch.queries.size(), request_.descriptors().size()});
  for (const auto& descriptor : request_.descriptors()) {
    batch.queries.add(request_.entries_of(descriptor), request_.hits_of(descriptor), descriptor.is_negative_hits);
  }
}

void RateLimitService::fail(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why) {
  counts_.failed.raise();
  finish(server, exchange, status, why);
}

void RateLimitService::deny_unread(wire::http2::Server& server, Exchange& exchange, Unread why) {
  counts_.of(why).raise();
  body_ = problem_text(429, unread_text(why));
  door::answer(server, exchange, [&](std::string& reply) {
    RateLimitResponse response(reply, Code::over_limit);
    response.response_header("content-type", wire::problem_content_type);
    response.raw_body(body_);
  });
}

std::unique_ptr<CallBatch> RateLimitService::end(wire::http2::Server& server, const net::Link& link, std::string& out) {
  if (!current_) {
    if (!at_once_.by_query.empty()) answer_queries(at_once_, desk_.judge(at_once_.queries.queries()), server, out);
    if (!at_once_.by_descriptors.empty()) judge_descriptors_at_once(server, out);
    return nullptr;
  }
  if (current_->by_query.empty() && current_->by_descriptors.empty()) return nullptr;
  engine::Hearing& hearing = current_->inquiry.open();
  for (const engine::Query& query : current_->queries.queries()) hearing.add(query);
  for (const auto& call : current_->by_descriptors) add_descriptors(hearing, call.question);
  current_->inquiry.begin(link);
  if (current_->inquiry.waiting()) return std::move(current_);
  answer(*current_, server, out);
  drop(std::move(current_));
  return nullptr;
}

void RateLimitService::answer(const CallBatch& batch, wire::http2::Server& server, std::string& out) {
  answer_queries(batch, Ruling(batch.inquiry.heard()), server, out);
  answer_descriptors(batch, server, out);
}

void RateLimitService::drop(std::unique_ptr<CallBatch> batch) noexcept {
  if (!batch) return;
  batch->clear();
  waiting_.give_back(std::move(batch));
}

void RateLimitService::answer_queries(const CallBatch& batch, const Ruling& ruling, wire::http2::Server& server,
                                      std::string& out) {
  std::size_t number = 0;
  for (const CallBatch::Queries& call : batch.by_query) {
    if (call.exchange->gone()) continue;
    door::answer(server, *call.exchange, [&](std::string& reply) { write(ruling, batch.queries, call, reply); });
    if (++number % made_at_once == 0) server.write_answers(out);
  }
  server.write_answers(out);
}

void RateLimitService::answer_descriptors(const CallBatch& batch, wire::http2::Server& server, std::string& out) {
  std::size_t number = batch.queries.size();
  for (const auto& [exchange, question] : batch.by_descriptors) {
    const DescriptorRuling ruling = heard_descriptors(batch.inquiry.heard(), number++, question.domain);
    if (exchange->gone()) continue;
    door::answer(server, *exchange, [&](std::string& reply) { write(ruling, reply); });
    if (number % made_at_once == 0) server.write_answers(out);
  }
  server.write_answers(out);
}

std::string_view RateLimitService::fault_of(const wire::rls::RateLimitRequest& request) const noexcept {
  if (request.domain().empty()) return "rate limit domain must not be empty";
  if (request.descriptors().empty()) return "rate limit descriptor list must not be empty";
  const bool unit_missing = std::ranges::any_of(request.descriptors(), [](const auto& descriptor) {
    return descriptor.limit && !wire::rls::length_of(descriptor.limit->unit);
  });
  if (unit_missing) return "the unit of a limit override must be one from SECOND to YEAR, or WEEK";
  return {};
}

void RateLimitService::judge_descriptors_at_once(wire::http2::Server& server, std::string& out) {
  const engine::Judge::Hold hold = desk_.judge().hold();
  rulings_.clear();
  for (const auto& call : at_once_.by_descriptors) rulings_.add(call.question);
  rulings_.judge(desk_, desk_.now());
  std::size_t number = 0;
  for (const auto& [exchange, question] : at_once_.by_descriptors) {
    const DescriptorRuling ruling = rulings_.ruling(number++);
    if (exchange->gone()) continue;
    door::answer(server, *exchange, [&](std::string& reply) { write(ruling, reply); });
    if (number % made_at_once == 0) server.write_answers(out);
  }
  server.write_answers(out);
}

void RateLimitService::ask_by_descriptors(CallBatch& batch, Exchange& exchange) {
  read_entries();
  const auto entries = batch.arena.keep(std::span<const engine::DescriptorEntry>(entries_));
  batch.by_descriptors.push_back({&exchange, {request_.domain(), batch.arena.keep(asks(entries))}});
}

void RateLimitService::read_entries() {
  entries_.clear();
  for (const auto& descriptor : request_.descriptors()) {
    for (const auto& entry : request_.entries_of(descriptor)) entries_.push_back({entry.key, entry.value});
  }
}

std::span<const engine::DescriptorAsk> RateLimitService::asks(std::span<const engine::DescriptorEntry> entries) {
  std::size_t count = 0;
  for (const auto& descriptor : request_.descriptors()) {
    engine::DescriptorAsk& ask = asks_[count++];
    ask.entries = entries.subspan(descriptor.first_entry, descriptor.entry_count);
    ask.hits = Cost{request_.hits_of(descriptor)};
    ask.gives_back = descriptor.is_negative_hits;
    ask.limit_override.reset();
    if (!descriptor.limit) continue;
    const Duration window = wire::rls::length_of(descriptor.limit->unit).value_or(Duration::zero());
    ask.limit_override = WindowNumbers{descriptor.limit->requests_per_unit, window};
  }
  return std::span(asks_).first(count);
}

void RateLimitService::write(const DescriptorRuling& ruling, std::string& out) {
  RateLimitResponse response(out, code_of(ruling.admitted));
  for (const DescriptorStatus& status : ruling.statuses) response.status(status_of(status));
  if (has_metadata(ruling)) response.dynamic_metadata([&] { append_metadata_struct(out, ruling); });
  auto fields = answer_fields(ruling);
  if (!fields) return;
  if (fields->retry_after) *fields->retry_after += desk_.jitter();
  wire::for_each_field(*fields, desk_.settings().fields, ruling.now,
                       [&](std::string_view name, std::string_view value) { response.response_header(name, value); });
  if (ruling.admitted) return;
  response.response_header("content-type", wire::problem_content_type);
  body_.clear();
  append_denial(body_, ruling);
  response.raw_body(body_);
}

void RateLimitService::write(const Ruling& ruling, const QueryBatch& queries, const CallBatch::Queries& call,
                             std::string& out) {
  const Verdict* tightest = nullptr;
  for (std::size_t i = call.first; i < call.first + call.count; ++i) {
    if (queries.is_negative(i)) continue;
    const Verdict& verdict = ruling.verdict(i);
    if (tightest == nullptr || is_tighter(verdict, *tightest)) tightest = &verdict;
  }
  RateLimitResponse response(out, code_of(tightest == nullptr || tightest->admitted));
  for (std::size_t i = call.first; i < call.first + call.count; ++i) {
    auto status = status_of(ruling, ruling.verdict(i));
    if (queries.is_negative(i)) status.code = Code::ok;
    response.status(status);
  }
  if (tightest == nullptr) return;
  for_each_field(desk_, ruling, *tightest,
                 [&](std::string_view name, std::string_view value) { response.response_header(name, value); });
  if (tightest->admitted) return;
  response.response_header("content-type", wire::problem_content_type);
  body_.clear();
  append_denial(body_, ruling, *tightest);
  response.raw_body(body_);
}

}  // namespace weir::door
