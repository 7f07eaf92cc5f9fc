#include <optional>
#include <utility>

#include "frontend/admin/consumer_lookup.h"
#include "frontend/admin/counter_request.h"
#include "frontend/admin/request_body.h"
#include "frontend/admin/session.h"
#include "match/descriptors.h"
#include "observe/log_line.h"

namespace weir::frontend {

void AdminFrontend::Session::add_counter_request(const Exchange& exchange, Result<Pending> pending) {
  if (!pending) return answer(exchange, http_problem(400, pending.error().message()));
  if (!batch_) batch_ = frontend_.context_.evaluator().new_batch();
  pending->ticket = reply_later();
  pending->traits = exchange.traits;
  pending_.push_back(std::move(*pending));
  pending_.back().request->name_exceptions(
      [&backend = frontend_.backend_](match::ExceptionNumber number) { return backend.exception_id(number); });
  pending_.back().request->add_to(*batch_);
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::lookup(const Exchange& exchange) {
  auto body = read_consumer_body(exchange.request.body);
  if (!body) return tl::unexpected(body.error());
  const auto lock = this->lock();
  const auto name_of = [this](std::string_view key) { return frontend_.backend_.consumer_name(key); };
  return Pending{.request = std::make_unique<ConsumerLookup>(bindings().ruleset(), std::move(*body), now(), name_of)};
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::reset_by_body(const Exchange& exchange) {
  const auto body = read_consumer_body(exchange.request.body);
  if (!body) return tl::unexpected(body.error());
  if (body->limit.empty()) return failure("limit", "missing: the limit at which to reset the consumer");
  return Pending{.request = consumer_request(CounterRequest::Kind::reset, body->limit, body->consumer),
                 .resets = body->limit};
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::consumer(const Exchange& exchange) {
  using Kind = CounterRequest::Kind;
  if (exchange.row.right == Route::Right::change) {
    return Pending{.request = consumer_request(Kind::reset, exchange.names[0], exchange.names[1]),
                   .resets = exchange.names[0]};
  }
  const auto tier = sole_parameter(exchange.target, "tier");
  if (!tier) return tl::unexpected(tier.error());
  return Pending{.request = consumer_request(Kind::inspect, exchange.names[0], exchange.names[1], *tier)};
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::descriptor(const Exchange& exchange) {
  using Kind = CounterRequest::Kind;
  const auto& entries = exchange.target.parameters;
  if (entries.empty()) return failure("descriptor", "missing: send its entries as parameters, in order");
  const bool resets = exchange.row.right == Route::Right::change;
  return Pending{.request = descriptor_request(resets ? Kind::reset : Kind::inspect, exchange.names[0], entries),
                 .resets = resets ? std::optional(exchange.names[0]) : std::nullopt,
                 .entries = entries};
}

void AdminFrontend::Session::answer_done(net::Output& /*out*/) {
  if (!batch_ || batch_->in_flight()) return;
  for (const Pending& pending : pending_) {
    const auto error = pending.request->error(*batch_);
    const unsigned status = error ? pending.request->status_of_error(*batch_) : 200;
    if (pending.resets) report_reset(pending, status);
    fulfil_with(pending.ticket, pending.traits,
                error ? http_problem(status, error->message())
                      : object_of([&](text::JsonWriter& json) { pending.request->write(*batch_, json); }));
  }
  batch_.reset();
  pending_.clear();
}

// The log must not name consumers, so the error is left out: it may quote one. A consumer that does not fit the limit
// has no key to hash. An unknown limit's name could be anything, so it is left out too. An unset status means that the
// store did not answer.
void AdminFrontend::Session::report_reset(const Pending& pending, std::optional<unsigned> status) {
  const bool is_done = status == 200U;
  const bool has_key = !status || is_done || status == 409U || status == 503U;
  observe::MadeChange change{.what = "reset", .outcome = !status ? "unanswered" : is_done ? "done" : "failed"};
  if (status != 404U) change.limit = *pending.resets;
  if (!pending.entries.empty()) {
    std::vector<DescriptorEntry> entries;
    for (const auto& [key, value] : pending.entries) entries.push_back({key, value});
    change.consumer = frontend_.backend_.consumer_name(entries);
  } else if (has_key) {
    change.consumer = frontend_.backend_.consumer_name(batch_->consumer(pending.request->first()));
  }
  frontend_.backend_.changed(change);
}

// Reports the resets that the store had not answered when the client disconnected.
void AdminFrontend::Session::report_unanswered() {
  for (const Pending& pending : pending_) {
    if (pending.resets) report_reset(pending, {});
  }
}

}  // namespace weir::frontend
