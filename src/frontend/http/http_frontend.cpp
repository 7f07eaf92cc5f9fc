#include "frontend/http/http_frontend.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "answer/answer.h"
#include "answer/problem.h"
#include "base/ascii.h"
#include "frontend/http/receipts_json.h"
#include "frontend/http_router.h"
#include "frontend/openapi.h"

namespace weir::frontend {
namespace {

using engine::ReceiptAsk;
using engine::Verdict;
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
constexpr std::size_t max_problem_field_length = 2048;

constexpr std::string_view auth_path = "/v1/auth";

// True if the body has a content coding other than `identity`, which is none.
bool is_encoded(const Request& request) noexcept {
  return std::ranges::any_of(request.headers, [](const Header& header) {
    return base::equals_name(header.name, "content-encoding") && !header.value.empty() &&
           !base::equals_name(header.value, "identity");
  });
}

}  // namespace

// How a request is answered, once the batch is evaluated.
struct HttpFrontend::Task {
  using Write = void (Session::*)(const Task&, net::Output&);
  using Append = void (Session::*)(const Task&, std::size_t i);

  Write write;
  Append append = nullptr;  // one of the answers in an array
  bool wants_problem_field = false;
  bool denied_as_200 = false;  // of checks
  std::size_t first = 0;       // of the batch that is evaluated; with receipts, of Batch::receipts
  std::size_t count = 0;
  std::unique_ptr<HttpAnswer> said{};  // instead of all that
  RequestTraits traits{};
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
  ~Session() override { release_batch(); }

 private:
  void serve(std::span<const Request> requests, net::Output& out) override;
  [[nodiscard]] bool in_flight() const override { return batch_ != nullptr; }
  void answer_done(net::Output& out) override;
  [[nodiscard]] Instant now() const override { return frontend_.context_.now(); }
  [[nodiscard]] std::size_t queries_in(const Request& request) const override;

  void release_batch() noexcept;
  [[nodiscard]] const policy::Ruleset& ruleset() const noexcept { return batch_->evaluation->bindings().ruleset(); }
  [[nodiscard]] const Verdict& verdict(std::size_t i) const noexcept { return batch_->evaluation->verdict(i); }

  // A row of the table of routes.
  struct Row : Route {
    Task (Session::*serve)(const Request&, const Row&);
    CheckKind kind = CheckKind::check;  // of what check() serves
  };
  [[nodiscard]] static std::span<const Row> rows() noexcept;
  friend class HttpFrontend;

  [[nodiscard]] Task task_for(const Request& request);
  [[nodiscard]] Task auth(const Request& request, const Row& row);
  [[nodiscard]] Task check(const Request& request, const Row& row);
  [[nodiscard]] Task descriptors(const Request& request, const Row& row);
  [[nodiscard]] Task health(const Request& request, const Row& row);
  [[nodiscard]] Task document(const Request& request, const Row& row);
  [[nodiscard]] Task ask_queries(CheckKind kind, bool many);
  [[nodiscard]] Task ask_receipts(CheckKind kind, bool many);
  [[nodiscard]] static std::optional<HttpAnswer> refuse_body(const Request& request);
  [[nodiscard]] static Task say(HttpAnswer answer);

  void answer_auth(const Task& task, net::Output& out);
  void answer_check(const Task& task, net::Output& out);
  void answer_array(const Task& task, net::Output& out);
  void answer_report(const Task& task, net::Output& out);
  void answer_receipt(const Task& task, net::Output& out);
  void answer_descriptors(const Task& task, net::Output& out);
  void answer_said(const Task& task, net::Output& out) { write(reply(out), task.traits, *task.said); }
  void add_problem_field(ResponseWriter& response, const Task& task) const;
  void append_check(const Task& task, std::size_t i);
  void append_report(const Task& task, std::size_t i);
  void append_receipt(const Task& task, std::size_t i);
  void finish_json(unsigned status, const Task& task, std::string& out);

  HttpFrontend& frontend_;
  const std::string ip_;
  std::unique_ptr<Batch> batch_;  // that is read, in flight or answered; null: none
};

HttpFrontend::HttpFrontend(LoopContext& context, const Health& health, HttpOptions options)
    : FrontendWith(std::move(options)), context_(context), health_(health) {}

HttpFrontend::~HttpFrontend() = default;

std::span<const HttpFrontend::Session::Row> HttpFrontend::Session::rows() noexcept {
  using enum Route::Methods;
  using enum Route::Right;
  static constexpr Row table[] = {
      {{auth_path, any}, &Session::auth},
      {{"/v1/auth/{path}", any, read, Route::Span::prefix}, &Session::auth},
      {{"/v1/check", post}, &Session::check},
      {{"/v1/report", post}, &Session::check, CheckKind::report},
      {{"/v1/settle", post}, &Session::check, CheckKind::settle},
      {{"/v1/release", post}, &Session::check, CheckKind::release},
      {{"/v1/extend", post}, &Session::check, CheckKind::extend},
      {{"/json", post}, &Session::descriptors},
      {{"/healthz", get, none}, &Session::health},
      {{"/readyz", get, none}, &Session::health},
      {{"/healthcheck", get, none}, &Session::health},
      {{openapi_path, get, none}, &Session::document},
  };
  return table;
}

std::vector<Route> HttpFrontend::routes() {
  return {Session::rows().begin(), Session::rows().end()};
}

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
  for (const Task& task : batch_->tasks) (this->*task.write)(task, out);
  release_batch();
}

void HttpFrontend::Session::release_batch() noexcept {
  if (!batch_) return;
  frontend_.may_hold_ -= std::exchange(batch_->may_hold, 0);
  batch_->evaluation.reset();
  batch_->tasks.clear();
  batch_->receipts.clear();
  batch_->memory.clear();
  frontend_.batches_.put_back(std::move(batch_));
}

HttpFrontend::Task HttpFrontend::Session::task_for(const Request& request) {
  static const HttpRouter<Row> router{
      .rows = rows(),
      .wrong_host = "This listener does not answer to that Host; list it in listeners.http.hosts.",
      .unknown_path =
          "There are POST /v1/check, /v1/report, /v1/settle, /v1/release and /v1/extend, /v1/auth, POST /json, "
          "GET /healthz, /readyz and /openapi.yaml."};
  const HttpOptions& options = frontend_.options_;
  std::unique_ptr<HttpAnswer> refusal;
  const Row* const row = router.find(request, options.hosts, refusal);
  if (row == nullptr) return {.write = &Session::answer_said, .said = std::move(refusal)};
  const bool asks_for_token = row->right != Route::Right::none && options.token.is_set();
  if (asks_for_token && !shows_token(request.headers, options.token, TokenFields::weir_token)) {
    return say(http_problem(401, "This listener asks for a token in X-Weir-Token."));
  }
  return (this->*row->serve)(request, *row);
}

HttpFrontend::Task HttpFrontend::Session::say(HttpAnswer answer) {
  return {.write = &Session::answer_said, .said = std::make_unique<HttpAnswer>(std::move(answer))};
}

// Rejects requests of browser pages, and bodies with a content coding.
std::optional<HttpAnswer> HttpFrontend::Session::refuse_body(const Request& request) {
  if (find_header(request.headers, "origin") != nullptr) {
    return http_problem(403, "Pages in a browser are not answered: Origin is set.");
  }
  if (is_encoded(request)) return http_problem(415, "Bodies are taken without a Content-Encoding.");
  return {};
}

// Each is an object of its own, or lies in one.
std::size_t HttpFrontend::Session::queries_in(const Request& request) const {
  return 1 + static_cast<std::size_t>(std::ranges::count(request.body, '{'));
}

HttpFrontend::Task HttpFrontend::Session::auth(const Request& request, const Row& /*row*/) {
  const std::string_view below = without_authority(request.target).substr(auth_path.size());
  const auto original = original_request(request, below, frontend_.options_.auth_headers);
  if (!original) return say(http_problem(403, original.error().message()));
  const bool can_hold = frontend_.shared_.held + frontend_.may_hold_ < frontend_.options_.max_delayed;
  if (can_hold) {
    ++batch_->may_hold;
    ++frontend_.may_hold_;
  }
  const std::size_t number = batch_->evaluation->size();
  const Query query{.method = original->method,
                    .path = original->target,
                    .ip = ip_,
                    .headers = batch_->memory.keep(request.headers),
                    .max_wait = can_hold ? frontend_.options_.max_delay : Duration::zero(),
                    .wants_more_after = true};
  // Without a key for receipts, limits on holds deny.
  if (frontend_.context_.receipt_texts().can_seal()) {
    batch_->evaluation->add(query, {.what = ReceiptAsk::What::hold});
  } else {
    batch_->evaluation->add(query);
  }
  return {.write = &Session::answer_auth,
          .wants_problem_field = find_header(request.headers, "x-weir-problem") != nullptr,
          .first = number,
          .count = 1};
}

HttpFrontend::Task HttpFrontend::Session::check(const Request& request, const Row& row) {
  if (auto refusal = refuse_body(request)) return say(std::move(*refusal));
  const std::string_view target = without_authority(request.target);
  const std::string_view parameters = target.substr(std::min(row.path.size() + 1, target.size()));
  const auto denied_as_200 = read_parameters(row.kind, parameters);
  if (!denied_as_200) return say(http_problem(400, denied_as_200.error().message()));
  frontend_.asks_.clear();
  const auto many = frontend_.check_reader_.read(row.kind, request.body, frontend_.asks_, batch_->memory);
  if (!many) return say(http_problem(400, many.error().message()));
  const bool is_query = row.kind == CheckKind::check || row.kind == CheckKind::report;
  Task task = is_query ? ask_queries(row.kind, *many) : ask_receipts(row.kind, *many);
  task.denied_as_200 = *denied_as_200;
  task.wants_problem_field =
      task.write == &Session::answer_check && find_header(request.headers, "x-weir-problem") != nullptr;
  return task;
}

HttpFrontend::Task HttpFrontend::Session::ask_queries(CheckKind kind, bool many) {
  const bool reserves = std::ranges::any_of(frontend_.asks_, &CheckAsk::reserves);
  if (reserves && !frontend_.context_.receipt_texts().can_seal()) {
    return say(http_problem(503, ReceiptTexts::no_key));
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
  const bool reports = kind == CheckKind::report;
  const Task::Write one = reports ? &Session::answer_report : &Session::answer_check;
  return {.write = many ? &Session::answer_array : one,
          .append = reports ? &Session::append_report : &Session::append_check,
          .first = first,
          .count = frontend_.asks_.size()};
}

// In an array, a text that does not open keeps none of the others from being done.
HttpFrontend::Task HttpFrontend::Session::ask_receipts(CheckKind kind, bool many) {
  const std::size_t first = batch_->receipts.size();
  for (const CheckAsk& ask : frontend_.asks_) {
    const auto receipt = frontend_.context_.receipt_texts().open(ask.receipt);
    if (!receipt && !many) return say(http_problem(400, not_a_receipt));
    batch_->receipts.push_back(receipt ? std::optional(batch_->evaluation->size()) : std::nullopt);
    if (receipt) batch_->evaluation->add(*receipt, receipt_ask_of(kind, ask));
  }
  return {.write = many ? &Session::answer_array : &Session::answer_receipt,
          .append = &Session::append_receipt,
          .first = first,
          .count = frontend_.asks_.size()};
}

HttpFrontend::Task HttpFrontend::Session::descriptors(const Request& request, const Row& /*row*/) {
  if (auto refusal = refuse_body(request)) return say(std::move(*refusal));
  const auto asked = frontend_.descriptors_reader_.read(request.body, batch_->memory);
  if (!asked) return say({400, asked.error().message() + '\n', "text/plain"});
  const std::size_t number = batch_->evaluation->size();
  batch_->evaluation->add(asked->domain, asked->asks);
  return {.write = &Session::answer_descriptors, .first = number, .count = 1};
}

HttpFrontend::Task HttpFrontend::Session::health(const Request& /*request*/, const Row& row) {
  if (row.path == "/healthz" || frontend_.health_.serving()) return say({200, "ok\n", "text/plain"});
  return say(http_problem(row.path == "/readyz" ? 503 : 500, frontend_.health_.reason()));
}

HttpFrontend::Task HttpFrontend::Session::document(const Request& /*request*/, const Row& /*row*/) {
  return say({200, std::string(openapi_text()), openapi_content_type});
}

void HttpFrontend::Session::answer_auth(const Task& task, net::Output& out) {
  const Verdict& verdict = this->verdict(task.first);
  const bool waits = verdict.admitted && verdict.delay > Duration::zero();
  std::string& bytes = waits ? reply_at(net::SteadyTime::clock::now() + verdict.delay) : reply(out);
  ResponseWriter response(bytes, head(answer::status_of(verdict), task.traits));
  frontend_.context_.for_each_field(
      ruleset(), verdict, [&](std::string_view name, std::string_view value) { response.header(name, value); });
  frontend_.body_.clear();
  if (const engine::ReceiptParts* const receipt = batch_->evaluation->receipt(task.first)) {
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
  if (!task.wants_problem_field || frontend_.body_.size() > max_problem_field_length) return;
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

void HttpFrontend::Session::append_receipt(const Task& /*task*/, std::size_t i) {
  if (const auto number = batch_->receipts[i]) {
    append_receipt_results(frontend_.body_, *batch_->evaluation, *number);
  } else {
    append_receipt_error(frontend_.body_);
  }
}

void HttpFrontend::Session::answer_check(const Task& task, net::Output& out) {
  const Verdict& verdict = this->verdict(task.first);
  ResponseWriter response(reply(out), head(task.denied_as_200 ? 200 : answer::status_of(verdict), task.traits));
  frontend_.context_.for_each_field(
      ruleset(), verdict, [&](std::string_view name, std::string_view value) { response.header(name, value); });
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

void HttpFrontend::Session::answer_array(const Task& task, net::Output& out) {
  frontend_.body_.assign(1, '[');
  for (std::size_t i = 0; i < task.count; ++i) {
    if (i > 0) frontend_.body_ += ',';
    (this->*task.append)(task, task.first + i);
  }
  frontend_.body_ += ']';
  finish_json(200, task, reply(out));
}

void HttpFrontend::Session::answer_report(const Task& task, net::Output& out) {
  frontend_.body_.clear();
  append_report(task, task.first);
  const bool is_done = !is_unanswered(*batch_->evaluation, task.first);
  finish_json(is_done ? answer::status_of(verdict(task.first)) : 503, task, reply(out));
}

void HttpFrontend::Session::answer_receipt(const Task& task, net::Output& out) {
  frontend_.body_.clear();
  append_receipt(task, task.first);
  finish_json(is_unanswered(*batch_->evaluation, *batch_->receipts[task.first]) ? 503 : 200, task, reply(out));
}

void HttpFrontend::Session::answer_descriptors(const Task& task, net::Output& out) {
  const answer::DescriptorVerdict verdict(*batch_->evaluation, task.first);
  ResponseWriter response(reply(out), head(verdict.admitted ? 200 : 429, task.traits));
  frontend_.context_.for_each_field(
      verdict, [&](std::string_view name, std::string_view value) { response.header(name, value); });
  response.content_type("application/json");
  frontend_.body_.clear();
  append_descriptors(frontend_.body_, verdict);
  response.finish(frontend_.body_);
}

}  // namespace weir::frontend
