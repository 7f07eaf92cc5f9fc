#include "frontend/http/http_frontend.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "frontend/http/receipts_json.h"
#include "frontend/http/session.h"
#include "frontend/http_router.h"
#include "frontend/openapi.h"

namespace weir::frontend {
namespace {

using engine::ReceiptRequest;
using wire::http1::Request;

ReceiptRequest receipt_request_of(CheckKind kind, const CheckItem& item) noexcept {
  const core::ReceiptId id = item.id.empty() ? core::ReceiptId{} : engine::receipt_id_of(item.id);
  switch (kind) {
    case CheckKind::check:
      break;
    case CheckKind::report:
      return {.action = ReceiptRequest::Action::report, .id = id};
    case CheckKind::settle:
      return {.action = ReceiptRequest::Action::settle, .actual = item.actual};
    case CheckKind::release:
      return {.action = ReceiptRequest::Action::release};
    case CheckKind::extend:
      return {.action = ReceiptRequest::Action::extend, .lasts = item.lease};
  }
  return {.action = ReceiptRequest::Action::reserve, .id = id, .lasts = item.lease};
}

constexpr std::string_view auth_path = "/v1/auth";

bool is_encoded(const Request& request) noexcept {
  return std::ranges::any_of(request.headers, [](const Header& header) {
    return base::equals_name(header.name, "content-encoding") && !header.value.empty() &&
           !base::equals_name(header.value, "identity");
  });
}

}  // namespace

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
  frontend_.may_delay_ -= std::exchange(batch_->may_delay, 0);
  batch_->evaluation.reset();
  batch_->tasks.clear();
  batch_->receipts.clear();
  batch_->memory.clear();
  frontend_.batches_.put_back(std::move(batch_));
}

HttpFrontend::Task HttpFrontend::Session::task_for(const Request& request) {
  static const HttpRouter<Row> router{.rows = rows(),
                                      .wrong_host = "Host not accepted; add it to listeners.http.hosts.",
                                      .unknown_path =
                                          "Unknown path; valid paths: POST /v1/check, /v1/report, /v1/settle, "
                                          "/v1/release, /v1/extend, /v1/auth, POST /json, "
                                          "GET /healthz, /readyz, /openapi.yaml."};
  const HttpOptions& options = frontend_.options_;
  std::unique_ptr<HttpAnswer> refusal;
  const Row* const row = router.find(request, options.hosts, refusal);
  if (row == nullptr) return {.write = &Session::answer_fixed, .fixed = std::move(refusal)};
  const bool needs_token = row->right != Route::Right::none && options.token.is_set();
  if (needs_token && !has_token(request.headers, options.token, TokenFields::weir_token)) {
    return fixed(http_problem(401, "This listener requires a token in X-Weir-Token."));
  }
  return (this->*row->serve)(request, *row);
}

HttpFrontend::Task HttpFrontend::Session::fixed(HttpAnswer answer) {
  return {.write = &Session::answer_fixed, .fixed = std::make_unique<HttpAnswer>(std::move(answer))};
}

// Rejects requests from web pages, and encoded bodies.
std::optional<HttpAnswer> HttpFrontend::Session::refuse_body(const Request& request) {
  if (find_header(request.headers, "origin") != nullptr) {
    return http_problem(403, "Requests from web pages are not accepted: the Origin header is set.");
  }
  if (is_encoded(request)) return http_problem(415, "Content-Encoding is not supported.");
  return {};
}

// Each query is an object, so the number of opening braces is an upper bound.
std::size_t HttpFrontend::Session::queries_in(const Request& request) const {
  return 1 + static_cast<std::size_t>(std::ranges::count(request.body, '{'));
}

HttpFrontend::Task HttpFrontend::Session::auth(const Request& request, const Row& /*row*/) {
  const std::string_view below = without_authority(request.target).substr(auth_path.size());
  const auto original = original_request(request, below, frontend_.options_.auth_headers);
  if (!original) return fixed(http_problem(403, original.error().message()));
  const bool can_delay = frontend_.shared_.delayed + frontend_.may_delay_ < frontend_.options_.max_delayed;
  if (can_delay) {
    ++batch_->may_delay;
    ++frontend_.may_delay_;
  }
  const std::size_t number = batch_->evaluation->size();
  const Query query{.method = original->method,
                    .path = original->target,
                    .ip = ip_,
                    .headers = batch_->memory.keep(request.headers),
                    .max_wait = can_delay ? frontend_.options_.max_delay : Duration::zero(),
                    .wants_more_after = true};
  // Without a key for receipts, concurrency limits deny.
  if (frontend_.context_.receipt_texts().can_seal()) {
    batch_->evaluation->add(query, {.action = ReceiptRequest::Action::hold});
  } else {
    batch_->evaluation->add(query);
  }
  return {.write = &Session::answer_auth,
          .sends_problem_field = find_header(request.headers, "x-weir-problem") != nullptr,
          .first = number,
          .count = 1};
}

HttpFrontend::Task HttpFrontend::Session::check(const Request& request, const Row& row) {
  if (auto refusal = refuse_body(request)) return fixed(std::move(*refusal));
  const std::string_view target = without_authority(request.target);
  const std::string_view parameters = target.substr(std::min(row.path.size() + 1, target.size()));
  const auto denied_as_200 = read_parameters(row.kind, parameters);
  if (!denied_as_200) return fixed(http_problem(400, denied_as_200.error().message()));
  frontend_.items_.clear();
  const auto many = frontend_.check_reader_.read(row.kind, request.body, frontend_.items_, batch_->memory);
  if (!many) return fixed(http_problem(400, many.error().message()));
  const bool is_query = row.kind == CheckKind::check || row.kind == CheckKind::report;
  Task task = is_query ? add_queries(row.kind, *many) : add_receipts(row.kind, *many);
  task.denied_as_200 = *denied_as_200;
  task.sends_problem_field =
      task.write == &Session::answer_check && find_header(request.headers, "x-weir-problem") != nullptr;
  return task;
}

HttpFrontend::Task HttpFrontend::Session::add_queries(CheckKind kind, bool many) {
  const bool reserves = std::ranges::any_of(frontend_.items_, &CheckItem::reserves);
  if (reserves && !frontend_.context_.receipt_texts().can_seal()) {
    return fixed(http_problem(503, ReceiptTexts::no_key));
  }
  const std::size_t first = batch_->evaluation->size();
  for (CheckItem& item : frontend_.items_) {
    item.query.wants_more_after = !many;  // needed for the headers of a single verdict
    if (item.reserves || kind == CheckKind::report) {
      batch_->evaluation->add(item.query, receipt_request_of(kind, item));
    } else {
      batch_->evaluation->add(item.query);
    }
  }
  const bool reports = kind == CheckKind::report;
  const Task::Write one = reports ? &Session::answer_report : &Session::answer_check;
  return {.write = many ? &Session::answer_array : one,
          .append = reports ? &Session::append_report : &Session::append_check,
          .first = first,
          .count = frontend_.items_.size()};
}

// In an array, an invalid receipt does not affect the others.
HttpFrontend::Task HttpFrontend::Session::add_receipts(CheckKind kind, bool many) {
  const std::size_t first = batch_->receipts.size();
  for (const CheckItem& item : frontend_.items_) {
    const auto receipt = frontend_.context_.receipt_texts().open(item.receipt);
    if (!receipt && !many) return fixed(http_problem(400, not_a_receipt));
    batch_->receipts.push_back(receipt ? std::optional(batch_->evaluation->size()) : std::nullopt);
    if (receipt) batch_->evaluation->add(*receipt, receipt_request_of(kind, item));
  }
  return {.write = many ? &Session::answer_array : &Session::answer_receipt,
          .append = &Session::append_receipt,
          .first = first,
          .count = frontend_.items_.size()};
}

HttpFrontend::Task HttpFrontend::Session::descriptors(const Request& request, const Row& /*row*/) {
  if (auto refusal = refuse_body(request)) return fixed(std::move(*refusal));
  const auto read = frontend_.descriptors_reader_.read(request.body, batch_->memory);
  if (!read) return fixed({400, read.error().message() + '\n', "text/plain"});
  const std::size_t number = batch_->evaluation->size();
  batch_->evaluation->add(read->domain, read->queries);
  return {.write = &Session::answer_descriptors, .first = number, .count = 1};
}

HttpFrontend::Task HttpFrontend::Session::health(const Request& /*request*/, const Row& row) {
  if (row.path == "/healthz" || frontend_.health_.serving()) return fixed({200, "ok\n", "text/plain"});
  return fixed(http_problem(row.path == "/readyz" ? 503 : 500, frontend_.health_.reason()));
}

HttpFrontend::Task HttpFrontend::Session::document(const Request& /*request*/, const Row& /*row*/) {
  return fixed({200, std::string(openapi_text()), openapi_content_type});
}

}  // namespace weir::frontend
