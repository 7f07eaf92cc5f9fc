#include "frontend/admin/admin_frontend.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "frontend/admin/admin_json.h"
#include "frontend/admin/counter_request.h"
#include "frontend/admin/target.h"
#include "text/json_writer.h"
#include "wire/ascii.h"
#include "wire/http1/response_writer.h"
#include "wire/problem.h"

namespace weir::frontend {
namespace {

using wire::http1::Request;
using wire::http1::ResponseWriter;

constexpr std::size_t usual_denied = 20;
constexpr std::size_t most_denied = 1'000;

constexpr std::string_view what_there_is =
    "There are GET /metrics, /v1/status, /v1/ruleset, /v1/denied, /v1/limits/NAME/consumers/CONSUMER and "
    "/v1/domains/NAME/descriptor?KEY=VALUE, POST /v1/limits/NAME/consumers/CONSUMER/reset, "
    "/v1/domains/NAME/descriptor/reset?KEY=VALUE and /v1/reload, GET /healthz and /readyz.";

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

}  // namespace

class AdminFrontend::Session final : public HttpSession {
 public:
  Session(AdminFrontend& frontend, const net::Link& link)
      : HttpSession(link, frontend.options_.limits, frontend.shared_), frontend_(frontend) {}

 private:
  struct Answer {
    unsigned status = 200;
    std::string body{};  // of an error: what is wrong, for problem details
    std::string_view content_type = "application/json";
    Header extra{};  // one more header field; without a name: none
  };

  // What a request is about.
  enum class Subject {
    healthz,
    readyz,
    metrics,
    status,
    ruleset,
    denied,
    inspect,
    reset,
    inspect_descriptor,
    reset_descriptor,
    reload,
  };
  struct Endpoint {
    Subject subject;
    std::string_view limit{};  // or the domain; views into the target
    std::string_view consumer{};
  };

  // One whose counters the store has yet to answer for.
  struct Pending {
    Ticket ticket;
    RequestTraits traits;
    std::unique_ptr<CounterRequest> request;
  };

  void serve(std::span<const Request> requests, net::Output& out) override;
  void answer_done(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return frontend_.context_.now(); }

  [[nodiscard]] static std::optional<Endpoint> endpoint_of(const Target& target);
  [[nodiscard]] static bool changes_state(Subject subject) noexcept;

  void respond(const Request& request, net::Output& out);
  // Nothing: go on.
  [[nodiscard]] std::optional<Answer> refuse(const Request& request, Subject subject) const;
  [[nodiscard]] std::optional<Answer> refuse_change(std::span<const Header> headers) const;
  [[nodiscard]] Answer answer_to(const Endpoint& endpoint, const Target& target);
  [[nodiscard]] Answer health(Subject subject) const;
  [[nodiscard]] Answer denied(const Target& target);

  [[nodiscard]] static Result<std::unique_ptr<CounterRequest>> counter_request(const Endpoint& endpoint,
                                                                               const Target& target);

  void start_reload(const RequestTraits& traits, net::Output& out);
  void finish_reload(Ticket ticket, const RequestTraits& traits, const Result<AdminBackend::Reload>& reloaded);

  void write(std::string& out, const RequestTraits& traits, const Answer& answer);
  void fulfil_with(Ticket ticket, const RequestTraits& traits, const Answer& answer);

  AdminFrontend& frontend_;
  bool reloading_ = false;
  std::vector<Pending> pending_;
  engine::EvaluationBatchPtr batch_;  // of them; null: there are none
};

std::unique_ptr<net::Session> AdminFrontend::open(const net::Peer& /*peer*/, const net::Link& link) {
  return std::make_unique<Session>(*this, link);
}

void AdminFrontend::Session::serve(std::span<const Request> requests, net::Output& out) {
  for (const Request& request : requests) respond(request, out);
  if (batch_) submit(*batch_, link_);
  answer_done(out);
}

std::optional<AdminFrontend::Session::Endpoint> AdminFrontend::Session::endpoint_of(const Target& target) {
  const auto& path = target.segments;
  if (path.size() == 1) {
    if (path[0] == "metrics") return Endpoint{Subject::metrics};
    if (path[0] == "healthz") return Endpoint{Subject::healthz};
    if (path[0] == "readyz") return Endpoint{Subject::readyz};
  }
  if (path.size() < 2 || path[0] != "v1") return {};
  if (path.size() == 2) {
    if (path[1] == "status") return Endpoint{Subject::status};
    if (path[1] == "ruleset") return Endpoint{Subject::ruleset};
    if (path[1] == "denied") return Endpoint{Subject::denied};
    if (path[1] == "reload") return Endpoint{Subject::reload};
  }
  const bool is_consumer = path.size() >= 5 && path[1] == "limits" && path[3] == "consumers";
  if (is_consumer && path.size() == 5) return Endpoint{Subject::inspect, path[2], path[4]};
  if (is_consumer && path.size() == 6 && path[5] == "reset") return Endpoint{Subject::reset, path[2], path[4]};
  const bool is_descriptor = path.size() >= 4 && path[1] == "domains" && path[3] == "descriptor";
  if (is_descriptor && path.size() == 4) return Endpoint{Subject::inspect_descriptor, path[2]};
  if (is_descriptor && path.size() == 5 && path[4] == "reset") return Endpoint{Subject::reset_descriptor, path[2]};
  return {};
}

bool AdminFrontend::Session::changes_state(Subject subject) noexcept {
  return subject == Subject::reset || subject == Subject::reset_descriptor || subject == Subject::reload;
}

void AdminFrontend::Session::respond(const Request& request, net::Output& out) {
  const RequestTraits traits = traits_of(request);
  const auto say = [&](const Answer& answer) { write(reply(out), traits, answer); };
  if (!frontend_.options_.hosts.accept(request.host)) {
    return say(
        {.status = 421, .body = "This listener does not answer to that Host; list it in listeners.admin.hosts."});
  }
  const std::optional<Target> target = read_target(request.target);
  if (!target) return say({.status = 400, .body = "In the path or its parameters a % is not followed by two digits."});
  const std::optional<Endpoint> endpoint = endpoint_of(*target);
  if (!endpoint) return say({.status = 404, .body = std::string(what_there_is)});
  if (const auto refusal = refuse(request, endpoint->subject)) return say(*refusal);
  if (endpoint->subject == Subject::reload) return start_reload(traits, out);
  const bool is_counter = endpoint->subject == Subject::inspect || endpoint->subject == Subject::reset ||
                          endpoint->subject == Subject::inspect_descriptor ||
                          endpoint->subject == Subject::reset_descriptor;
  if (!is_counter) return say(answer_to(*endpoint, *target));
  auto counter = counter_request(*endpoint, *target);
  if (!counter) return say({.status = 400, .body = counter.error().message()});
  if (!batch_) batch_ = frontend_.context_.evaluator().new_batch();
  pending_.push_back({reply_later(), traits, std::move(*counter)});
  pending_.back().request->add_to(*batch_);
}

std::optional<AdminFrontend::Session::Answer> AdminFrontend::Session::refuse(const Request& request,
                                                                             Subject subject) const {
  const bool changes = changes_state(subject);
  const bool fits = changes ? request.method == "POST" : request.method == "GET" || request.method == "HEAD";
  if (!fits) {
    return Answer{
        .status = 405, .body = changes ? "Use POST." : "Use GET.", .extra = {"Allow", changes ? "POST" : "GET, HEAD"}};
  }
  if (changes) return refuse_change(request.headers);
  const AdminOptions& options = frontend_.options_;
  const bool is_health = subject == Subject::healthz || subject == Subject::readyz;
  if (is_health || !options.token.is_set()) return {};
  if (shows(request.headers, options.token) || shows(request.headers, options.admin_token)) return {};
  return Answer{.status = 401,
                .body = "This listener asks for a token, in X-Weir-Token or as Authorization: Bearer.",
                .extra = {"WWW-Authenticate", "Bearer"}};
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

AdminFrontend::Session::Answer AdminFrontend::Session::answer_to(const Endpoint& endpoint, const Target& target) {
  switch (endpoint.subject) {
    case Subject::metrics:
      return {.body = frontend_.backend_.metrics(), .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    case Subject::status:
      return {.body = status_json(frontend_.backend_.status(), frontend_.health_.serving())};
    case Subject::ruleset: {
      const auto hold = frontend_.context_.evaluator().hold();
      return {.body = ruleset_json(frontend_.context_.evaluator().bindings().ruleset())};
    }
    case Subject::denied:
      return denied(target);
    case Subject::healthz:
    case Subject::readyz:
    case Subject::inspect:  // these are answered when they are done
    case Subject::reset:
    case Subject::inspect_descriptor:
    case Subject::reset_descriptor:
    case Subject::reload:
      break;
  }
  return health(endpoint.subject);
}

AdminFrontend::Session::Answer AdminFrontend::Session::health(Subject subject) const {
  if (subject == Subject::readyz && !frontend_.health_.serving()) {
    return {.status = 503, .body = "The server is about to stop."};
  }
  return {.body = "ok\n", .content_type = "text/plain"};
}

AdminFrontend::Session::Answer AdminFrontend::Session::denied(const Target& target) {
  const auto text = sole_parameter(target, "count");
  if (!text) return {.status = 400, .body = text.error().message()};
  std::size_t count = usual_denied;
  if (!text->empty()) {
    const char* const end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, count);
    if (read.ec != std::errc{} || read.ptr != end || count == 0 || count > most_denied) {
      return {.status = 400, .body = "count: is not a whole number from 1 to " + std::to_string(most_denied)};
    }
  }
  return {.body = denied_json(frontend_.backend_.denied_most(count))};
}

Result<std::unique_ptr<CounterRequest>> AdminFrontend::Session::counter_request(const Endpoint& endpoint,
                                                                                const Target& target) {
  using Kind = CounterRequest::Kind;
  const Kind kind = changes_state(endpoint.subject) ? Kind::reset : Kind::inspect;
  if (endpoint.subject == Subject::inspect || endpoint.subject == Subject::reset) {
    const auto tier = kind == Kind::reset ? Result<std::string>() : sole_parameter(target, "tier");
    if (!tier) return tl::unexpected(tier.error());
    return consumer_request(kind, endpoint.limit, endpoint.consumer, *tier);
  }
  if (target.parameters.empty())
    return failure("descriptor", "has no entries: they are the parameters, in their order");
  return descriptor_request(kind, endpoint.limit, target.parameters);
}

void AdminFrontend::Session::answer_done(net::Output& /*out*/) {
  if (!batch_ || batch_->in_flight()) return;
  for (const Pending& pending : pending_) {
    auto said = pending.request->answer(*batch_);
    fulfil_with(pending.ticket, pending.traits,
                said ? Answer{.body = std::move(*said)}
                     : Answer{.status = pending.request->status_of_error(*batch_), .body = said.error().message()});
  }
  batch_.reset();
  pending_.clear();
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
  if (!reloaded) return fulfil_with(ticket, traits, {.status = 422, .body = reloaded.error().message()});
  text::JsonWriter json;
  json.begin_object();
  json.field("digest", reloaded->digest);
  json.field_or_null("restart_needed", reloaded->restart_needed);
  json.end_object();
  fulfil_with(ticket, traits, {.body = json.take()});
}

void AdminFrontend::Session::fulfil_with(Ticket ticket, const RequestTraits& traits, const Answer& answer) {
  std::string bytes;
  write(bytes, traits, answer);
  fulfil(ticket, bytes);
}

void AdminFrontend::Session::write(std::string& out, const RequestTraits& traits, const Answer& answer) {
  const bool is_error = answer.status >= 400;
  ResponseWriter response(out, head(answer.status, traits));
  if (!answer.extra.name.empty()) response.header(answer.extra.name, answer.extra.value);
  response.header("Cache-Control", "no-store");
  response.header("Content-Type", is_error ? wire::problem_content_type : answer.content_type);
  response.finish(is_error ? problem_text(answer.status, answer.body) : answer.body, traits.body);
}

}  // namespace weir::frontend
