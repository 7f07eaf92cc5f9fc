#include "frontend/admin/admin_frontend.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "answer/problem.h"
#include "base/ascii.h"
#include "base/number.h"
#include "frontend/admin/admin_json.h"
#include "frontend/admin/consumer_lookup.h"
#include "frontend/admin/counter_request.h"
#include "frontend/admin/live_json.h"
#include "frontend/admin/page_files.h"
#include "frontend/admin/request_body.h"
#include "frontend/http_router.h"
#include "frontend/openapi.h"
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

constexpr std::size_t usual_denied = 20;
constexpr std::size_t max_denied_rows = 1'000;
constexpr std::size_t usual_notices = 100;

// The parameter `count`, from 1 to `most`.
Result<std::size_t> count_parameter(const Target& target, std::size_t usual, std::size_t most) {
  const auto text = sole_parameter(target, "count");
  if (!text) return tl::unexpected(text.error());
  if (target.parameters.empty()) return usual;
  const auto count = base::parse_number<std::size_t>(*text);
  if (!count || *count == 0 || *count > most) {
    return failure("count", "is not a whole number from 1 to " + std::to_string(most));
  }
  return *count;
}

HttpAnswer no_such_limit() {
  return http_problem(404, "The policy has no limit of that name.");
}

// A JSON object of the fields that `write` writes.
template <class Write>
HttpAnswer object_of(const Write& write) {
  text::JsonWriter json;
  json.begin_object();
  write(json);
  json.end_object();
  return {200, json.take()};
}

constexpr std::string_view unknown_path =
    "There are GET /metrics, /v1/status, /v1/ruleset, /v1/denied, /v1/stream, /v1/history, /v1/limits, "
    "/v1/limits/NAME, /v1/policy, /v1/cluster, /v1/events, /v1/limits/NAME/consumers/CONSUMER and "
    "/v1/domains/NAME/descriptor?KEY=VALUE, POST /v1/explain, /v1/consumer, /v1/consumer/reset, "
    "/v1/limits/NAME/consumers/CONSUMER/reset, /v1/domains/NAME/descriptor/reset?KEY=VALUE and /v1/reload, "
    "GET /healthz, /readyz and /openapi.yaml, and GET / for a page.";

std::string explain_by(const engine::Bindings& bindings, const ExplainBody& asked) {
  std::vector<Header> headers;
  for (const auto& [name, value] : asked.headers) headers.push_back({name, value});
  Query query{.method = asked.method,
              .path = asked.path,
              .ip = asked.ip,
              .headers = headers,
              .user = asked.user,
              .api_key = asked.api_key,
              .tier = asked.tier};
  if (asked.cost) query.cost = Cost{*asked.cost};
  const store::SliceHolder* const holder = bindings.slice_holder();
  const std::uint64_t nodes = holder == nullptr ? policy::default_nodes : holder->nodes.load(std::memory_order_relaxed);
  return match::explanation_json({bindings.ruleset(), query, match::explain(bindings.matcher(), query), nodes},
                                 text::JsonWriter::Layout::one_line);
}

}  // namespace

class AdminFrontend::Session final : public HttpSession {
 public:
  Session(AdminFrontend& frontend, const net::Link& link)
      : HttpSession(link, frontend.options_.limits, frontend.shared_), frontend_(frontend) {}
  ~Session() override { tell_unanswered(); }

  // A request, and the row of the table that it is for.
  struct Row;
  struct Asked {
    const Row& row;
    const Request& request;
    const Target& target;
    std::vector<std::string> names;  // in place of the braces of the row's path
    RequestTraits traits;
    net::Output& out;
  };
  enum class Links : std::uint8_t { followed, refused };  // from pages of other origins
  struct Row : Route {
    void (*serve)(Session& session, const Asked& asked);
    Links links = Links::followed;
  };
  [[nodiscard]] static std::span<const Row> rows() noexcept;

 private:
  // One whose counters the store has yet to answer for.
  struct Pending {
    Ticket ticket{};
    RequestTraits traits{};
    std::unique_ptr<CounterRequest> request{};
    // Of a reset: the limit, or the domain and the entries of the descriptor.
    std::optional<std::string> resets{};
    std::vector<std::pair<std::string, std::string>> entries{};
  };

  void serve(std::span<const Request> requests, net::Output& out) override;
  void answer_done(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return frontend_.context_.now(); }
  void continue_stream(net::Output& out) override;

  void respond(const Request& request, net::Output& out);
  // Nothing: go on.
  [[nodiscard]] std::optional<HttpAnswer> refuse(const Request& request, const Row& row) const;
  [[nodiscard]] std::optional<HttpAnswer> refuse_change(std::span<const Header> headers) const;
  [[nodiscard]] bool is_from_elsewhere(const Request& request, const Row& row) const noexcept;
  [[nodiscard]] static bool shows(std::span<const Header> headers, const Token& token) noexcept {
    return shows_token(headers, token, TokenFields::or_bearer);
  }

  [[nodiscard]] HttpAnswer health(const Row& row) const;
  [[nodiscard]] HttpAnswer denied(const Target& target);
  [[nodiscard]] HttpAnswer history(const Target& target);
  [[nodiscard]] HttpAnswer notices(const Target& target);
  [[nodiscard]] HttpAnswer explain(const Request& request);
  [[nodiscard]] HttpAnswer answer_limits(const std::string& only, const LimitsReport& report);
  void start_reload(const Asked& asked);
  void start_limits(const Asked& asked);
  void start_stream(const Asked& asked);
  void write_page(const Asked& asked);

  void ask_counter(const Asked& asked, Result<Pending> pending);
  [[nodiscard]] Result<Pending> lookup(const Asked& asked);
  [[nodiscard]] static Result<Pending> reset_by_body(const Asked& asked);
  [[nodiscard]] static Result<Pending> consumer(const Asked& asked);
  [[nodiscard]] static Result<Pending> descriptor(const Asked& asked);
  void tell_reset(const Pending& pending, std::optional<unsigned> status);
  void tell_unanswered();

  // What the backend calls, on any thread, when it has a report: answers on the loop's, if the session is still there.
  template <class Report, class AnswerTo>
  [[nodiscard]] auto later(const Asked& asked, AnswerTo answer_to) {
    return [this, link = link_, ticket = reply_later(), traits = asked.traits, answer_to](Result<Report> report) {
      link.post([this, ticket, traits, answer_to, report = std::move(report)] {
        fulfil_with(ticket, traits, answer_to(report));
        link_.resume();
      });
    };
  }

  // With hold(): the policy stays while it is used.
  [[nodiscard]] const engine::Bindings& bindings() const { return frontend_.context_.evaluator().bindings(); }
  [[nodiscard]] auto hold() const { return frontend_.context_.evaluator().hold(); }

  void say(const Asked& asked, HttpAnswer answer) { write_answer(reply(asked.out), asked.traits, std::move(answer)); }
  void write_answer(std::string& out, const RequestTraits& traits, HttpAnswer answer);
  void fulfil_with(Ticket ticket, const RequestTraits& traits, HttpAnswer answer);

  AdminFrontend& frontend_;
  bool reloading_ = false;
  struct Stream {
    Stream(Feed& feed, const net::Link& link) : place(feed, [link] { link.post([link] { link.resume(); }); }) {}
    Feed::Place place;
    std::uint64_t seen = 0;
  };
  std::optional<Stream> stream_;  // while the connection is one
  std::vector<Pending> pending_;
  engine::EvaluationBatchPtr batch_;  // of them; null: there are none
};

std::span<const AdminFrontend::Session::Row> AdminFrontend::Session::rows() noexcept {
  using enum Route::Methods;
  using enum Route::Right;
  using S = Session;
  using A = const Asked&;
  static constexpr Row table[] = {
      {{"/", get, none}, [](S& s, A a) { s.write_page(a); }},
      {{"/page/{file}", get, none}, [](S& s, A a) { s.write_page(a); }},
      {{openapi_path, get, none},
       [](S& s, A a) { s.say(a, {200, std::string(openapi_text()), openapi_content_type}); }},
      {{"/healthz", get, none}, [](S& s, A a) { s.say(a, s.health(a.row)); }},
      {{"/readyz", get, none}, [](S& s, A a) { s.say(a, s.health(a.row)); }},
      {{"/metrics"},
       [](S& s, A a) { s.say(a, {200, s.frontend_.backend_.metrics(), "text/plain; version=0.0.4; charset=utf-8"}); }},
      {{"/v1/status"},
       [](S& s, A a) { s.say(a, {200, status_json(s.frontend_.backend_.status(), s.frontend_.health_.serving())}); }},
      {{"/v1/ruleset"},
       [](S& s, A a) {
         const auto hold = s.hold();
         s.say(a, {200, ruleset_json(s.bindings().ruleset())});
       }},
      {{"/v1/denied"}, [](S& s, A a) { s.say(a, s.denied(a.target)); }},
      {{"/v1/stream"}, [](S& s, A a) { s.start_stream(a); }, Links::refused},
      {{"/v1/history"}, [](S& s, A a) { s.say(a, s.history(a.target)); }},
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
         s.say(a, {200, cluster_json(backend.status(), backend.store_report())});
       }},
      {{"/v1/events"}, [](S& s, A a) { s.say(a, s.notices(a.target)); }},
      {{"/v1/explain", post}, [](S& s, A a) { s.say(a, s.explain(a.request)); }},
      {{"/v1/consumer", post}, [](S& s, A a) { s.ask_counter(a, s.lookup(a)); }},
      {{"/v1/consumer/reset", post, change}, [](S& s, A a) { s.ask_counter(a, reset_by_body(a)); }},
      {{"/v1/limits/{name}/consumers/{consumer}"}, [](S& s, A a) { s.ask_counter(a, consumer(a)); }},
      {{"/v1/limits/{name}/consumers/{consumer}/reset", post, change},
       [](S& s, A a) { s.ask_counter(a, consumer(a)); }},
      {{"/v1/domains/{name}/descriptor"}, [](S& s, A a) { s.ask_counter(a, descriptor(a)); }},
      {{"/v1/domains/{name}/descriptor/reset", post, change}, [](S& s, A a) { s.ask_counter(a, descriptor(a)); }},
      {{"/v1/reload", post, change}, [](S& s, A a) { s.start_reload(a); }},
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
  static const HttpRouter<Row> router{
      .rows = rows(),
      .wrong_host = "This listener does not answer to that Host; list it in listeners.admin.hosts.",
      .unknown_path = unknown_path};
  const RequestTraits traits = traits_of(request);
  std::unique_ptr<HttpAnswer> refusal;
  const Row* const row = router.find(request, frontend_.options_.hosts, refusal);
  if (row == nullptr) return write_answer(reply(out), traits, std::move(*refusal));
  const std::optional<Target> target = read_target(request.target);
  if (!target) {
    return write_answer(reply(out), traits,
                        http_problem(400, "In the path or its parameters a % is not followed by two digits."));
  }
  if (auto refused = refuse(request, *row)) return write_answer(reply(out), traits, std::move(*refused));
  row->serve(*this, {*row, request, *target, names_in(*target, *row), traits, out});
}

std::optional<HttpAnswer> AdminFrontend::Session::refuse(const Request& request, const Row& row) const {
  const AdminOptions& options = frontend_.options_;
  if (row.right == Route::Right::none) return {};
  if (is_from_elsewhere(request, row)) {
    return http_problem(403,
                        "A page of another origin asks. If it is this server's own behind a proxy, list the host of "
                        "its Origin in listeners.admin.hosts.");
  }
  if (row.right == Route::Right::change) return refuse_change(request.headers);
  const bool may_read =
      !options.token.is_set() || shows(request.headers, options.token) || shows(request.headers, options.admin_token);
  if (may_read) return {};
  return http_problem(401, "This listener asks for a token, in X-Weir-Token or as Authorization: Bearer.",
                      {"WWW-Authenticate", "Bearer"});
}

// A person who follows a link is answered; but a stream stays open, and there are few.
bool AdminFrontend::Session::is_from_elsewhere(const Request& request, const Row& row) const noexcept {
  if (!is_from_other_origin(request.headers, request.host, frontend_.options_.hosts)) return false;
  const Header* const mode = find_header(request.headers, "sec-fetch-mode");
  const bool is_link = mode != nullptr && mode->value == "navigate";
  return !is_link || row.methods == Route::Methods::post || row.links == Links::refused;
}

std::optional<HttpAnswer> AdminFrontend::Session::refuse_change(std::span<const Header> headers) const {
  const AdminOptions& options = frontend_.options_;
  if (!options.admin_token.is_set()) {
    return http_problem(403,
                        "This server has no admin token, so nothing can be changed through this listener. It makes one "
                        "at its start if it has a state directory to keep it in.");
  }
  if (shows(headers, options.admin_token)) return {};
  if (shows(headers, options.token)) {
    return http_problem(403, "This token may read. Changes ask for the admin token.");
  }
  return http_problem(401,
                      "Changes ask for the admin token, in X-Weir-Token or as Authorization: Bearer. It is in "
                      "admin.token in the server's state directory.",
                      {"WWW-Authenticate", "Bearer"});
}

HttpAnswer AdminFrontend::Session::health(const Row& row) const {
  if (row.path == "/healthz" || frontend_.health_.serving()) return {200, "ok\n", "text/plain"};
  return http_problem(503, frontend_.health_.reason());
}

HttpAnswer AdminFrontend::Session::explain(const Request& request) {
  const auto asked = read_explain_body(request.body);
  if (!asked) return http_problem(400, asked.error().message());
  const auto hold = this->hold();
  return {200, explain_by(bindings(), *asked)};
}

HttpAnswer AdminFrontend::Session::denied(const Target& target) {
  const auto count = count_parameter(target, usual_denied, max_denied_rows);
  if (!count) return http_problem(400, count.error().message());
  return {200, denied_json(frontend_.backend_.top_denied(*count))};
}

HttpAnswer AdminFrontend::Session::history(const Target& target) {
  const auto limit = sole_parameter(target, "limit");
  if (!limit) return http_problem(400, limit.error().message());
  const HistoryReport report = frontend_.backend_.history(*limit);
  const auto hold = this->hold();
  if (!limit->empty() && limit_named(bindings().ruleset(), *limit) == nullptr) return no_such_limit();
  return {200, history_json(report, *limit)};
}

HttpAnswer AdminFrontend::Session::notices(const Target& target) {
  const auto count = count_parameter(target, usual_notices, observe::Notices::most);
  if (!count) return http_problem(400, count.error().message());
  return {200, notices_json(frontend_.backend_.notices(*count))};
}

void AdminFrontend::Session::ask_counter(const Asked& asked, Result<Pending> pending) {
  if (!pending) return say(asked, http_problem(400, pending.error().message()));
  if (!batch_) batch_ = frontend_.context_.evaluator().new_batch();
  pending->ticket = reply_later();
  pending->traits = asked.traits;
  pending_.push_back(std::move(*pending));
  pending_.back().request->add_to(*batch_);
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::lookup(const Asked& asked) {
  auto body = read_consumer_body(asked.request.body);
  if (!body) return tl::unexpected(body.error());
  const auto hold = this->hold();
  const auto name_of = [this](std::string_view key) { return frontend_.backend_.consumer_name(key); };
  return Pending{.request = std::make_unique<ConsumerLookup>(bindings().ruleset(), std::move(*body), now(), name_of)};
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::reset_by_body(const Asked& asked) {
  const auto body = read_consumer_body(asked.request.body);
  if (!body) return tl::unexpected(body.error());
  if (body->limit.empty()) return failure("limit", "is needed: the one to forget the consumer at");
  return Pending{.request = consumer_request(CounterRequest::Kind::reset, body->limit, body->consumer),
                 .resets = body->limit};
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::consumer(const Asked& asked) {
  using Kind = CounterRequest::Kind;
  if (asked.row.right == Route::Right::change) {
    return Pending{.request = consumer_request(Kind::reset, asked.names[0], asked.names[1]), .resets = asked.names[0]};
  }
  const auto tier = sole_parameter(asked.target, "tier");
  if (!tier) return tl::unexpected(tier.error());
  return Pending{.request = consumer_request(Kind::inspect, asked.names[0], asked.names[1], *tier)};
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::descriptor(const Asked& asked) {
  using Kind = CounterRequest::Kind;
  const auto& entries = asked.target.parameters;
  if (entries.empty()) return failure("descriptor", "has no entries: they are the parameters, in their order");
  const bool resets = asked.row.right == Route::Right::change;
  return Pending{.request = descriptor_request(resets ? Kind::reset : Kind::inspect, asked.names[0], entries),
                 .resets = resets ? std::optional(asked.names[0]) : std::nullopt,
                 .entries = entries};
}

void AdminFrontend::Session::answer_done(net::Output& /*out*/) {
  if (!batch_ || batch_->in_flight()) return;
  for (const Pending& pending : pending_) {
    const auto error = pending.request->error(*batch_);
    const unsigned status = error ? pending.request->status_of_error(*batch_) : 200;
    if (pending.resets) tell_reset(pending, status);
    fulfil_with(pending.ticket, pending.traits,
                error ? http_problem(status, error->message())
                      : object_of([&](text::JsonWriter& json) { pending.request->write(*batch_, json); }));
  }
  batch_.reset();
  pending_.clear();
}

// Why a reset failed may have the consumer in it, and the log names nobody. Of words that fit no limit there is no key,
// and a name that the policy does not have may be anything. Without a status the store has not answered.
void AdminFrontend::Session::tell_reset(const Pending& pending, std::optional<unsigned> status) {
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

// The client leaves before the store has answered.
void AdminFrontend::Session::tell_unanswered() {
  for (const Pending& pending : pending_) {
    if (pending.resets) tell_reset(pending, {});
  }
}

// On a connection of its own, from here on. Whatever waits for its answer comes before it.
void AdminFrontend::Session::start_stream(const Asked& asked) {
  const RequestTraits& traits = asked.traits;
  net::Output& out = asked.out;
  if (!idle() || !pending_.empty() || !traits.is_last) {
    return say(asked, http_problem(400, "Ask for the stream on a connection of its own."));
  }
  stream_.emplace(frontend_.backend_.feed(), link_);
  if (!stream_->place.taken()) {
    stream_.reset();
    return say(asked, http_problem(503,
                                   "There are " + std::to_string(Feed::max_clients) +
                                       " readers of the stream, and no more at once. Close one, or read /v1/history.",
                                   {"Retry-After", "5"}));
  }
  wire::http1::ResponseHead begun = head(200, traits);
  begun.connection = wire::http1::Connection::close;
  ResponseWriter response(out.bytes(), begun);
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

// A reader that does not read is not waited for.
void AdminFrontend::Session::continue_stream(net::Output& out) {
  if (out.full()) return link_.close();
  stream_->seen = frontend_.backend_.feed().append_after(stream_->seen, out.bytes());
  if (!draining()) return;
  out.append(end_message);
  out.close_after();
  stream_.reset();
  end_stream();
}

// All limits, or one.
void AdminFrontend::Session::start_limits(const Asked& asked) {
  const std::string only = asked.names.empty() ? std::string() : asked.names[0];
  LimitsAsked wanted;
  if (!only.empty()) {
    const auto hold = this->hold();
    if (limit_named(bindings().ruleset(), only) == nullptr) return say(asked, no_such_limit());
    wanted = {.only = only, .top_denied = 50, .recent = observe::History::length};
  }
  frontend_.backend_.limits(wanted, later<LimitsReport>(asked, [this, only](const Result<LimitsReport>& read) {
                              return read ? answer_limits(only, *read) : http_problem(503, read.error().message());
                            }));
}

HttpAnswer AdminFrontend::Session::answer_limits(const std::string& only, const LimitsReport& report) {
  const auto hold = this->hold();
  const policy::Ruleset& ruleset = bindings().ruleset();
  if (only.empty()) return {200, limits_json(ruleset, report)};
  const policy::CompiledLimit* const limit = limit_named(ruleset, only);
  return limit == nullptr ? no_such_limit() : HttpAnswer{200, limit_json(ruleset, *limit, report)};
}

void AdminFrontend::Session::start_reload(const Asked& asked) {
  if (reloading_) return say(asked, http_problem(409, "A reload that was asked for before is not done yet."));
  reloading_ = true;
  frontend_.backend_.reload(
      later<AdminBackend::Reload>(asked, [this](const Result<AdminBackend::Reload>& reloaded) -> HttpAnswer {
        reloading_ = false;
        frontend_.backend_.changed({.what = "reload", .outcome = reloaded ? "done" : reloaded.error().message()});
        if (!reloaded) return http_problem(422, reloaded.error().message());
        return object_of([&](text::JsonWriter& json) {
          json.fields("digest", reloaded->digest, "restart_needed", text::or_null(reloaded->restart_needed));
        });
      }));
}

void AdminFrontend::Session::fulfil_with(Ticket ticket, const RequestTraits& traits, HttpAnswer answer) {
  std::string bytes;
  write_answer(bytes, traits, std::move(answer));
  fulfil(ticket, bytes);
}

// A browser runs and fetches nothing but what comes from here, and no other page can frame it.
void AdminFrontend::Session::write_page(const Asked& asked) {
  const PageFile* const file = find_page_file(asked.names.empty() ? "index.html" : asked.names[0]);
  if (file == nullptr) return say(asked, http_problem(404, unknown_path));
  const RequestTraits& traits = asked.traits;
  const bool is_known = std::ranges::any_of(asked.request.headers, [&](const Header& header) {
    return base::equals_name(header.name, "if-none-match") && has_etag(header.value, file->etag);
  });
  ResponseWriter response(reply(asked.out), head(is_known ? 304 : 200, traits));
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
