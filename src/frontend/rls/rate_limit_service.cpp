#include "frontend/rls/rate_limit_service.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "answer/problem.h"
#include "wire/rls.h"

namespace weir::frontend {
namespace {

using engine::DescriptorStatus;
using engine::Verdict;
using wire::rls::Code;
using wire::rls::RateLimitResponse;

static_assert(wire::rls::RateLimitRequest::max_descriptors == table::max_group_size);

// Responses are built and written a few at a time, so that the code and the data of each step stay in the processor's
// cache.
constexpr std::size_t written_at_once = 8;

Code code_of(bool admitted) noexcept {
  return admitted ? Code::ok : Code::over_limit;
}

// A permanent denial has no reset time.
bool waiting_helps(bool admitted, const Decision& decision) noexcept {
  return admitted || decision.retry_after.has_value();
}

wire::rls::DescriptorStatus status_of(const DescriptorStatus& status) {
  wire::rls::DescriptorStatus result{.code = code_of(status.admitted)};
  switch (status.kind) {
    case DescriptorStatus::Kind::unmatched:
      break;
    case DescriptorStatus::Kind::unlimited:
      result.limit_remaining = UINT32_MAX;
      break;
    case DescriptorStatus::Kind::limited:
      result.current_limit = {wire::rls::in_units({status.numbers.limit, status.numbers.window}), status.name};
      result.limit_remaining = status.decision.remaining;
      if (waiting_helps(status.admitted, status.decision)) result.duration_until_reset = status.decision.reset_after;
      break;
  }
  return result;
}

wire::rls::DescriptorStatus status_of(const policy::Ruleset& ruleset, const Verdict& verdict) {
  wire::rls::DescriptorStatus result{.code = code_of(verdict.admitted)};
  if (verdict.limit == Verdict::no_limit) return result;
  const policy::CompiledLimit& limit = ruleset.limits[verdict.limit];
  const Limit* const numbers = engine::numbers_of(ruleset, verdict);
  if (numbers != nullptr) result.current_limit = {wire::rls::in_units(numbers->rate()), limit.name};
  result.limit_remaining = verdict.decision.remaining;
  if (waiting_helps(verdict.admitted, verdict.decision)) result.duration_until_reset = verdict.decision.reset_after;
  return result;
}

std::string_view unread_text(Unread why) noexcept {
  constexpr std::array<std::string_view, unread_names.size()> texts{
      "The request is too long to be evaluated, so it is denied.",
      "The metadata of the call is too long to be evaluated, so it is denied.",
      "The request has too many descriptors to be evaluated, so it is denied.",
      "The request is malformed, so it is denied."};
  return texts[static_cast<std::size_t>(why)];
}

// Orders the verdicts on one call. The client receives the tightest.
bool is_tighter(const Verdict& one, const Verdict& other) noexcept {
  if (one.admitted != other.admitted) return !one.admitted;
  if (!one.admitted && !one.retry_after) return other.retry_after.has_value();
  if (!one.admitted) return other.retry_after && *one.retry_after > *other.retry_after;
  if (one.limit == Verdict::no_limit || other.limit == Verdict::no_limit) return one.limit != Verdict::no_limit;
  __extension__ using Wide = unsigned __int128;
  return Wide{one.decision.remaining} * other.decision.limit < Wide{other.decision.remaining} * one.decision.limit;
}

// Returns the field of the query for a key; null for a header.
std::string_view* query_field(Query& query, std::string_view key) noexcept {
  if (key == "method") return &query.method;
  if (key == "path") return &query.path;
  if (key == "user") return &query.user;
  if (key == "api_key") return &query.api_key;
  if (key == "ip" || key == "remote_address") return &query.ip;  // remote_address is Envoy's name
  if (key == "tier") return &query.tier;
  return nullptr;
}

// Returns the error of a request; empty if it is valid.
std::string_view fault_of(const wire::rls::RateLimitRequest& request) noexcept {
  if (request.domain().empty()) return "rate limit domain must not be empty";
  if (request.descriptors().empty()) return "rate limit descriptor list must not be empty";
  const bool unit_missing = std::ranges::any_of(request.descriptors(), [](const auto& descriptor) {
    return descriptor.limit && !wire::rls::length_of(descriptor.limit->unit);
  });
  if (unit_missing) return "the unit of a limit override must be one from SECOND to YEAR, or WEEK";
  return {};
}

}  // namespace

bool read_query(std::span<const wire::rls::Entry> entries, Query& query, std::vector<Header>& headers) {
  bool is_report = false;
  headers.clear();
  for (const wire::rls::Entry& entry : entries) {
    if (entry.key == "report") {
      is_report = entry.value == "true";
    } else if (std::string_view* const field = query_field(query, entry.key)) {
      *field = entry.value;
    } else {
      headers.push_back({entry.key, entry.value});
    }
  }
  query.headers = headers;
  return is_report;
}

std::unique_ptr<CallBatch> RateLimitService::new_batch() {
  auto batch = batches_.take();
  batch->evaluation = context_.evaluator().new_batch();
  return batch;
}

void RateLimitService::release_batch(std::unique_ptr<CallBatch> batch) noexcept {
  batch->evaluation.reset();
  batch->calls.clear();
  batch->never_over.clear();
  batch->memory.clear();
  batches_.put_back(std::move(batch));
}

void RateLimitService::add(CallBatch& batch, wire::http2::Server& server, Exchange& exchange, RateLimitMethod method,
                           std::string_view message) {
  if (!request_.read(message)) return fail(server, exchange, Status::internal, "invalid RateLimitRequest message");
  if (request_.has_too_many()) return deny_unread(server, exchange, Unread::too_many_descriptors);
  if (const std::string_view fault = fault_of(request_); !fault.empty()) {
    return fail(server, exchange, Status::invalid_argument, fault);
  }
  const std::size_t first = batch.evaluation->size();
  request_.domain() == query_domain ? add_queries(batch, method) : add_descriptors(batch, method);
  batch.calls.push_back({&exchange, first, batch.evaluation->size() - first});
}

// Zero hits peek, one hit charges the cost that the policy sets, and more hits charge that many units. Units of a
// concurrency limit are held until negative hits release them or the lease expires, because responses have no receipt.
void RateLimitService::add_queries(CallBatch& batch, RateLimitMethod method) {
  using Action = engine::ReceiptRequest::Action;
  for (const auto& descriptor : request_.descriptors()) {
    const std::uint64_t hits = method == RateLimitMethod::check ? 1 : request_.hits_of(descriptor);
    Query query{.max_wait = Duration::zero(), .wants_more_after = true};
    query.peek = hits == 0 || method == RateLimitMethod::check;
    if (hits != 1) query.cost = Cost{hits};
    const bool says_report = read_query(request_.entries_of(descriptor), query, headers_);
    query.headers = batch.memory.keep(std::span<const Header>(headers_));
    const bool is_report = says_report || method == RateLimitMethod::report;
    const Action action = descriptor.is_negative_hits ? Action::give_back : is_report ? Action::report : Action::hold;
    if (query.peek) {
      batch.evaluation->add(query);
    } else {
      batch.evaluation->add(query, engine::ReceiptRequest{.action = action});
    }
    batch.never_over.push_back(method != RateLimitMethod::check && action != Action::hold);
  }
}

void RateLimitService::add_descriptors(CallBatch& batch, RateLimitMethod method) {
  entries_.clear();
  for (const auto& descriptor : request_.descriptors()) {
    for (const auto& entry : request_.entries_of(descriptor)) entries_.push_back({entry.key, entry.value});
  }
  const auto entries = batch.memory.keep(std::span<const DescriptorEntry>(entries_));
  const auto kept = batch.memory.keep(read_queries(entries, method));
  switch (method) {
    case RateLimitMethod::decide:
      batch.evaluation->add(request_.domain(), kept);
      break;
    case RateLimitMethod::check:
      batch.evaluation->add_peek(request_.domain(), kept);
      break;
    case RateLimitMethod::report:
      batch.evaluation->add_report(request_.domain(), kept);
      break;
  }
  batch.never_over.push_back(false);
}

std::span<const match::DescriptorQuery> RateLimitService::read_queries(std::span<const DescriptorEntry> entries,
                                                                       RateLimitMethod method) {
  const bool only_checks = method == RateLimitMethod::check;
  std::size_t count = 0;
  for (const auto& descriptor : request_.descriptors()) {
    match::DescriptorQuery& query = queries_[count++];
    query.entries = entries.subspan(descriptor.first_entry, descriptor.entry_count);
    query.hits = Cost{only_checks ? 1 : request_.hits_of(descriptor)};
    query.gives_back = descriptor.is_negative_hits && !only_checks;
    query.limit_override.reset();
    if (!descriptor.limit) continue;
    const Duration window = wire::rls::length_of(descriptor.limit->unit).value_or(Duration::zero());
    query.limit_override = WindowNumbers{descriptor.limit->requests_per_unit, window};
  }
  return std::span(queries_).first(count);
}

void RateLimitService::fail(wire::http2::Server& server, Exchange& exchange, Status status, std::string_view why) {
  counts_.failed.raise();
  finish(server, exchange, status, why);
}

void RateLimitService::deny_unread(wire::http2::Server& server, Exchange& exchange, Unread why) {
  counts_.of(why).raise();
  body_ = answer::problem_text(429, unread_text(why));
  frontend::answer(server, exchange, [&](std::string& reply) {
    RateLimitResponse response(reply, Code::over_limit);
    append_problem(response);
  });
}

// Sends the problem in body_.
void RateLimitService::append_problem(RateLimitResponse& response) const {
  response.response_header("content-type", answer::problem_content_type);
  response.raw_body(body_);
}

void RateLimitService::answer(const CallBatch& batch, wire::http2::Server& server, std::string& out) {
  if (batch.calls.empty()) return;
  std::size_t made = 0;
  for (const CallBatch::Call& call : batch.calls) {
    if (call.exchange->closed()) continue;
    frontend::answer(server, *call.exchange, [&](std::string& reply) {
      if (batch.evaluation->kind(call.first) == engine::EvaluationBatch::Kind::descriptors) {
        write_descriptors(answer::DescriptorVerdict(*batch.evaluation, call.first), reply);
      } else {
        write_queries(batch, call, reply);
      }
    });
    if (++made % written_at_once == 0) server.write_answers(out);
  }
  server.write_answers(out);
}

void RateLimitService::write_descriptors(const answer::DescriptorVerdict& verdict, std::string& out) {
  RateLimitResponse response(out, code_of(verdict.admitted));
  for (const DescriptorStatus& status : verdict.statuses) response.status(status_of(status));
  if (answer::has_metadata(verdict)) response.dynamic_metadata([&] { answer::append_metadata_struct(out, verdict); });
  context_.for_each_field(
      verdict, [&](std::string_view name, std::string_view value) { response.response_header(name, value); });
  if (verdict.admitted || verdict.tightest() == nullptr) return;
  body_.clear();
  answer::append_denial(body_, verdict);
  append_problem(response);
}

void RateLimitService::write_queries(const CallBatch& batch, const CallBatch::Call& call, std::string& out) {
  const engine::EvaluationBatch& evaluation = *batch.evaluation;
  const policy::Ruleset& ruleset = evaluation.bindings().ruleset();
  const Verdict* tightest = nullptr;
  for (std::size_t i = call.first; i < call.first + call.count; ++i) {
    if (batch.never_over[i]) continue;
    const Verdict& verdict = evaluation.verdict(i);
    if (tightest == nullptr || is_tighter(verdict, *tightest)) tightest = &verdict;
  }
  RateLimitResponse response(out, code_of(tightest == nullptr || tightest->admitted));
  for (std::size_t i = call.first; i < call.first + call.count; ++i) {
    auto status = status_of(ruleset, evaluation.verdict(i));
    if (batch.never_over[i]) status.code = Code::ok;
    response.status(status);
  }
  if (tightest == nullptr) return;
  context_.for_each_field(ruleset, *tightest, [&](std::string_view name, std::string_view value) {
    response.response_header(name, value);
  });
  if (tightest->admitted) return;
  body_.clear();
  answer::append_denial(body_, ruleset, *tightest);
  append_problem(response);
}

}  // namespace weir::frontend
