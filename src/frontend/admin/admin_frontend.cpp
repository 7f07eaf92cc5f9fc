#include "frontend/admin/admin_frontend.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/ascii.h"
#include "frontend/admin/admin_json.h"
#include "frontend/admin/live_json.h"
#include "frontend/admin/page_files.h"
#include "frontend/admin/session.h"
#include "frontend/http_router.h"
#include "frontend/openapi.h"
#include "wire/http1/response_writer.h"

namespace weir::frontend {
namespace {

using wire::http1::Request;
using wire::http1::ResponseWriter;

constexpr std::string_view unknown_path =
    "Unknown path; valid paths: GET /metrics, /v1/status, /v1/ruleset, /v1/denied, /v1/stream, /v1/history, "
    "/v1/limits, /v1/limits/NAME, /v1/policy, /v1/cluster, /v1/events, /v1/limits/NAME/consumers/CONSUMER, "
    "/v1/domains/NAME/descriptor?KEY=VALUE, POST /v1/explain, /v1/consumer, /v1/consumer/reset, "
    "/v1/limits/NAME/consumers/CONSUMER/reset, /v1/domains/NAME/descriptor/reset?KEY=VALUE, /v1/reload, "
    "GET and PUT /v1/overrides, /v1/blocks, GET and DELETE /v1/overrides/ID, /v1/blocks/ID, "
    "GET /v1/overrides/history, /v1/blocks/history, "
    "GET /healthz, /readyz, /openapi.yaml, / (the page).";

}  // namespace

std::span<const AdminFrontend::Session::Row> AdminFrontend::Session::rows() noexcept {
  using enum Route::Methods;
  using enum Route::Right;
  using S = Session;
  using A = const Exchange&;
  using overrides::Kind;
  static constexpr Row table[] = {
      {{"/", get, none}, [](S& s, A a) { s.write_page(a); }},
      {{"/page/{file}", get, none}, [](S& s, A a) { s.write_page(a); }},
      {{openapi_path, get, none},
       [](S& s, A a) { s.answer(a, {200, std::string(openapi_text()), openapi_content_type}); }},
      {{"/healthz", get, none}, [](S& s, A a) { s.answer(a, s.health(a.row)); }},
      {{"/readyz", get, none}, [](S& s, A a) { s.answer(a, s.health(a.row)); }},
      {{"/metrics"},
       [](S& s, A a) {
         s.answer(a, {200, s.frontend_.backend_.metrics(), "text/plain; version=0.0.4; charset=utf-8"});
       }},
      {{"/v1/status"},
       [](S& s, A a) {
         s.answer(a, {200, status_json(s.frontend_.backend_.status(), s.frontend_.health_.serving())});
       }},
      {{"/v1/ruleset"},
       [](S& s, A a) {
         const auto lock = s.lock();
         s.answer(a, {200, ruleset_json(s.bindings().ruleset())});
       }},
      {{"/v1/denied"}, [](S& s, A a) { s.answer(a, s.denied(a.target)); }},
      {{"/v1/stream"}, [](S& s, A a) { s.start_stream(a); }, Links::refused},
      {{"/v1/history"}, [](S& s, A a) { s.answer(a, s.history(a.target)); }},
      {{"/v1/limits"}, [](S& s, A a) { s.start_limits(a); }},
      {{"/v1/limits/{name}"}, [](S& s, A a) { s.start_limits(a); }},
      {{"/v1/policy"},
       [](S& s, A a) {
         s.frontend_.backend_.policy(s.later<PolicyReport>(a, [](const Result<PolicyReport>& read) {
           return read ? HttpAnswer{200, policy_json(*read)} : http_problem(503, read.error().message());
         }));
       }},
      {{"/v1/cluster"},
       [](S& s, A a) {
         AdminBackend& backend = s.frontend_.backend_;
         s.answer(a, {200, cluster_json(backend.status(), backend.store_report())});
       }},
      {{"/v1/events"}, [](S& s, A a) { s.answer(a, s.notices(a.target)); }},
      {{"/v1/explain", post}, [](S& s, A a) { s.answer(a, s.explain(a.request)); }},
      {{"/v1/consumer", post}, [](S& s, A a) { s.add_counter_request(a, s.lookup(a)); }},
      {{"/v1/consumer/reset", post, change}, [](S& s, A a) { s.add_counter_request(a, reset_by_body(a)); }},
      {{"/v1/limits/{name}/consumers/{consumer}"}, [](S& s, A a) { s.add_counter_request(a, consumer(a)); }},
      {{"/v1/limits/{name}/consumers/{consumer}/reset", post, change},
       [](S& s, A a) { s.add_counter_request(a, consumer(a)); }},
      {{"/v1/domains/{name}/descriptor"}, [](S& s, A a) { s.add_counter_request(a, descriptor(a)); }},
      {{"/v1/domains/{name}/descriptor/reset", post, change},
       [](S& s, A a) { s.add_counter_request(a, descriptor(a)); }},
      {{"/v1/reload", post, change}, [](S& s, A a) { s.start_reload(a); }},
      {{"/v1/overrides", get, inspect}, [](S& s, A a) { s.list_exceptions(a, Kind::limit_override); }},
      {{"/v1/overrides", put, change}, [](S& s, A a) { s.put_exception(a, Kind::limit_override); }},
      {{"/v1/overrides/history", get, inspect}, [](S& s, A a) { s.list_changes(a, Kind::limit_override); }},
      {{"/v1/overrides/{id}", get, inspect}, [](S& s, A a) { s.show_exception(a, Kind::limit_override); }},
      {{"/v1/overrides/{id}", remove, change}, [](S& s, A a) { s.remove_exception(a, Kind::limit_override); }},
      {{"/v1/blocks", get, inspect}, [](S& s, A a) { s.list_exceptions(a, Kind::block); }},
      {{"/v1/blocks", put, change}, [](S& s, A a) { s.put_exception(a, Kind::block); }},
      {{"/v1/blocks/history", get, inspect}, [](S& s, A a) { s.list_changes(a, Kind::block); }},
      {{"/v1/blocks/{id}", get, inspect}, [](S& s, A a) { s.show_exception(a, Kind::block); }},
      {{"/v1/blocks/{id}", remove, change}, [](S& s, A a) { s.remove_exception(a, Kind::block); }},
  };
  return table;
}

std::vector<Route> AdminFrontend::routes() {
  return {Session::rows().begin(), Session::rows().end()};
}

std::unique_ptr<net::Session> AdminFrontend::open(const net::Peer& /*peer*/, const net::Link& link) {
  return std::make_unique<Session>(*this, link);
}

void AdminFrontend::Session::serve(std::span<const Request> requests, net::Output& out) {
  for (const Request& request : requests) {
    if (!stream_) respond(request, out);
  }
  if (batch_) submit(*batch_, link_);
  answer_done(out);
}

void AdminFrontend::Session::respond(const Request& request, net::Output& out) {
  static const HttpRouter<Row> router{.rows = rows(),
                                      .wrong_host = "Host not accepted; add it to listeners.admin.hosts.",
                                      .unknown_path = unknown_path};
  const RequestTraits traits = traits_of(request);
  std::unique_ptr<HttpAnswer> refusal;
  const Row* const row = router.find(request, frontend_.options_.hosts, refusal);
  if (row == nullptr) return write_answer(reply(out), traits, std::move(*refusal));
  const std::optional<Target> target = read_target(request.target);
  if (!target) {
    return write_answer(reply(out), traits, http_problem(400, "The path or a parameter has invalid percent-encoding."));
  }
  if (auto refused = refuse(request, *row)) return write_answer(reply(out), traits, std::move(*refused));
  row->serve(*this, {*row, request, *target, names_in(*target, *row), traits, out});
}

std::optional<HttpAnswer> AdminFrontend::Session::refuse(const Request& request, const Row& row) const {
  const AdminOptions& options = frontend_.options_;
  if (row.right == Route::Right::none) return {};
  if (is_cross_origin(request, row)) {
    return http_problem(403,
                        "Cross-origin request rejected. If the page is this server's own behind a proxy, add the host "
                        "of its Origin to listeners.admin.hosts.");
  }
  if (row.right == Route::Right::change) return refuse_change(request.headers);
  const bool is_open = !options.token.is_set() && row.right == Route::Right::read;
  const bool may_read = is_open || has(request.headers, options.token) || named_token(request.headers) != nullptr ||
                        has(request.headers, options.admin_token);
  if (may_read) return {};
  if (row.right == Route::Right::inspect) {
    return http_problem(401,
                        "Overrides and blocks name consumers, so reading them requires a token in X-Weir-Token or "
                        "Authorization: Bearer: the admin token, or the listener's.",
                        {"WWW-Authenticate", "Bearer"});
  }
  return http_problem(401, "This listener requires a token in X-Weir-Token or Authorization: Bearer.",
                      {"WWW-Authenticate", "Bearer"});
}

// Links from other pages may be followed, except to streams, which stay open and whose number is limited.
bool AdminFrontend::Session::is_cross_origin(const Request& request, const Row& row) const noexcept {
  if (!is_from_other_origin(request.headers, request.host, frontend_.options_.hosts)) return false;
  const Header* const mode = find_header(request.headers, "sec-fetch-mode");
  const bool is_link = mode != nullptr && mode->value == "navigate";
  return !is_link || row.right == Route::Right::change || row.methods == Route::Methods::post ||
         row.links == Links::refused;
}

std::optional<HttpAnswer> AdminFrontend::Session::refuse_change(std::span<const Header> headers) const {
  const AdminOptions& options = frontend_.options_;
  if (!options.admin_token.is_set()) {
    return http_problem(403,
                        "Write operations are disabled: this server has no admin token. It creates one at startup if "
                        "it has a state directory.");
  }
  if (has(headers, options.admin_token)) return {};
  if (has(headers, options.token) || named_token(headers) != nullptr) {
    return http_problem(403, "This token is read-only. Write operations require the admin token.");
  }
  return http_problem(
      401,
      "Write operations require the admin token in X-Weir-Token or Authorization: Bearer. It is stored in "
      "admin.token in the server's state directory.",
      {"WWW-Authenticate", "Bearer"});
}

// Returns null if the request has none of the named tokens.
const NamedToken* AdminFrontend::Session::named_token(std::span<const Header> headers) const noexcept {
  const auto found = std::ranges::find_if(frontend_.options_.named,
                                          [&](const NamedToken& each) { return has(headers, Token(each.secret)); });
  return found == frontend_.options_.named.end() ? nullptr : &*found;
}

void AdminFrontend::Session::fulfil_with(Ticket ticket, const RequestTraits& traits, HttpAnswer answer) {
  std::string bytes;
  write_answer(bytes, traits, std::move(answer));
  fulfil(ticket, bytes);
}

// The headers allow the page to load only its own files, and allow no other page to frame it.
void AdminFrontend::Session::write_page(const Exchange& exchange) {
  const PageFile* const file = find_page_file(exchange.names.empty() ? "index.html" : exchange.names[0]);
  if (file == nullptr) return answer(exchange, http_problem(404, unknown_path));
  const RequestTraits& traits = exchange.traits;
  const bool is_known = std::ranges::any_of(exchange.request.headers, [&](const Header& header) {
    return base::equals_name(header.name, "if-none-match") && has_etag(header.value, file->etag);
  });
  ResponseWriter response(reply(exchange.out), head(is_known ? 304 : 200, traits));
  response.header("ETag", file->etag);
  response.header("Cache-Control", "no-cache");
  response.header("Content-Security-Policy",
                  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  response.header("Referrer-Policy", "no-referrer");
  response.content_type(file->content_type);
  response.finish(file->bytes, traits.body);
}

void AdminFrontend::Session::write_answer(std::string& out, const RequestTraits& traits, HttpAnswer answer) {
  if (answer.content_type.ends_with("json")) answer.body = without_markup(std::move(answer.body));
  write(out, traits, answer, {"Cache-Control", "no-store"});
}

}  // namespace weir::frontend
