#include "door/http/session.h"

#include <algorithm>
#include <utility>

#include "door/answer.h"
#include "door/http/verdict_json.h"
#include "wire/http1/characters.h"
#include "wire/problem.h"

namespace weir::door {
namespace {

using engine::Query;
using engine::Verdict;
using wire::http1::Body;
using wire::http1::Request;
using wire::http1::ResponseWriter;

constexpr std::string_view auth_path = "/v1/auth";

// http://host/path -> /path
std::string_view without_authority(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

bool is_from_a_page(const Request& request) noexcept {
  return std::ranges::any_of(
      request.headers, [](const Header& header) { return wire::http1::equals_ignoring_case(header.name, "origin"); });
}

Body body_of(const Request& request) noexcept {
  return request.method == "HEAD" ? Body::withheld : Body::sent;
}

}  // namespace

std::unique_ptr<net::Session> HttpDoor::open(const net::Peer& peer, const net::Link& link) {
  return std::make_unique<Session>(*this, peer, link);
}

void HttpDoor::Session::serve(std::span<const Request> requests, net::Output& out) {
  door_.queries_.clear();
  door_.tasks_.clear();
  door_.reader_.clear();
  for (const Request& request : requests) door_.tasks_.push_back(task_for(request));
  const Ruling ruling = door_.desk_.judge(door_.queries_);
  for (std::size_t i = 0; i < requests.size(); ++i) answer(requests[i], door_.tasks_[i], ruling, out);
}

bool HttpDoor::Session::may_ask(const Request& request) const noexcept {
  if (!door_.options_.token.is_set()) return true;
  return std::ranges::any_of(request.headers, [&](const Header& header) {
    return wire::http1::equals_ignoring_case(header.name, "x-weir-token") && door_.options_.token.matches(header.value);
  });
}

HttpDoor::Task HttpDoor::Session::task_for(const Request& request) {
  if (!door_.options_.hosts.accept(request.host)) {
    return {.status = 421, .detail = "This door does not answer to that Host; list it in doors.http.hosts."};
  }
  const std::string_view target = without_authority(request.target);
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/healthz" || path == "/readyz" || path == "/healthcheck") return health(path);
  const bool is_auth =
      target.starts_with(auth_path) &&
      (target.size() == auth_path.size() || target[auth_path.size()] == '/' || target[auth_path.size()] == '?');
  const bool is_post = path == "/v1/check" || path == "/json";
  if (!is_auth && !is_post) {
    return {.status = 404, .detail = "There are POST /v1/check, /v1/auth, POST /json, GET /healthz and GET /readyz."};
  }
  if (!may_ask(request)) return {.status = 401, .detail = "This door asks for a token in X-Weir-Token."};
  if (is_auth) return auth(request, target.substr(auth_path.size()));
  if (request.method != "POST") return {.status = 405, .allow = "POST", .detail = "Use POST."};
  if (is_from_a_page(request)) return {.status = 403, .detail = "Pages in a browser are not answered: Origin is set."};
  return path == "/json" ? Task{.kind = Task::Kind::descriptors} : check(request);
}

HttpDoor::Task HttpDoor::Session::auth(const Request& request, std::string_view below) {
  const auto original = original_request(request, below, door_.options_.auth_headers);
  if (!original) return {.status = 403, .detail = original.error().message()};
  const std::size_t index = door_.queries_.size();
  const bool can_hold = door_.room_.held + index < door_.options_.hold_limit;
  door_.queries_.push_back({.method = original->method,
                            .target = original->target,
                            .ip = ip_,
                            .headers = request.headers,
                            .max_wait = can_hold ? door_.options_.hold_max : Duration::zero()});
  return {.kind = Task::Kind::auth, .first = index, .count = 1};
}

HttpDoor::Task HttpDoor::Session::check(const Request& request) {
  const std::size_t first = door_.queries_.size();
  const auto many = door_.reader_.read(request.body, door_.queries_);
  if (!many) return {.status = 400, .detail = many.error().message()};
  return {
      .kind = *many ? Task::Kind::checks : Task::Kind::check, .first = first, .count = door_.queries_.size() - first};
}

HttpDoor::Task HttpDoor::Session::health(std::string_view path) const {
  if (path == "/healthz" || door_.health_.serving()) return {.status = 200, .detail = "ok\n"};
  return {.status = path == "/readyz" ? 503U : 500U, .detail = "The server is about to stop."};
}

void HttpDoor::Session::answer(const Request& request, const Task& task, const Ruling& ruling, net::Output& out) {
  switch (task.kind) {
    case Task::Kind::auth:
      answer_auth(request, ruling.verdicts()[task.first], ruling, out);
      return;
    case Task::Kind::check:
      answer_check(request, ruling.verdicts()[task.first], ruling, reply(out));
      return;
    case Task::Kind::checks:
      answer_checks(request, task, ruling, reply(out));
      return;
    case Task::Kind::descriptors:
      answer_descriptors(request, reply(out));
      return;
    case Task::Kind::say:
      say(request, task, reply(out));
      return;
  }
}

void HttpDoor::Session::answer_auth(const Request& request, const Verdict& verdict, const Ruling& ruling,
                                    net::Output& out) {
  const bool waits = verdict.admitted && verdict.delay > Duration::zero();
  std::string& bytes = waits ? reply_at(net::Moment::clock::now() + verdict.delay) : reply(out);
  ResponseWriter response(bytes, head(verdict.admitted ? 200 : 429, request));
  for_each_field(door_.desk_, ruling, verdict,
                 [&](std::string_view name, std::string_view value) { response.header(name, value); });
  if (verdict.admitted) {
    response.finish();
    return;
  }
  door_.body_.clear();
  append_denial(door_.body_, ruling, verdict);
  response.header("Content-Type", wire::problem_content_type);
  response.finish(door_.body_, body_of(request));
}

void HttpDoor::Session::answer_check(const Request& request, const Verdict& verdict, const Ruling& ruling,
                                     std::string& out) {
  door_.body_.clear();
  append_verdict(door_.body_, ruling, verdict);
  ResponseWriter response(out, head(verdict.admitted ? 200 : 429, request));
  for_each_field(door_.desk_, ruling, verdict,
                 [&](std::string_view name, std::string_view value) { response.header(name, value); });
  response.header("Content-Type", "application/json");
  response.finish(door_.body_);
}

void HttpDoor::Session::answer_checks(const Request& request, const Task& task, const Ruling& ruling,
                                      std::string& out) {
  door_.body_.assign(1, '[');
  for (std::size_t i = 0; i < task.count; ++i) {
    if (i > 0) door_.body_ += ',';
    append_verdict(door_.body_, ruling, ruling.verdicts()[task.first + i]);
  }
  door_.body_ += ']';
  ResponseWriter response(out, head(200, request));
  response.header("Content-Type", "application/json");
  response.finish(door_.body_);
}

void HttpDoor::Session::answer_descriptors(const Request& request, std::string& out) {
  const unsigned status = door_.descriptors_.judge(request.body, door_.body_, door_.descriptor_fields_);
  ResponseWriter response(out, head(status, request));
  for (const auto& [name, value] : door_.descriptor_fields_) response.header(name, value);
  response.header("Content-Type", status == 400 ? "text/plain" : "application/json");
  response.finish(door_.body_);
}

void HttpDoor::Session::say(const Request& request, const Task& task, std::string& out) {
  const auto start = head(task.status, request);
  if (task.status >= 300 && task.allow.empty()) {
    answer_problem(out, start, task.detail, body_of(request));
    return;
  }
  ResponseWriter response(out, start);
  if (!task.allow.empty()) response.header("Allow", task.allow);
  response.header("Content-Type", "text/plain");
  response.finish(task.detail, body_of(request));
}

}  // namespace weir::door
