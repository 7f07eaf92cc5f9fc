#include <string_view>

#include "answer/answer.h"
#include "answer/problem.h"
#include "frontend/http/descriptors_json.h"
#include "frontend/http/receipts_json.h"
#include "frontend/http/session.h"

namespace weir::frontend {
namespace {

using engine::Verdict;
using wire::http1::ResponseWriter;

// The receipt for the units of a concurrency limit that /v1/auth holds.
constexpr std::string_view receipt_field = "X-Weir-Receipt";

// Carries the problem details of a denial if the request has this header too. /v1/auth sends it for proxies such as
// nginx that keep only the headers of a response, /v1/check for programs that pass it on to their client. nginx accepts
// 4 KiB of headers and treats a longer response as a failure of Weir.
constexpr std::string_view problem_field = "X-Weir-Problem";
constexpr std::size_t max_problem_field_length = 2048;

}  // namespace

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

// Sends the problem in frontend_.body_.
void HttpFrontend::Session::add_problem_field(ResponseWriter& response, const Task& task) const {
  if (!task.sends_problem_field || frontend_.body_.size() > max_problem_field_length) return;
  response.header(problem_field, frontend_.body_);
}

void HttpFrontend::Session::append_check(const Task& task, std::size_t i) {
  append_verdict(frontend_.body_, ruleset(), verdict(i));
  if (task.denied_as_200) append_status(frontend_.body_, ruleset(), verdict(i));
  append_reserved(frontend_.body_, *batch_->evaluation, i, frontend_.context_.receipt_texts());
  frontend_.body_ += '}';
}

// A report that is denied because too many limits cover it was not charged.
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
  if (task.sends_problem_field && !verdict.admitted) {
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
