#include "frontend/admin/admin_frontend.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "answer/problem.h"
#include "frontend/admin/admin_json.h"
#include "frontend/admin/consumer_lookup.h"
#include "frontend/admin/counter_request.h"
#include "frontend/admin/endpoint.h"
#include "frontend/admin/live_json.h"
#include "frontend/admin/page_files.h"
#include "frontend/admin/request_body.h"
#include "frontend/admin/target.h"
#include "frontend/openapi.h"
#include "match/explain.h"
#include "observe/history.h"
#include "policy/consistency.h"
#include "store/leased/slice_table.h"
#include "text/json_writer.h"
#include "wire/ascii.h"
#include "wire/http1/response_writer.h"

namespace weir::frontend {
namespace {

using wire::http1::Request;
using wire::http1::ResponseWriter;

constexpr std::size_t usual_denied = 20;
constexpr std::size_t most_denied = 1'000;
constexpr std::size_t usual_notices = 100;

// Whether one of the tokens that the caller shows is the one.
bool shows(std::span<const Header> headers, const Token& token) noexcept {
  return std::ranges::any_of(headers, [&](const Header& header) {
    using wire::equals_ignoring_case;
    return (equals_ignoring_case(header.name, "x-weir-token") && token.matches(header.value)) ||
           (equals_ignoring_case(header.name, "authorization") && token.matches(bearer(header.value)));
  });
}

// The value of a parameter that may be there once, beside which there is no other.
Result<std::string> sole_parameter(const Target& target, std::string_view name) {
  if (target.parameters.empty()) return std::string();
  const auto& [first, value] = target.parameters.front();
  if (first != name) return failure(first, "is no parameter of this; there is " + std::string(name));
  if (target.parameters.size() > 1) return failure(target.parameters[1].first, "is one parameter too many");
  return value;
}

// The parameter `count`, from 1 to `most`.
Result<std::size_t> count_parameter(const Target& target, std::size_t usual, std::size_t most) {
  const auto text = sole_parameter(target, "count");
  if (!text) return tl::unexpected(text.error());
  if (target.parameters.empty()) return usual;
  std::size_t count = 0;
  const char* const end = text->data() + text->size();
  const auto read = std::from_chars(text->data(), end, count);
  if (read.ec != std::errc{} || read.ptr != end || count == 0 || count > most) {
    return failure("count", "is not a whole number from 1 to " + std::to_string(most));
  }
  return count;
}

bool has_limit(const policy::Ruleset& ruleset, std::string_view name) {
  return std::ranges::find(ruleset.limits, name, &policy::CompiledLimit::name) != ruleset.limits.end();
}

std::string explain_by(const engine::Bindings& bindings, const ExplainBody& asked) {
  std::vector<Header> headers;
  for (const auto& [name, value] : asked.headers) headers.push_back({name, value});
  match::Query query{.method = asked.method,
                     .target = asked.path,
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

 private:
  struct Answer {
    unsigned status = 200;
    std::string body{};  // of an error: what is wrong, for problem details
    std::string_view content_type = "application/json";
    Header extra{};  // one more header field; without a name: none
  };

  // One whose counters the store has yet to answer for.
  struct Pending {
    Ticket ticket;
    RequestTraits traits;
    std::unique_ptr<CounterRequest> request;
    // Of a reset: the limit, or the domain and the entries of the descriptor.
    std::optional<std::string> resets{};
    std::vector<std::pair<std::string, std::string>> entries{};
  };

  void serve(std::span<const Request> requests, net::Output& out) override;
  void answer_done(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return frontend_.context_.now(); }
  // A stream never ends by itself: no more requests are read from its connection.
  [[nodiscard]] bool in_flight() const override { return stream_.has_value(); }
  void on_turn(net::Output& out) override;

  void respond(const Request& request, net::Output& out);
  // Nothing: go on.
  [[nodiscard]] std::optional<Answer> refuse(const Request& request, Subject subject) const;
  [[nodiscard]] bool is_from_elsewhere(const Request& request, Subject subject) const noexcept;
  [[nodiscard]] std::optional<Answer> refuse_change(std::span<const Header> headers) const;
  [[nodiscard]] Answer answer_to(const Endpoint& endpoint, const Request& request, const Target& target);
  [[nodiscard]] Answer answer_by_policy(const Endpoint& endpoint, const Request& request);
  [[nodiscard]] static Answer no_such_limit() {
    return {.status = 404, .body = "The policy has no limit of that name."};
  }
  [[nodiscard]] Answer health(Subject subject) const;
  [[nodiscard]] Answer denied(const Target& target);
  [[nodiscard]] Answer history(const Target& target);
  [[nodiscard]] Answer notices(const Target& target);

  void ask_counter(const Endpoint& endpoint, const Request& request, const Target& target, net::Output& out);
  [[nodiscard]] Result<Pending> pending_of(const Endpoint& endpoint, const Request& request, const Target& target);
  void tell_reset(const Pending& pending, std::optional<unsigned> status);
  void tell_unanswered();

  void start_reload(const RequestTraits& traits, net::Output& out);
  void finish_reload(Ticket ticket, const RequestTraits& traits, const Result<AdminBackend::Reload>& reloaded);
  void start_policy(const RequestTraits& traits);
  void start_limits(const std::string& only, const RequestTraits& traits, net::Output& out);
  [[nodiscard]] Answer answer_limits(const std::string& only, const Result<LimitsReport>& read);
  void start_stream(const RequestTraits& traits, net::Output& out);

  void write_page(std::string& out, const Request& request, std::string_view name);
  void write(std::string& out, const RequestTraits& traits, Answer answer);
  void fulfil_with(Ticket ticket, const RequestTraits& traits, Answer answer);

  AdminFrontend& frontend_;
  bool reloading_ = false;
  struct Stream {
    explicit Stream(Feed& feed) : place(feed) {}
    Feed::Place place;
    std::uint64_t seen = 0;
  };
  std::optional<Stream> stream_;  // while the connection is one
  std::vector<Pending> pending_;
  engine::EvaluationBatchPtr batch_;  // of them; null: there are none
};

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
  const RequestTraits traits = traits_of(request);
  const auto say = [&](Answer answer) { write(reply(out), traits, std::move(answer)); };
  if (!frontend_.options_.hosts.accept(request.host)) {
    return say(
        {.status = 421, .body = "This listener does not answer to that Host; list it in listeners.admin.hosts."});
  }
  const std::optional<Target> target = read_target(request.target);
  if (!target) return say({.status = 400, .body = "In the path or its parameters a % is not followed by two digits."});
  const std::optional<Endpoint> endpoint = endpoint_of(*target);
  if (!endpoint) return say({.status = 404, .body = std::string(what_there_is)});
  if (const auto refusal = refuse(request, endpoint->subject)) return say(*refusal);
  switch (endpoint->subject) {
    case Subject::page:
      return write_page(reply(out), request, endpoint->name);
    case Subject::reload:
      return start_reload(traits, out);
    case Subject::policy:
      return start_policy(traits);
    case Subject::limits:
    case Subject::limit:
      return start_limits(std::string(endpoint->name), traits, out);
    case Subject::stream:
      return start_stream(traits, out);
    case Subject::consumer:
    case Subject::reset_consumer:
    case Subject::inspect:
    case Subject::reset:
    case Subject::inspect_descriptor:
    case Subject::reset_descriptor:
      return ask_counter(*endpoint, request, *target, out);
    default:
      return say(answer_to(*endpoint, request, *target));
  }
}

void AdminFrontend::Session::ask_counter(const Endpoint& endpoint, const Request& request, const Target& target,
                                         net::Output& out) {
  auto pending = pending_of(endpoint, request, target);
  if (!pending) return write(reply(out), traits_of(request), {.status = 400, .body = pending.error().message()});
  if (!batch_) batch_ = frontend_.context_.evaluator().new_batch();
  pending->ticket = reply_later();
  pending->traits = traits_of(request);
  pending_.push_back(std::move(*pending));
  pending_.back().request->add_to(*batch_);
}

std::optional<AdminFrontend::Session::Answer> AdminFrontend::Session::refuse(const Request& request,
                                                                             Subject subject) const {
  const bool by_post = is_by_post(subject);
  const bool fits = by_post ? request.method == "POST" : request.method == "GET" || request.method == "HEAD";
  if (!fits) {
    return Answer{
        .status = 405, .body = by_post ? "Use POST." : "Use GET.", .extra = {"Allow", by_post ? "POST" : "GET, HEAD"}};
  }
  const Right right = right_of(subject);
  if (right != Right::none && is_from_elsewhere(request, subject)) {
    return Answer{.status = 403,
                  .body =
                      "A page of another origin asks. If it is this server's own behind a proxy, list the host of "
                      "its Origin in listeners.admin.hosts."};
  }
  if (right == Right::change) return refuse_change(request.headers);
  const AdminOptions& options = frontend_.options_;
  if (right == Right::none || !options.token.is_set()) return {};
  if (shows(request.headers, options.token) || shows(request.headers, options.admin_token)) return {};
  return Answer{.status = 401,
                .body = "This listener asks for a token, in X-Weir-Token or as Authorization: Bearer.",
                .extra = {"WWW-Authenticate", "Bearer"}};
}

// A person who follows a link is answered; but a stream stays open, and there are few.
bool AdminFrontend::Session::is_from_elsewhere(const Request& request, Subject subject) const noexcept {
  if (!is_from_other_origin(request.headers, request.host, frontend_.options_.hosts)) return false;
  const bool is_link = std::ranges::any_of(request.headers, [](const Header& header) {
    return wire::equals_ignoring_case(header.name, "sec-fetch-mode") && header.value == "navigate";
  });
  return !is_link || is_by_post(subject) || subject == Subject::stream;
}

std::optional<AdminFrontend::Session::Answer> AdminFrontend::Session::refuse_change(
    std::span<const Header> headers) const {
  const AdminOptions& options = frontend_.options_;
  if (!options.admin_token.is_set()) {
    return Answer{.status = 403,
                  .body =
                      "This server has no admin token, so nothing can be changed through this listener. It makes one "
                      "at its start if it has a state directory to keep it in."};
  }
  if (shows(headers, options.admin_token)) return {};
  if (shows(headers, options.token)) {
    return Answer{.status = 403, .body = "This token may read. Changes ask for the admin token."};
  }
  return Answer{.status = 401,
                .body =
                    "Changes ask for the admin token, in X-Weir-Token or as Authorization: Bearer. It is in "
                    "admin.token in the server's state directory.",
                .extra = {"WWW-Authenticate", "Bearer"}};
}

AdminFrontend::Session::Answer AdminFrontend::Session::answer_to(const Endpoint& endpoint, const Request& request,
                                                                 const Target& target) {
  AdminBackend& backend = frontend_.backend_;
  switch (endpoint.subject) {
    case Subject::document:
      return {.body = std::string(openapi_text()), .content_type = openapi_content_type};
    case Subject::metrics:
      return {.body = backend.metrics(), .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    case Subject::status:
      return {.body = status_json(backend.status(), frontend_.health_.serving())};
    case Subject::cluster:
      return {.body = cluster_json(backend.status(), backend.store_report())};
    case Subject::denied:
      return denied(target);
    case Subject::history:
      return history(target);
    case Subject::events:
      return notices(target);
    case Subject::healthz:
    case Subject::readyz:
      return health(endpoint.subject);
    default:
      return answer_by_policy(endpoint, request);
  }
}

// What needs the policy that is in force.
AdminFrontend::Session::Answer AdminFrontend::Session::answer_by_policy(const Endpoint& endpoint,
                                                                        const Request& request) {
  const auto hold = frontend_.context_.evaluator().hold();
  const engine::Bindings& bindings = frontend_.context_.evaluator().bindings();
  if (endpoint.subject == Subject::ruleset) return {.body = ruleset_json(bindings.ruleset())};
  const auto asked = read_explain_body(request.body);
  if (!asked) return {.status = 400, .body = asked.error().message()};
  return {.body = explain_by(bindings, *asked)};
}

AdminFrontend::Session::Answer AdminFrontend::Session::health(Subject subject) const {
  if (subject == Subject::readyz && !frontend_.health_.serving()) {
    return {.status = 503, .body = std::string(frontend_.health_.reason())};
  }
  return {.body = "ok\n", .content_type = "text/plain"};
}

AdminFrontend::Session::Answer AdminFrontend::Session::denied(const Target& target) {
  const auto count = count_parameter(target, usual_denied, most_denied);
  if (!count) return {.status = 400, .body = count.error().message()};
  return {.body = denied_json(frontend_.backend_.denied_most(*count))};
}

AdminFrontend::Session::Answer AdminFrontend::Session::history(const Target& target) {
  const auto limit = sole_parameter(target, "limit");
  if (!limit) return {.status = 400, .body = limit.error().message()};
  const HistoryReport report = frontend_.backend_.history(*limit);
  const auto hold = frontend_.context_.evaluator().hold();
  const bool is_known = limit->empty() || has_limit(frontend_.context_.evaluator().bindings().ruleset(), *limit);
  if (!is_known) return no_such_limit();
  return {.body = history_json(report, *limit)};
}

AdminFrontend::Session::Answer AdminFrontend::Session::notices(const Target& target) {
  const auto count = count_parameter(target, usual_notices, observe::Notices::most);
  if (!count) return {.status = 400, .body = count.error().message()};
  return {.body = notices_json(frontend_.backend_.notices(*count))};
}

Result<AdminFrontend::Session::Pending> AdminFrontend::Session::pending_of(const Endpoint& endpoint,
                                                                           const Request& request,
                                                                           const Target& target) {
  using Kind = CounterRequest::Kind;
  Pending pending{};
  const Kind kind = right_of(endpoint.subject) == Right::change ? Kind::reset : Kind::inspect;
  if (kind == Kind::reset) pending.resets = endpoint.name;
  if (endpoint.subject == Subject::consumer || endpoint.subject == Subject::reset_consumer) {
    auto body = read_consumer_body(request.body);
    if (!body) return tl::unexpected(body.error());
    if (kind == Kind::reset) {
      if (body->limit.empty()) return failure("limit", "is needed: the one to forget the consumer at");
      pending.resets = body->limit;
      pending.request = consumer_request(kind, body->limit, body->consumer);
      return pending;
    }
    const auto hold = frontend_.context_.evaluator().hold();
    const auto name_of = [this](std::string_view key) { return frontend_.backend_.consumer_name(key); };
    pending.request = std::make_unique<ConsumerLookup>(frontend_.context_.evaluator().bindings().ruleset(),
                                                       std::move(*body), now(), name_of);
  } else if (endpoint.subject == Subject::inspect || endpoint.subject == Subject::reset) {
    const auto tier = kind == Kind::reset ? Result<std::string>() : sole_parameter(target, "tier");
    if (!tier) return tl::unexpected(tier.error());
    pending.request = consumer_request(kind, endpoint.name, endpoint.consumer, *tier);
  } else {
    if (target.parameters.empty()) {
      return failure("descriptor", "has no entries: they are the parameters, in their order");
    }
    pending.entries = target.parameters;
    pending.request = descriptor_request(kind, endpoint.name, target.parameters);
  }
  return pending;
}

void AdminFrontend::Session::answer_done(net::Output& /*out*/) {
  if (!batch_ || batch_->in_flight()) return;
  for (const Pending& pending : pending_) {
    auto said = pending.request->answer(*batch_);
    const unsigned status = said ? 200 : pending.request->status_of_error(*batch_);
    if (pending.resets) tell_reset(pending, status);
    fulfil_with(pending.ticket, pending.traits,
                {.status = status, .body = said ? std::move(*said) : said.error().message()});
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
    std::vector<match::DescriptorEntry> entries;
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
void AdminFrontend::Session::start_stream(const RequestTraits& traits, net::Output& out) {
  if (!idle() || !pending_.empty() || !traits.is_last) {
    return write(reply(out), traits, {.status = 400, .body = "Ask for the stream on a connection of its own."});
  }
  stream_.emplace(frontend_.backend_.feed());
  if (!stream_->place.taken()) {
    stream_.reset();
    return write(reply(out), traits,
                 {.status = 503,
                  .body = "There are " + std::to_string(Feed::most_clients) +
                          " readers of the stream, and no more at once. Close one, or read /v1/history.",
                  .extra = {"Retry-After", "5"}});
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
  on_turn(out);
}

// A reader that does not read is not waited for.
void AdminFrontend::Session::on_turn(net::Output& out) {
  if (!stream_) return;
  if (out.full()) return link_.close();
  stream_->seen = frontend_.backend_.feed().append_after(stream_->seen, out.bytes());
  if (!draining()) return;
  out.append(end_message);
  out.close_after();
  stream_.reset();
}

// All limits, or one.
void AdminFrontend::Session::start_limits(const std::string& only, const RequestTraits& traits, net::Output& out) {
  LimitsAsked asked;
  if (!only.empty()) {
    const auto hold = frontend_.context_.evaluator().hold();
    if (!has_limit(frontend_.context_.evaluator().bindings().ruleset(), only)) {
      return write(reply(out), traits, no_such_limit());
    }
    asked = {.only = only, .denied_most = 50, .recent = observe::History::length};
  }
  frontend_.backend_.limits(asked,
                            [this, link = link_, ticket = reply_later(), traits, only](Result<LimitsReport> read) {
                              link.post([this, ticket, traits, only, read = std::move(read)] {
                                fulfil_with(ticket, traits, answer_limits(only, read));
                                link_.resume();
                              });
                            });
}

AdminFrontend::Session::Answer AdminFrontend::Session::answer_limits(const std::string& only,
                                                                     const Result<LimitsReport>& read) {
  if (!read) return {.status = 503, .body = read.error().message()};
  const auto hold = frontend_.context_.evaluator().hold();
  const policy::Ruleset& ruleset = frontend_.context_.evaluator().bindings().ruleset();
  if (only.empty()) return {.body = limits_json(ruleset, *read)};
  const auto limit = std::ranges::find(ruleset.limits, only, &policy::CompiledLimit::name);
  if (limit == ruleset.limits.end()) return no_such_limit();
  return {.body = limit_json(ruleset, *limit, *read)};
}

void AdminFrontend::Session::start_policy(const RequestTraits& traits) {
  frontend_.backend_.policy([this, link = link_, ticket = reply_later(), traits](Result<PolicyReport> read) {
    link.post([this, ticket, traits, read = std::move(read)] {
      fulfil_with(ticket, traits,
                  read ? Answer{.body = policy_json(*read)} : Answer{.status = 503, .body = read.error().message()});
      link_.resume();
    });
  });
}

void AdminFrontend::Session::start_reload(const RequestTraits& traits, net::Output& out) {
  if (reloading_) {
    return write(reply(out), traits, {.status = 409, .body = "A reload that was asked for before is not done yet."});
  }
  reloading_ = true;
  // The link does nothing once this session is gone.
  frontend_.backend_.reload(
      [this, link = link_, ticket = reply_later(), traits](Result<AdminBackend::Reload> reloaded) {
        link.post([this, ticket, traits, reloaded = std::move(reloaded)] {
          finish_reload(ticket, traits, reloaded);
          link_.resume();
        });
      });
}

void AdminFrontend::Session::finish_reload(Ticket ticket, const RequestTraits& traits,
                                           const Result<AdminBackend::Reload>& reloaded) {
  reloading_ = false;
  frontend_.backend_.changed({.what = "reload", .outcome = reloaded ? "done" : reloaded.error().message()});
  if (!reloaded) return fulfil_with(ticket, traits, {.status = 422, .body = reloaded.error().message()});
  text::JsonWriter json;
  json.begin_object();
  json.field("digest", reloaded->digest);
  json.field_or_null("restart_needed", reloaded->restart_needed);
  json.end_object();
  fulfil_with(ticket, traits, {.body = json.take()});
}

void AdminFrontend::Session::fulfil_with(Ticket ticket, const RequestTraits& traits, Answer answer) {
  std::string bytes;
  write(bytes, traits, std::move(answer));
  fulfil(ticket, bytes);
}

// A browser runs and fetches nothing but what comes from here, and no other page can frame it.
void AdminFrontend::Session::write_page(std::string& out, const Request& request, std::string_view name) {
  const PageFile* const file = find_page_file(name);
  const RequestTraits traits = traits_of(request);
  if (file == nullptr) return write(out, traits, {.status = 404, .body = std::string(what_there_is)});
  const bool is_known = std::ranges::any_of(request.headers, [&](const Header& header) {
    return wire::equals_ignoring_case(header.name, "if-none-match") && has_etag(header.value, file->etag);
  });
  ResponseWriter response(out, head(is_known ? 304 : 200, traits));
  response.header("ETag", file->etag);
  response.header("Cache-Control", "no-cache");
  response.header("Content-Security-Policy",
                  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                  "frame-ancestors 'none'; base-uri 'none'; form-action 'none'");
  response.header("Referrer-Policy", "no-referrer");
  response.content_type(file->content_type);
  response.finish(file->bytes, traits.body);
}

void AdminFrontend::Session::write(std::string& out, const RequestTraits& traits, Answer answer) {
  const bool is_error = answer.status >= 400;
  ResponseWriter response(out, head(answer.status, traits));
  if (!answer.extra.name.empty()) response.header(answer.extra.name, answer.extra.value);
  response.header("Cache-Control", "no-store");
  response.content_type(is_error ? answer::problem_content_type : answer.content_type);
  if (is_error) return response.finish(without_markup(answer::problem_text(answer.status, answer.body)), traits.body);
  const bool is_json = answer.content_type == "application/json";
  response.finish(is_json ? without_markup(std::move(answer.body)) : answer.body, traits.body);
}

}  // namespace weir::frontend
