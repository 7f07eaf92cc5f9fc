#include "frontend/rls/quota_service.h"

#include <algorithm>
#include <tuple>

#include "frontend/rls/rate_limit_service.h"
#include "match/matcher.h"

namespace weir::frontend {
namespace {

constexpr std::string_view too_large = "message too large or too many unread responses";

QuotaTerms::Limit terms_under(const policy::CompiledLimit& limit, const weir::Limit& numbers, std::string_view key,
                              Cost cost) {
  std::string state = limit.domain;
  state.append(1, '\0').append(limit.name).append(1, '\0').append(key);
  return {std::move(state), {numbers.capacity(), numbers.rate()}, cost};
}

void append_action(wire::rlqs::QuotaResponse& response, std::string_view id, const QuotaAction& action) {
  switch (action.kind) {
    case QuotaAction::Kind::allow_all:
      return response.allow_all(id, action.time_to_live);
    case QuotaAction::Kind::deny_all:
      return response.deny_all(id, action.time_to_live);
    case QuotaAction::Kind::token_bucket:
      return response.assign(id, action.time_to_live,
                             {action.max_tokens, action.tokens_per_fill, action.fill_interval});
    case QuotaAction::Kind::abandon:
      return response.abandon(id);
  }
}

std::uint64_t sum_of(const wire::rlqs::Usage& usage) noexcept {
  return usage.allowed + std::min(usage.denied, ~usage.allowed);
}

}  // namespace

std::unique_ptr<QuotaCall> QuotaService::open(wire::http2::Server& server, Exchange& exchange) {
  auto stream = quotas_->open();
  if (!stream) {
    finish(server, exchange, Status::resource_exhausted, "too many quota streams");
    return nullptr;
  }
  return std::make_unique<QuotaCall>(QuotaCall{.exchange = &exchange, .stream = std::move(stream)});
}

bool QuotaService::receive(wire::http2::Server& server, QuotaCall& call, std::size_t max_message_size) {
  using StepKind = wire::grpc::MessageStep::Kind;
  Exchange& exchange = *call.exchange;
  const auto over = [&](Status status, std::string_view why) {
    finish(server, exchange, status, why);
    return false;
  };
  std::size_t max_usages = buckets_of_turn;
  std::size_t max_visits = buckets_of_turn;
  for (;;) {
    if (exchange.fault() != wire::http2::Fault::none) return over(Status::resource_exhausted, too_large);
    call.has_unread = !report(call, max_usages);
    if (call.has_unread) return send_actions(server, call, max_visits);
    const auto step = wire::grpc::first_message(exchange.body(), max_message_size);
    if (step.kind == StepKind::partial && !exchange.complete()) return send_actions(server, call, max_visits);
    if (step.kind == StepKind::partial && exchange.body().empty()) return over(Status::ok, {});
    if (step.kind != StepKind::whole) {
      refuse_message(server, exchange, step.kind);
      return false;
    }
    if (!read(server, call, step.message)) return false;
    exchange.take_body(step.consumed);
  }
}

bool QuotaService::read(wire::http2::Server& server, QuotaCall& call, std::string_view message) {
  const auto refuse = [&](Status status, std::string_view why) {
    finish(server, *call.exchange, status, why);
    return false;
  };
  if (!reports_.read(message)) return refuse(Status::internal, "invalid RateLimitQuotaUsageReports message");
  if (reports_.has_too_many()) return refuse(Status::resource_exhausted, too_large);
  if (call.domain.empty()) call.domain = reports_.domain();
  if (call.domain.empty()) return refuse(Status::invalid_argument, "the first message must name the domain");
  if (!reports_.domain().empty() && reports_.domain() != call.domain) {
    return refuse(Status::invalid_argument, "the domain must not change within a stream");
  }
  const auto has_no_id = [](const wire::rlqs::Usage& usage) { return usage.entry_count == 0; };
  if (std::ranges::any_of(reports_.usages(), has_no_id)) {
    return refuse(Status::invalid_argument, "bucket id must not be empty");
  }
  server.begin(*call.exchange, response_head());
  call.usages.clear();
  call.ids.clear();
  call.next_usage = call.next_id = 0;
  for (const wire::rlqs::Usage& usage : reports_.usages()) {
    const std::size_t before = call.ids.size();
    wire::rlqs::append_id(call.ids, reports_.entries_of(usage));
    call.usages.push_back({call.ids.size() - before, sum_of(usage)});
  }
  return true;
}

bool QuotaService::report(QuotaCall& call, std::size_t& max_usages) {
  const Instant now = context_.now();
  const auto terms = [&](std::string_view id) { return terms_of(call.domain, id); };
  for (; call.next_usage < call.usages.size(); ++call.next_usage, --max_usages) {
    if (max_usages == 0) return false;
    const QuotaCall::Usage& usage = call.usages[call.next_usage];
    call.stream->report(std::string_view(call.ids).substr(call.next_id, usage.id_size), usage.requests, terms, now);
    call.next_id += usage.id_size;
  }
  return true;
}

bool QuotaService::send_actions(wire::http2::Server& server, QuotaCall& call, std::size_t& max_visits) {
  if (call.domain.empty()) return true;
  if (server.clogged()) {
    finish(server, *call.exchange, Status::resource_exhausted, too_large);
    return false;
  }
  refresh();
  const Instant now = context_.now();
  if (std::exchange(call.matched_by, policy_) != policy_) call.stream->rematch();
  std::string message;
  wire::rlqs::QuotaResponse response(message);
  max_visits = call.stream->collect(
      now, [&](std::string_view id) { return terms_of(call.domain, id); },
      [&](std::string_view id, const QuotaAction& action) { append_action(response, id, action); }, max_visits);
  if (!message.empty()) send_message(server, *call.exchange, [&](std::string& out) { out += message; });
  return true;
}

void QuotaService::close(std::unique_ptr<QuotaCall> call, net::Loop* loop) {
  call.reset();
  if (loop == nullptr || !quotas_->release_some()) return;
  turns_.add(*loop, [quotas = quotas_] { return quotas->release_some(); });
}

void QuotaService::refresh() {
  const auto lock = context_.evaluator().lock();
  const std::string& digest = context_.evaluator().bindings().ruleset().digest;
  if (policy_ != 0 && digest == digest_) return;
  digest_ = digest;
  ++policy_;
}

QuotaTerms QuotaService::terms_of(std::string_view domain, std::string_view id) {
  const auto lock = context_.evaluator().lock();
  wire::rlqs::read_id(id, entries_);
  return domain == query_domain ? query_terms() : descriptor_terms(domain);
}

QuotaTerms QuotaService::query_terms() {
  const match::Matcher& matcher = context_.evaluator().bindings().matcher();
  Query query;
  std::ignore = read_query(entries_, query, headers_);
  match::MatchScratch scratch(matcher);
  match::Matched matched;
  matcher.match(query, scratch, matched, context_.evaluator().bindings().exceptions_at(context_.now()));
  if (matched.denied_by != match::no_limit) return {.admits = false, .limits = {}};
  QuotaTerms terms;
  for (std::size_t i = 0; i < matched.limits.size(); ++i) {
    const match::MatchedLimit& part = matched.limits[i];
    const policy::CompiledLimit& limit = matcher.ruleset().limits[part.limit];
    const auto& numbers = part.replaced != nullptr ? part.replaced->numbers : limit.live.by_tier[matched.caller.tier];
    if (limit.mode != policy::Mode::enforce || !numbers || part.cost == Cost{0}) continue;
    // Envoy cannot release the units of a concurrency limit.
    if (numbers->algorithm() == Algorithm::concurrency) return {.admits = false, .limits = {}};
    terms.limits.push_back(terms_under(limit, *numbers, matched.key(i), part.cost));
  }
  return terms;
}

QuotaTerms QuotaService::descriptor_terms(std::string_view domain) {
  const policy::Ruleset& ruleset = context_.evaluator().bindings().ruleset();
  const auto found = std::ranges::find(ruleset.domains, domain, &policy::Domain::name);
  if (found == ruleset.domains.end()) return {};
  descriptor_.clear();
  for (const wire::rlqs::Entry& entry : entries_) descriptor_.push_back({entry.key, entry.value});
  std::string key;
  const policy::Descriptor* const descriptor = match::match_unordered(*found, descriptor_, key);
  if (descriptor == nullptr || descriptor->unlimited || descriptor->shadow_mode) return {};
  if (descriptor->banned_per) return {.admits = false, .limits = {}};
  const policy::CompiledLimit& limit = ruleset.limits[*descriptor->limit];
  QuotaTerms terms;
  terms.limits.push_back(terms_under(limit, *limit.live.by_tier[0], key, Cost{1}));
  return terms;
}

}  // namespace weir::frontend
