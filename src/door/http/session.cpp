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

// For a proxy that keeps header fields of an answer only, as nginx does: if it asks with this one, a denial has its
// body there too. nginx takes 4 KiB of fields, and believes that Weir is away if there are more.
constexpr std::string_view problem_field = "X-Weir-Problem";
constexpr std::size_t longest_problem_field = 2048;

// http://host/path -> /path
std::string_view without_authority(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

bool is_health(std::string_view path) noexcept {
  return path == "/healthz" || path == "/readyz" || path == "/healthcheck";
}

// The content codings that a body has, but for `identity`, which is none.
bool is_encoded(const Request& request) noexcept {
  return std::ranges::any_of(request.headers, [](const Header& header) {
    return wire::http1::equals_ignoring_case(header.name, "content-encoding") && !header.value.empty() &&
           !wire::http1::equals_ignoring_case(header.value, "identity");
  });
}

// `name` is in lower case.
bool has_header(const Request& request, std::string_view name) noexcept {
  return std::ranges::any_of(
      request.headers, [name](const Header& header) { return wire::http1::equals_ignoring_case(header.name, name); });
}

bool is_from_a_page(const Request& request) noexcept {
  return has_header(request, "origin");
}

Body body_of(const Request& request) noexcept {
  return request.method == "HEAD" ? Body::withheld : Body::sent;
}

}  // namespace

std::unique_ptr<net::Session> HttpDoor::open(const net::Peer& peer, const net::Link& link) {
  return std::make_unique<Session>(*this, peer, link);
}

void HttpDoor::Batch::clear() noexcept {
  tasks.clear();
  queries.clear();
  descriptors.clear();
  may_hold = 0;
  arena.clear();
  inquiry.close();
}

void HttpDoor::Session::serve(std::span<const Request> requests, net::Output& out) {
  if (door_.desk_.is_shared()) return ask_later(requests, out);
  Batch& batch = door_.at_once_;
  batch.clear();
  read(requests, batch);
  answer_all(requests, batch, door_.desk_.judge(batch.queries), out);
}

void HttpDoor::Session::ask_later(std::span<const Request> requests, net::Output& out) {
  batch_ = door_.waiting_.take(door_.desk_, waiting_memory);
  read(keep(requests, batch_->kept), *batch_);
  door_.may_hold_ += batch_->may_hold;
  if (batch_->queries.empty() && batch_->descriptors.empty()) {
    answer_all(batch_->kept.requests, *batch_, door_.desk_.judge({}), out);
    return let_go();
  }
  engine::Hearing& hearing = batch_->inquiry.open();
  for (const Query& query : batch_->queries) hearing.add(query);
  for (const DescriptorQuestion& question : batch_->descriptors) add_descriptors(hearing, question);
  batch_->inquiry.begin(link_);
  answer_heard(out);
}

void HttpDoor::Session::answer_heard(net::Output& out) {
  if (!batch_ || batch_->inquiry.waiting()) return;
  answer_all(batch_->kept.requests, *batch_, Ruling(batch_->inquiry.heard()), out);
  let_go();
}

void HttpDoor::Session::let_go() noexcept {
  if (!batch_) return;
  door_.may_hold_ -= batch_->may_hold;
  batch_->clear();
  door_.waiting_.give_back(std::move(batch_));
}

void HttpDoor::Session::read(std::span<const Request> requests, Batch& batch) {
  for (const Request& request : requests) batch.tasks.push_back(task_for(request, batch));
}

bool HttpDoor::Session::may_ask(const Request& request) const noexcept {
  if (!door_.options_.token.is_set()) return true;
  return std::ranges::any_of(request.headers, [&](const Header& header) {
    return wire::http1::equals_ignoring_case(header.name, "x-weir-token") && door_.options_.token.matches(header.value);
  });
}

HttpDoor::Task HttpDoor::Session::task_for(const Request& request, Batch& batch) {
  if (!door_.options_.hosts.accept(request.host)) {
    return {.status = 421, .detail = "This door does not answer to that Host; list it in doors.http.hosts."};
  }
  const std::string_view target = without_authority(request.target);
  const std::string_view path = target.substr(0, target.find('?'));
  if (is_health(path)) return health(path);
  const bool is_auth =
      target.starts_with(auth_path) &&
      (target.size() == auth_path.size() || target[auth_path.size()] == '/' || target[auth_path.size()] == '?');
  const bool is_post = path == "/v1/check" || path == "/json";
  if (!is_auth && !is_post) {
    return {.status = 404, .detail = "There are POST /v1/check, /v1/auth, POST /json, GET /healthz and GET /readyz."};
  }
  if (!may_ask(request)) return {.status = 401, .detail = "This door asks for a token in X-Weir-Token."};
  if (is_auth) return auth(request, target.substr(auth_path.size()), batch);
  if (request.method != "POST") return {.status = 405, .allow = "POST", .detail = "Use POST."};
  if (is_from_a_page(request)) return {.status = 403, .detail = "Pages in a browser are not answered: Origin is set."};
  if (is_encoded(request)) return {.status = 415, .detail = "Bodies are taken without a Content-Encoding."};
  return path == "/json" ? descriptors(request, batch) : check(request, batch);
}

// Each is an object of its own, or lies in one.
std::size_t HttpDoor::Session::questions_in(const Request& request) const {
  return 1 + static_cast<std::size_t>(std::ranges::count(request.body, '{'));
}

bool HttpDoor::Session::asks_for_a_decision(const Request& request) const {
  const std::string_view target = without_authority(request.target);
  return !is_health(target.substr(0, target.find('?')));
}

HttpDoor::Task HttpDoor::Session::auth(const Request& request, std::string_view below, Batch& batch) {
  const auto original = original_request(request, below, door_.options_.auth_headers);
  if (!original) return {.status = 403, .detail = original.error().message()};
  const std::size_t index = batch.queries.size();
  const bool can_hold = door_.room_.held + door_.may_hold_ + batch.may_hold < door_.options_.hold_limit;
  if (can_hold) ++batch.may_hold;
  batch.queries.push_back({.method = original->method,
                           .target = original->target,
                           .ip = ip_,
                           .headers = request.headers,
                           .max_wait = can_hold ? door_.options_.hold_max : Duration::zero()});
  return {.kind = Task::Kind::auth, .first = index, .count = 1};
}

HttpDoor::Task HttpDoor::Session::check(const Request& request, Batch& batch) {
  const std::size_t first = batch.queries.size();
  const auto many = door_.reader_.read(request.body, batch.queries, batch.arena);
  if (!many) return {.status = 400, .detail = many.error().message()};
  return {
      .kind = *many ? Task::Kind::checks : Task::Kind::check, .first = first, .count = batch.queries.size() - first};
}

HttpDoor::Task HttpDoor::Session::descriptors(const Request& request, Batch& batch) {
  const auto question = door_.descriptors_.read(request.body, batch.arena);
  if (!question) {
    return {.kind = Task::Kind::say_plainly, .status = 400, .detail = question.error().message() + '\n'};
  }
  batch.descriptors.push_back(*question);
  return {.kind = Task::Kind::descriptors, .first = batch.descriptors.size() - 1, .count = 1};
}

HttpDoor::Task HttpDoor::Session::health(std::string_view path) const {
  if (path == "/healthz" || door_.health_.serving()) return {.status = 200, .detail = "ok\n"};
  return {.status = path == "/readyz" ? 503U : 500U, .detail = "The server is about to stop."};
}

void HttpDoor::Session::answer_all(std::span<const Request> requests, const Batch& batch, const Ruling& ruling,
                                   net::Output& out) {
  for (std::size_t i = 0; i < requests.size(); ++i) answer(requests[i], batch, batch.tasks[i], ruling, out);
}

void HttpDoor::Session::answer(const Request& request, const Batch& batch, const Task& task, const Ruling& ruling,
                               net::Output& out) {
  switch (task.kind) {
    case Task::Kind::auth:
      answer_auth(request, ruling.verdict(task.first), ruling, out);
      return;
    case Task::Kind::check:
      answer_check(request, ruling.verdict(task.first), ruling, reply(out));
      return;
    case Task::Kind::checks:
      answer_checks(request, task, ruling, reply(out));
      return;
    case Task::Kind::descriptors:
      answer_descriptors(request, rule(batch, task), reply(out));
      return;
    case Task::Kind::say:
    case Task::Kind::say_plainly:
      say(request, task, reply(out));
      return;
  }
}

void HttpDoor::Session::answer_auth(const Request& request, const Verdict& verdict, const Ruling& ruling,
                                    net::Output& out) {
  const bool waits = verdict.admitted && verdict.delay > Duration::zero();
  std::string& bytes = waits ? reply_at(net::Moment::clock::now() + verdict.delay) : reply(out);
  ResponseWriter response(bytes, head(status_of(verdict), request));
  for_each_field(door_.desk_, ruling, verdict,
                 [&](std::string_view name, std::string_view value) { response.header(name, value); });
  if (verdict.admitted) {
    response.finish();
    return;
  }
  door_.body_.clear();
  append_denial(door_.body_, ruling, verdict);
  response.header("Content-Type", wire::problem_content_type);
  if (door_.body_.size() <= longest_problem_field && has_header(request, "x-weir-problem")) {
    response.header(problem_field, door_.body_);
  }
  response.finish(door_.body_, body_of(request));
}

void HttpDoor::Session::answer_check(const Request& request, const Verdict& verdict, const Ruling& ruling,
                                     std::string& out) {
  door_.body_.clear();
  append_verdict(door_.body_, ruling, verdict);
  ResponseWriter response(out, head(status_of(verdict), request));
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
    append_verdict(door_.body_, ruling, ruling.verdict(task.first + i));
  }
  door_.body_ += ']';
  ResponseWriter response(out, head(200, request));
  response.header("Content-Type", "application/json");
  response.finish(door_.body_);
}

// At a hearing, descriptors come behind the queries.
DescriptorRuling HttpDoor::Session::rule(const Batch& batch, const Task& task) {
  const DescriptorQuestion& question = batch.descriptors[task.first];
  if (!batch.inquiry.begun()) return judge_descriptors(door_.desk_, question, door_.desk_.now(), door_.statuses_);
  return heard_descriptors(batch.inquiry.heard(), batch.queries.size() + task.first, question.domain);
}

void HttpDoor::Session::answer_descriptors(const Request& request, const DescriptorRuling& ruling, std::string& out) {
  door_.descriptors_.write(ruling, door_.body_, door_.descriptor_fields_);
  ResponseWriter response(out, head(ruling.admitted ? 200 : 429, request));
  for (const auto& [name, value] : door_.descriptor_fields_) response.header(name, value);
  response.header("Content-Type", "application/json");
  response.finish(door_.body_);
}

void HttpDoor::Session::say(const Request& request, const Task& task, std::string& out) {
  const auto start = head(task.status, request);
  const bool is_problem = task.status >= 300 && task.kind == Task::Kind::say;
  ResponseWriter response(out, start);
  if (!task.allow.empty()) response.header("Allow", task.allow);
  response.header("Content-Type", is_problem ? wire::problem_content_type : "text/plain");
  response.finish(is_problem ? problem_text(task.status, task.detail) : task.detail, body_of(request));
}

}  // namespace weir::door
