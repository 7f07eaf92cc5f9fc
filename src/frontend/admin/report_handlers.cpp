#include <utility>

#include "base/number.h"
#include "frontend/admin/admin_json.h"
#include "frontend/admin/live_json.h"
#include "frontend/admin/request_body.h"
#include "frontend/admin/session.h"
#include "match/explain.h"
#include "observe/history.h"
#include "policy/consistency.h"
#include "store/leased/slice_table.h"
#include "text/json_writer.h"
#include "wire/http1/response_writer.h"

namespace weir::frontend {
namespace {

using wire::http1::Request;
using wire::http1::ResponseWriter;

constexpr std::size_t default_denied = 20;
constexpr std::size_t max_denied_rows = 1'000;
constexpr std::size_t default_notices = 100;

// Reads the parameter `count`, from 1 to `max`.
Result<std::size_t> count_parameter(const Target& target, std::size_t default_count, std::size_t max) {
  const auto text = sole_parameter(target, "count");
  if (!text) return tl::unexpected(text.error());
  if (target.parameters.empty()) return default_count;
  const auto count = base::parse_number<std::size_t>(*text);
  if (!count || *count == 0 || *count > max) {
    return failure("count", "must be a whole number from 1 to " + std::to_string(max));
  }
  return *count;
}

HttpAnswer no_such_limit() {
  return http_problem(404, "The policy has no limit with this name.");
}

std::string explain_by(const engine::Bindings& bindings, const ExplainBody& body, Instant now, AdminBackend& backend) {
  std::vector<Header> headers;
  for (const auto& [name, value] : body.headers) headers.push_back({name, value});
  Query query{.method = body.method,
              .path = body.path,
              .ip = body.ip,
              .headers = headers,
              .user = body.user,
              .api_key = body.api_key,
              .tier = body.tier};
  if (body.cost) query.cost = Cost{*body.cost};
  const store::SliceHolder* const holder = bindings.slice_holder();
  const std::uint64_t nodes = holder == nullptr ? policy::default_nodes : holder->nodes.load(std::memory_order_relaxed);
  const match::Explanation explanation = match::explain(bindings.matcher(), query, bindings.exceptions_at(now));
  const auto id_of = [&](match::ExceptionNumber number) { return backend.exception_id(number); };
  return match::explanation_json({bindings.ruleset(), query, explanation, nodes, id_of},
                                 text::JsonWriter::Layout::one_line);
}

}  // namespace

HttpAnswer AdminFrontend::Session::health(const Row& row) const {
  if (row.path == "/healthz" || frontend_.health_.serving()) return {200, "ok\n", "text/plain"};
  return http_problem(503, frontend_.health_.reason());
}

HttpAnswer AdminFrontend::Session::explain(const Request& request) {
  const auto body = read_explain_body(request.body);
  if (!body) return http_problem(400, body.error().message());
  const auto lock = this->lock();
  return {200, explain_by(bindings(), *body, now(), frontend_.backend_)};
}

HttpAnswer AdminFrontend::Session::denied(const Target& target) {
  const auto count = count_parameter(target, default_denied, max_denied_rows);
  if (!count) return http_problem(400, count.error().message());
  return {200, denied_json(frontend_.backend_.top_denied(*count))};
}

HttpAnswer AdminFrontend::Session::history(const Target& target) {
  const auto limit = sole_parameter(target, "limit");
  if (!limit) return http_problem(400, limit.error().message());
  const HistoryReport report = frontend_.backend_.history(*limit);
  const auto lock = this->lock();
  if (!limit->empty() && limit_named(bindings().ruleset(), *limit) == nullptr) return no_such_limit();
  return {200, history_json(report, *limit)};
}

HttpAnswer AdminFrontend::Session::notices(const Target& target) {
  const auto count = count_parameter(target, default_notices, observe::Notices::max_notices);
  if (!count) return http_problem(400, count.error().message());
  return {200, notices_json(frontend_.backend_.notices(*count))};
}

// Reports all limits, or the one named in the path.
void AdminFrontend::Session::start_limits(const Exchange& exchange) {
  const std::string only = exchange.names.empty() ? std::string() : exchange.names[0];
  LimitsQuery wanted;
  if (!only.empty()) {
    const auto lock = this->lock();
    if (limit_named(bindings().ruleset(), only) == nullptr) return answer(exchange, no_such_limit());
    wanted = {.only = only, .top_denied = 50, .recent = observe::History::length};
  }
  frontend_.backend_.limits(wanted, later<LimitsReport>(exchange, [this, only](const Result<LimitsReport>& read) {
                              return read ? answer_limits(only, *read) : http_problem(503, read.error().message());
                            }));
}

HttpAnswer AdminFrontend::Session::answer_limits(const std::string& only, const LimitsReport& report) {
  const auto lock = this->lock();
  const policy::Ruleset& ruleset = bindings().ruleset();
  if (only.empty()) return {200, limits_json(ruleset, report)};
  const policy::CompiledLimit* const limit = limit_named(ruleset, only);
  return limit == nullptr ? no_such_limit() : HttpAnswer{200, limit_json(ruleset, *limit, report)};
}

void AdminFrontend::Session::start_reload(const Exchange& exchange) {
  if (reloading_) return answer(exchange, http_problem(409, "Another reload is in progress."));
  reloading_ = true;
  frontend_.backend_.reload(
      later<AdminBackend::Reload>(exchange, [this](const Result<AdminBackend::Reload>& reloaded) -> HttpAnswer {
        reloading_ = false;
        frontend_.backend_.changed({.what = "reload", .outcome = reloaded ? "done" : reloaded.error().message()});
        if (!reloaded) return http_problem(422, reloaded.error().message());
        return object_of([&](text::JsonWriter& json) {
          json.fields("digest", reloaded->digest, "restart_needed", text::or_null(reloaded->restart_needed));
        });
      }));
}

// The stream occupies its connection, so pending responses must be sent first.
void AdminFrontend::Session::start_stream(const Exchange& exchange) {
  const RequestTraits& traits = exchange.traits;
  net::Output& out = exchange.out;
  if (!idle() || !pending_.empty() || !traits.is_last) {
    return answer(exchange, http_problem(400, "The stream requires a separate connection."));
  }
  stream_.emplace(frontend_.backend_.feed(), link_);
  if (!stream_->subscription.is_active()) {
    stream_.reset();
    return answer(exchange, http_problem(503,
                                         "Too many stream readers (maximum " + std::to_string(Feed::max_clients) +
                                             "). Close one, or poll /v1/history.",
                                         {"Retry-After", "5"}));
  }
  wire::http1::ResponseHead response_head = head(200, traits);
  response_head.connection = wire::http1::Connection::close;
  ResponseWriter response(out.bytes(), response_head);
  response.header("Cache-Control", "no-store");
  response.content_type("text/event-stream");
  response.finish_head();
  if (traits.body == wire::http1::Body::withheld) {
    stream_.reset();
    return out.close_after();
  }
  const std::uint64_t newest = frontend_.backend_.feed().newest();
  stream_->seen = newest == 0 ? 0 : newest - 1;
  begin_stream();
  continue_stream(out);
}

// Disconnects a client that does not read.
void AdminFrontend::Session::continue_stream(net::Output& out) {
  if (out.full()) return link_.close();
  stream_->seen = frontend_.backend_.feed().append_after(stream_->seen, out.bytes());
  if (!draining()) return;
  out.append(end_message);
  out.close_after();
  stream_.reset();
  end_stream();
}

}  // namespace weir::frontend
