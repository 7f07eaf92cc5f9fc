#include "door/admin/session.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "door/admin/consumer.h"
#include "door/admin/json_writer.h"
#include "door/admin/ruleset_json.h"
#include "door/admin/status_json.h"
#include "wire/http1/characters.h"

namespace weir::door {
namespace {

using wire::http1::Body;
using wire::http1::Request;
using wire::http1::ResponseHead;
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
    using wire::http1::equals_ignoring_case;
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

std::unique_ptr<net::Session> AdminDoor::open(const net::Peer& /*peer*/, const net::Link& link) {
  return std::make_unique<Session>(*this, link);
}

void AdminDoor::Session::serve(std::span<const Request> requests, net::Output& out) {
  for (const Request& request : requests) respond(request, out);
}

std::optional<AdminDoor::Session::Endpoint> AdminDoor::Session::endpoint_of(const Target& target) {
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

bool AdminDoor::Session::changes_state(Subject subject) noexcept {
  return subject == Subject::reset || subject == Subject::reset_descriptor || subject == Subject::reload;
}

void AdminDoor::Session::respond(const Request& request, net::Output& out) {
  const Body body = request.method == "HEAD" ? Body::withheld : Body::sent;
  const auto say = [&](const Answer& answer) { write(reply(out), head(answer.status, request), answer, body); };
  if (!door_.options_.hosts.accept(request.host)) {
    return say({.status = 421, .body = "This door does not answer to that Host; list it in doors.admin.hosts."});
  }
  const std::optional<Target> target = read_target(request.target);
  if (!target) return say({.status = 400, .body = "In the path or its parameters a % is not followed by two digits."});
  const std::optional<Endpoint> endpoint = endpoint_of(*target);
  if (!endpoint) return say({.status = 404, .body = std::string(what_there_is)});
  if (const auto refusal = refuse(request, endpoint->subject)) return say(*refusal);
  if (endpoint->subject == Subject::reload) return start_reload(request, out);
  const bool is_counters = endpoint->subject == Subject::inspect || endpoint->subject == Subject::reset ||
                           endpoint->subject == Subject::inspect_descriptor ||
                           endpoint->subject == Subject::reset_descriptor;
  if (is_counters) return treat_counter(request, *endpoint, *target, out);
  say(answer_to(*endpoint, *target));
}

std::optional<AdminDoor::Session::Answer> AdminDoor::Session::refuse(const Request& request, Subject subject) const {
  const bool changes = changes_state(subject);
  const bool fits = changes ? request.method == "POST" : request.method == "GET" || request.method == "HEAD";
  if (!fits) {
    return Answer{
        .status = 405, .body = changes ? "Use POST." : "Use GET.", .extra = {"Allow", changes ? "POST" : "GET, HEAD"}};
  }
  if (changes) return refuse_change(request.headers);
  const AdminOptions& options = door_.options_;
  const bool is_health = subject == Subject::healthz || subject == Subject::readyz;
  if (is_health || !options.token.is_set()) return {};
  if (shows(request.headers, options.token) || shows(request.headers, options.admin_token)) return {};
  return Answer{.status = 401,
                .body = "This door asks for a token, in X-Weir-Token or as Authorization: Bearer.",
                .extra = {"WWW-Authenticate", "Bearer"}};
}

std::optional<AdminDoor::Session::Answer> AdminDoor::Session::refuse_change(std::span<const Header> headers) const {
  const AdminOptions& options = door_.options_;
  if (!options.admin_token.is_set()) {
    return Answer{.status = 403,
                  .body =
                      "This server has no admin token, so nothing can be changed through this door. It makes one "
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

AdminDoor::Session::Answer AdminDoor::Session::answer_to(const Endpoint& endpoint, const Target& target) {
  switch (endpoint.subject) {
    case Subject::metrics:
      return {.body = door_.backend_.metrics(), .content_type = "text/plain; version=0.0.4; charset=utf-8"};
    case Subject::status:
      return {.body = status_json(door_.backend_.status(), door_.health_.serving())};
    case Subject::ruleset: {
      const auto hold = door_.desk_.judge().hold();
      return {.body = ruleset_json(door_.desk_.judge().plan().ruleset())};
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

AdminDoor::Session::Answer AdminDoor::Session::health(Subject subject) const {
  if (subject == Subject::readyz && !door_.health_.serving()) {
    return {.status = 503, .body = "The server is about to stop."};
  }
  return {.body = "ok\n", .content_type = "text/plain"};
}

AdminDoor::Session::Answer AdminDoor::Session::denied(const Target& target) {
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
  return {.body = denied_json(door_.backend_.denied_most(count))};
}

Result<AdminDoor::Session::Task> AdminDoor::Session::task_of(const Endpoint& endpoint, const Target& target) {
  if (endpoint.subject == Subject::inspect || endpoint.subject == Subject::reset) {
    const bool resets = endpoint.subject == Subject::reset;
    const auto tier = resets ? Result<std::string>() : sole_parameter(target, "tier");
    if (!tier) return tl::unexpected(tier.error());
    const auto kind = resets ? ConsumerTask::Kind::reset : ConsumerTask::Kind::inspect;
    return Task(ConsumerTask(kind, endpoint.limit, endpoint.consumer, *tier));
  }
  if (target.parameters.empty())
    return failure("descriptor", "has no entries: they are the parameters, in their order");
  const bool resets = endpoint.subject == Subject::reset_descriptor;
  const auto kind = resets ? DescriptorTask::Kind::reset : DescriptorTask::Kind::inspect;
  return Task(DescriptorTask(kind, endpoint.limit, target.parameters));
}

void AdminDoor::Session::treat_counter(const Request& request, const Endpoint& endpoint, const Target& target,
                                       net::Output& out) {
  const Body body = request.method == "HEAD" ? Body::withheld : Body::sent;
  const auto say = [&](const Answer& answer) { write(reply(out), head(answer.status, request), answer, body); };
  auto task = task_of(endpoint, target);
  if (!task) return say({.status = 400, .body = task.error().message()});
  if (!door_.desk_.is_shared()) {
    return say(answer_of(*task, std::visit([&](const auto& of) { return of.judge(door_.desk_); }, *task)));
  }
  pending_.push_back(std::make_unique<Pending>(reply_later(), std::move(*task), head(200, request), body, door_.desk_));
  Pending& pending = *pending_.back();
  std::visit([&](auto& of) { of.ask(pending.inquiry.open()); }, pending.task);
  pending.inquiry.begin(link_);
  answer_heard(out);  // what is over at once
}

AdminDoor::Session::Answer AdminDoor::Session::answer_of(const Task& task, Result<std::string> said) {
  if (said) return {.body = std::move(*said)};
  const unsigned status = std::visit([&](const auto& of) { return of.status_of_error(door_.desk_); }, task);
  return {.status = status, .body = said.error().message()};
}

void AdminDoor::Session::answer_heard(net::Output& /*out*/) {
  for (const auto& pending : pending_) {
    if (pending->inquiry.waiting()) continue;
    const auto said = [&](const auto& of) { return of.answer(pending->inquiry.heard()); };
    const Answer answer = answer_of(pending->task, std::visit(said, pending->task));
    pending->head.status = answer.status;
    std::string bytes;
    write(bytes, pending->head, answer, pending->body);
    fulfil(pending->ticket, bytes);
  }
  std::erase_if(pending_, [](const auto& pending) { return !pending->inquiry.waiting(); });
}

void AdminDoor::Session::start_reload(const Request& request, net::Output& out) {
  if (reloading_) {
    const Answer busy{.status = 409, .body = "A reload that was asked for before is not done yet."};
    return write(reply(out), head(busy.status, request), busy, Body::sent);
  }
  reloading_ = true;
  // The link does nothing once this session is gone.
  door_.backend_.reload(
      [this, link = link_, ticket = reply_later(), start = head(200, request)](Result<AdminBackend::Reload> reloaded) {
        link.post([this, ticket, start, reloaded = std::move(reloaded)] { finish_reload(ticket, start, reloaded); });
      });
}

void AdminDoor::Session::finish_reload(Ticket ticket, ResponseHead head, const Result<AdminBackend::Reload>& reloaded) {
  reloading_ = false;
  Answer answer;
  if (reloaded) {
    JsonWriter json;
    json.begin_object();
    json.field("digest", reloaded->digest);
    json.field_or_null("restart_needed", reloaded->restart_needed);
    json.end_object();
    answer.body = json.take();
  } else {
    answer.status = 422;
    answer.body = reloaded.error().message();
  }
  head.status = answer.status;
  std::string bytes;
  write(bytes, head, answer, Body::sent);
  fulfil(ticket, bytes);
}

void AdminDoor::Session::write(std::string& out, const ResponseHead& head, const Answer& answer, Body body) {
  const bool is_error = answer.status >= 400;
  ResponseWriter response(out, head);
  if (!answer.extra.name.empty()) response.header(answer.extra.name, answer.extra.value);
  response.header("Cache-Control", "no-store");
  response.header("Content-Type", is_error ? "application/problem+json" : answer.content_type);
  response.finish(is_error ? problem_text(head.status, answer.body) : answer.body, body);
}

}  // namespace weir::door
