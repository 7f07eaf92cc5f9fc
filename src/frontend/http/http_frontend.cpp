#include "frontend/http/http_frontend.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "answer/answer.h"
#include "answer/problem.h"
#include "frontend/http/receipts_json.h"
#include "frontend/http/routes.h"
#include "wire/ascii.h"

namespace weir::frontend {
namespace {

using engine::ReceiptAsk;
using engine::Verdict;
using match::Query;
using wire::http1::Request;
using wire::http1::ResponseWriter;

// The receipt of what /v1/auth holds.
constexpr std::string_view receipt_field = "X-Weir-Receipt";

ReceiptAsk receipt_ask_of(CheckKind kind, const CheckAsk& ask) noexcept {
  const core::ReceiptId id = ask.id.empty() ? core::ReceiptId{} : engine::receipt_id_of(ask.id);
  switch (kind) {
    case CheckKind::check:
      break;
    case CheckKind::report:
      return {.what = ReceiptAsk::What::report, .id = id};
    case CheckKind::settle:
      return {.what = ReceiptAsk::What::settle, .actual = ask.actual};
    case CheckKind::release:
      return {.what = ReceiptAsk::What::release};
    case CheckKind::extend:
      return {.what = ReceiptAsk::What::extend, .lasts = ask.lease};
  }
  return {.what = ReceiptAsk::What::reserve, .id = id, .lasts = ask.lease};
}

// A denial as problem details in a field, if it is asked for by this one: of /v1/auth for a proxy that keeps header
// fields of an answer only, as nginx does, and of /v1/check for a program that passes it on to its client. nginx takes
// 4 KiB of fields, and believes that Weir is away if there are more.
constexpr std::string_view problem_field = "X-Weir-Problem";
constexpr std::size_t longest_problem_field = 2048;

// http://host/path -> /path
std::string_view without_authority(std::string_view target) noexcept {
  const std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  const std::size_t path = target.find('/', scheme + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

// The content codings that a body has, but for `identity`, which is none.
bool is_encoded(const Request& request) noexcept {
  return std::ranges::any_of(request.headers, [](const Header& header) {
    return wire::equals_ignoring_case(header.name, "content-encoding") && !header.value.empty() &&
           !wire::equals_ignoring_case(header.value, "identity");
  });
}

// `name` is in lower case.
bool has_header(const Request& request, std::string_view name) noexcept {
  return std::ranges::any_of(request.headers,
                             [name](const Header& header) { return wire::equals_ignoring_case(header.name, name); });
}

bool is_from_a_page(const Request& request) noexcept {
  return has_header(request, "origin");
}

}  // namespace

// What to do about a request.
struct HttpFrontend::Task {
  enum class Kind : std::uint8_t {
    auth,
    check,
    checks,
    report,
    reports,
    receipt,
    receipts,
    descriptors,
    document,
    say,
    say_plainly
  };

  RequestTraits traits{};
  Kind kind = Kind::say;
  bool wants_problem_field = false;
  bool denied_as_200 = false;  // of checks
  std::size_t first = 0;       // of the batch that is evaluated; with receipts, of Batch::receipts
  std::size_t count = 0;
  unsigned status = 200;     // of what is said
  std::string_view allow{};  // of 405
  std::string detail{};
};

// What the requests of one read ask, from their reading to their answers. They may view the input, which stays where it
// is while the session is paused; all else that they view is in `memory`.
struct HttpFrontend::Batch {
  engine::EvaluationBatchPtr evaluation;
  std::vector<Task> tasks;                           // one for each request
  std::vector<std::optional<std::size_t>> receipts;  // their numbers in the evaluation; none: the text did not open
  std::size_t may_hold = 0;                          // queries whose answers may be held
  BatchMemory memory;
};

class HttpFrontend::Session final : public HttpSession {
 public:
  Session(HttpFrontend& frontend, const net::Peer& peer, const net::Link& link)
      : HttpSession(link, frontend.options_.limits, frontend.shared_),
        frontend_(frontend),
        ip_(peer.unix_socket ? "127.0.0.1" : peer.address) {}
  ~Session() override { let_go(); }

 private:
  void serve(std::span<const Request> requests, net::Output& out) override;
  [[nodiscard]] bool in_flight() const override { return batch_ != nullptr; }
  void answer_done(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return frontend_.context_.now(); }
  [[nodiscard]] std::size_t queries_in(const Request& request) const override;

  void let_go() noexcept;
  [[nodiscard]] const policy::Ruleset& ruleset() const noexcept { return batch_->evaluation->bindings().ruleset(); }
  [[nodiscard]] const Verdict& verdict(std::size_t i) const noexcept { return batch_->evaluation->verdict(i); }

  [[nodiscard]] Task task_for(const Request& request);
  [[nodiscard]] Task auth(const Request& request, std::string_view below);
  [[nodiscard]] Task check(const Request& request, CheckKind kind, std::string_view parameters);
  [[nodiscard]] Task ask_queries(CheckKind kind, bool many);
  [[nodiscard]] Task ask_receipts(CheckKind kind, bool many);
  [[nodiscard]] Task descriptors(const Request& request);
  [[nodiscard]] Task health(std::string_view path) const;
  [[nodiscard]] bool may_ask(const Request& request) const noexcept;

  void answer(const Task& task, net::Output& out);
  void answer_auth(const Task& task, net::Output& out);
  void answer_check(const Task& task, std::string& out);
  void answer_checks(const Task& task, std::string& out);
  void answer_report(const Task& task, std::string& out);
  void answer_receipt(const Task& task, std::string& out);
  void answer_receipts(const Task& task, std::string& out);
  void add_problem_field(ResponseWriter& response, const Task& task) const;
  void append_check(const Task& task, std::size_t i);
  void append_report(const Task& task, std::size_t i);
  void finish_json(unsigned status, const Task& task, std::string& out);
  void answer_descriptors(const Task& task, std::string& out);
  void answer_document(const Task& task, std::string& out);
  void say(const Task& task, std::string& out);

  HttpFrontend& frontend_;
  const std::string ip_;
  std::unique_ptr<Batch> batch_;  // that is read, in flight or answered; null: none
};

HttpFrontend::HttpFrontend(LoopContext& context, const Health& health, HttpOptions options)
    : FrontendWith(std::move(options)), context_(context), health_(health) {}

HttpFrontend::~HttpFrontend() = default;

std::unique_ptr<net::Session> HttpFrontend::open(const net::Peer& peer, const net::Link& link) {
  return std::make_unique<Session>(*this, peer, link);
}

void HttpFrontend::Session::serve(std::span<const Request> requests, net::Output& out) {
  batch_ = frontend_.batches_.take();
  batch_->evaluation = frontend_.context_.evaluator().new_batch();
  for (const Request& request : requests) {
    batch_->tasks.push_back(task_for(request));
    batch_->tasks.back().traits = traits_of(request);
  }
  if (batch_->evaluation->size() > 0) submit(*batch_->evaluation, link_);
  answer_done(out);
}

void HttpFrontend::Session::answer_done(net::Output& out) {
  if (!batch_ || batch_->evaluation->in_flight()) return;
  for (const Task& task : batch_->tasks) answer(task, out);
  let_go();
}

void HttpFrontend::Session::let_go() noexcept {
  if (!batch_) return;
  frontend_.may_hold_ -= std::exchange(batch_->may_hold, 0);
  batch_->evaluation.reset();
  batch_->tasks.clear();
  batch_->receipts.clear();
  batch_->memory.clear();
  frontend_.batches_.give_back(std::move(batch_));
}

bool HttpFrontend::Session::may_ask(const Request& request) const noexcept {
  if (!frontend_.options_.token.is_set()) return true;
  return std::ranges::any_of(request.headers, [&](const Header& header) {
    return wire::equals_ignoring_case(header.name, "x-weir-token") && frontend_.options_.token.matches(header.value);
  });
}

HttpFrontend::Task HttpFrontend::Session::task_for(const Request& request) {
  if (!frontend_.options_.hosts.accept(request.host)) {
    return {.status = 421, .detail = "This listener does not answer to that Host; list it in listeners.http.hosts."};
  }
  const std::string_view target = without_authority(request.target);
  const Route* const route = find_http_route(target);
  if (route == nullptr) return {.status = 404, .detail = std::string(what_http_has)};
  if (asks_for_token(route->kind) && !may_ask(request)) {
    return {.status = 401, .detail = "This listener asks for a token in X-Weir-Token."};
  }
  if (route->methods == Route::Methods::post && request.method != "POST") {
    return {.status = 405, .allow = "POST", .detail = "Use POST."};
  }
  if (route->methods == Route::Methods::get && request.method != "GET" && request.method != "HEAD") {
    return {.status = 405, .allow = "GET, HEAD", .detail = "Use GET."};
  }
  switch (route->kind) {
    case Route::Kind::auth:
      return auth(request, target.substr(auth_path.size()));
    case Route::Kind::health:
      return health(route->path);
    case Route::Kind::document:
      return {.kind = Task::Kind::document};
    case Route::Kind::check:
    case Route::Kind::descriptors:
      break;
  }
  if (is_from_a_page(request)) return {.status = 403, .detail = "Pages in a browser are not answered: Origin is set."};
  if (is_encoded(request)) return {.status = 415, .detail = "Bodies are taken without a Content-Encoding."};
  if (route->kind == Route::Kind::descriptors) return descriptors(request);
  const std::size_t path = std::min(route->path.size() + 1, target.size());
  return check(request, route->check, target.substr(path));
}

// Each is an object of its own, or lies in one.
std::size_t HttpFrontend::Session::queries_in(const Request& request) const {
  return 1 + static_cast<std::size_t>(std::ranges::count(request.body, '{'));
}

HttpFrontend::Task HttpFrontend::Session::auth(const Request& request, std::string_view below) {
  const auto original = original_request(request, below, frontend_.options_.auth_headers);
  if (!original) return {.status = 403, .detail = original.error().message()};
  const bool can_hold = frontend_.shared_.held + frontend_.may_hold_ < frontend_.options_.hold_limit;
  if (can_hold) {
    ++batch_->may_hold;
    ++frontend_.may_hold_;
  }
  const std::size_t number = batch_->evaluation->size();
  const Query query{.method = original->method,
                    .target = original->target,
                    .ip = ip_,
                    .headers = batch_->memory.keep(request.headers),
                    .max_wait = can_hold ? frontend_.options_.hold_max : Duration::zero(),
                    .wants_more_after = true};
  // Without a key for receipts, limits on holds deny.
  if (frontend_.context_.receipt_texts().can_seal()) {
    batch_->evaluation->add(query, {.what = ReceiptAsk::What::hold});
  } else {
    batch_->evaluation->add(query);
  }
  return {.kind = Task::Kind::auth,
          .wants_problem_field = has_header(request, "x-weir-problem"),
          .first = number,
          .count = 1};
}

HttpFrontend::Task HttpFrontend::Session::check(const Request& request, CheckKind kind, std::string_view parameters) {
  const auto denied_as_200 = read_parameters(kind, parameters);
  if (!denied_as_200) return {.status = 400, .detail = denied_as_200.error().message()};
  frontend_.asks_.clear();
  const auto many = frontend_.check_reader_.read(kind, request.body, frontend_.asks_, batch_->memory);
  if (!many) return {.status = 400, .detail = many.error().message()};
  const bool is_query = kind == CheckKind::check || kind == CheckKind::report;
  Task task = is_query ? ask_queries(kind, *many) : ask_receipts(kind, *many);
  task.denied_as_200 = *denied_as_200;
  task.wants_problem_field = task.kind == Task::Kind::check && has_header(request, "x-weir-problem");
  return task;
}

HttpFrontend::Task HttpFrontend::Session::ask_queries(CheckKind kind, bool many) {
  const bool reserves = std::ranges::any_of(frontend_.asks_, &CheckAsk::reserves);
  if (reserves && !frontend_.context_.receipt_texts().can_seal()) {
    return {.status = 503, .detail = std::string(ReceiptTexts::no_key)};
  }
  const std::size_t first = batch_->evaluation->size();
  for (CheckAsk& ask : frontend_.asks_) {
    ask.query.wants_more_after = !many;  // for the header fields
    if (ask.reserves || kind == CheckKind::report) {
      batch_->evaluation->add(ask.query, receipt_ask_of(kind, ask));
    } else {
      batch_->evaluation->add(ask.query);
    }
  }
  const Task::Kind one = kind == CheckKind::report ? Task::Kind::report : Task::Kind::check;
  const Task::Kind several = kind == CheckKind::report ? Task::Kind::reports : Task::Kind::checks;
  return {.kind = many ? several : one, .first = first, .count = frontend_.asks_.size()};
}

// In an array, a text that does not open keeps none of the others from being done.
HttpFrontend::Task HttpFrontend::Session::ask_receipts(CheckKind kind, bool many) {
  const std::size_t first = batch_->receipts.size();
  for (const CheckAsk& ask : frontend_.asks_) {
    const auto receipt = frontend_.context_.receipt_texts().open(ask.receipt);
    if (!receipt && !many) return {.status = 400, .detail = std::string(not_a_receipt)};
    batch_->receipts.push_back(receipt ? std::optional(batch_->evaluation->size()) : std::nullopt);
    if (receipt) batch_->evaluation->add(*receipt, receipt_ask_of(kind, ask));
  }
  return {.kind = many ? Task::Kind::receipts : Task::Kind::receipt, .first = first, .count = frontend_.asks_.size()};
}

HttpFrontend::Task HttpFrontend::Session::descriptors(const Request& request) {
  const auto asked = frontend_.descriptors_reader_.read(request.body, batch_->memory);
  if (!asked) return {.kind = Task::Kind::say_plainly, .status = 400, .detail = asked.error().message() + '\n'};
  const std::size_t number = batch_->evaluation->size();
  batch_->evaluation->add(asked->domain, asked->asks);
  return {.kind = Task::Kind::descriptors, .first = number, .count = 1};
}

HttpFrontend::Task HttpFrontend::Session::health(std::string_view path) const {
  if (path == "/healthz" || frontend_.health_.serving()) return {.status = 200, .detail = "ok\n"};
  return {.status = path == "/readyz" ? 503U : 500U, .detail = std::string(frontend_.health_.reason())};
}

void HttpFrontend::Session::answer(const Task& task, net::Output& out) {
  switch (task.kind) {
    case Task::Kind::auth:
      return answer_auth(task, out);
    case Task::Kind::check:
      return answer_check(task, reply(out));
    case Task::Kind::checks:
      return answer_checks(task, reply(out));
    case Task::Kind::report:
      return answer_report(task, reply(out));
    case Task::Kind::reports:
      return answer_checks(task, reply(out));
    case Task::Kind::receipt:
      return answer_receipt(task, reply(out));
    case Task::Kind::receipts:
      return answer_receipts(task, reply(out));
    case Task::Kind::descriptors:
      return answer_descriptors(task, reply(out));
    case Task::Kind::document:
      return answer_document(task, reply(out));
    case Task::Kind::say:
    case Task::Kind::say_plainly:
      return say(task, reply(out));
  }
}

void HttpFrontend::Session::answer_auth(const Task& task, net::Output& out) {
  const Verdict& verdict = this->verdict(task.first);
  const bool waits = verdict.admitted && verdict.delay > Duration::zero();
  std::string& bytes = waits ? reply_at(net::Moment::clock::now() + verdict.delay) : reply(out);
  ResponseWriter response(bytes, head(answer::status_of(verdict), task.traits));
  frontend_.context_.for_each_field(ruleset(), verdict,
                 [&](std::string_view name, std::string_view value) { response.header(name, value); });
  frontend_.body_.clear();
  if (const engine::Receipt* const receipt = batch_->evaluation->receipt(task.first)) {
    frontend_.context_.receipt_texts().append(frontend_.body_, *receipt);
    response.header(receipt_field, frontend_.body_);
    frontend_.body_.clear();
  }
  if (verdict.admitted) return response.finish();
  answer::append_denial(frontend_.body_, ruleset(), verdict);
  response.content_type(answer::problem_content_type);
  add_problem_field(response, task);
  response.finish(frontend_.body_, task.traits.body);
}

// The problem is in the body's buffer.
void HttpFrontend::Session::add_problem_field(ResponseWriter& response, const Task& task) const {
  if (!task.wants_problem_field || frontend_.body_.size() > longest_problem_field) return;
  response.header(problem_field, frontend_.body_);
}

void HttpFrontend::Session::append_check(const Task& task, std::size_t i) {
  append_verdict(frontend_.body_, ruleset(), verdict(i));
  if (task.denied_as_200) append_status(frontend_.body_, ruleset(), verdict(i));
  append_reserved(frontend_.body_, *batch_->evaluation, i, frontend_.context_.receipt_texts());
  frontend_.body_ += '}';
}

// Too many limits to be charged together: nothing was.
void HttpFrontend::Session::append_report(const Task& task, std::size_t i) {
  if (!verdict(i).admitted) return append_check(task, i);
  append_receipt_results(frontend_.body_, *batch_->evaluation, i);
}

void HttpFrontend::Session::finish_json(unsigned status, const Task& task, std::string& out) {
  ResponseWriter response(out, head(status, task.traits));
  response.content_type("application/json");
  response.finish(frontend_.body_);
}

void HttpFrontend::Session::answer_check(const Task& task, std::string& out) {
  const Verdict& verdict = this->verdict(task.first);
  ResponseWriter response(out, head(task.denied_as_200 ? 200 : answer::status_of(verdict), task.traits));
  frontend_.context_.for_each_field(ruleset(), verdict,
                 [&](std::string_view name, std::string_view value) { response.header(name, value); });
  if (task.wants_problem_field && !verdict.admitted) {
    frontend_.body_.clear();
    answer::append_denial(frontend_.body_, ruleset(), verdict);
    add_problem_field(response, task);
  }
  frontend_.body_.clear();
  append_check(task, task.first);
  response.content_type("application/json");
  response.finish(frontend_.body_);
}

void HttpFrontend::Session::answer_checks(const Task& task, std::string& out) {
  frontend_.body_.assign(1, '[');
  for (std::size_t i = 0; i < task.count; ++i) {
    if (i > 0) frontend_.body_ += ',';
    if (task.kind == Task::Kind::reports) {
      append_report(task, task.first + i);
    } else {
      append_check(task, task.first + i);
    }
  }
  frontend_.body_ += ']';
  finish_json(200, task, out);
}

void HttpFrontend::Session::answer_report(const Task& task, std::string& out) {
  frontend_.body_.clear();
  append_report(task, task.first);
  const bool is_done = !is_unanswered(*batch_->evaluation, task.first);
  finish_json(is_done ? answer::status_of(verdict(task.first)) : 503, task, out);
}

void HttpFrontend::Session::answer_receipt(const Task& task, std::string& out) {
  const std::size_t number = *batch_->receipts[task.first];
  frontend_.body_.clear();
  append_receipt_results(frontend_.body_, *batch_->evaluation, number);
  finish_json(is_unanswered(*batch_->evaluation, number) ? 503 : 200, task, out);
}

void HttpFrontend::Session::answer_receipts(const Task& task, std::string& out) {
  frontend_.body_.assign(1, '[');
  for (std::size_t i = 0; i < task.count; ++i) {
    if (i > 0) frontend_.body_ += ',';
    if (const auto number = batch_->receipts[task.first + i]) {
      append_receipt_results(frontend_.body_, *batch_->evaluation, *number);
    } else {
      append_receipt_error(frontend_.body_);
    }
  }
  frontend_.body_ += ']';
  finish_json(200, task, out);
}

void HttpFrontend::Session::answer_descriptors(const Task& task, std::string& out) {
  const answer::DescriptorVerdict verdict(*batch_->evaluation, task.first);
  ResponseWriter response(out, head(verdict.admitted ? 200 : 429, task.traits));
  frontend_.context_.for_each_field(verdict,
                 [&](std::string_view name, std::string_view value) { response.header(name, value); });
  response.content_type("application/json");
  frontend_.body_.clear();
  append_descriptors(frontend_.body_, verdict);
  response.finish(frontend_.body_);
}

void HttpFrontend::Session::answer_document(const Task& task, std::string& out) {
  ResponseWriter response(out, head(200, task.traits));
  response.content_type(openapi_content_type);
  response.finish(openapi_text(), task.traits.body);
}

void HttpFrontend::Session::say(const Task& task, std::string& out) {
  const bool is_problem = task.status >= 300 && task.kind == Task::Kind::say;
  ResponseWriter response(out, head(task.status, task.traits));
  if (!task.allow.empty()) response.header("Allow", task.allow);
  response.content_type(is_problem ? answer::problem_content_type : "text/plain");
  response.finish(is_problem ? answer::problem_text(task.status, task.detail) : task.detail, task.traits.body);
}

}  // namespace weir::frontend
