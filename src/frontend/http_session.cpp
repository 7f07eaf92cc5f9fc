#include "frontend/http_session.h"

#include <algorithm>
#include <utility>

#include "answer/problem.h"

namespace weir::frontend {
namespace {

using wire::http1::Body;
using wire::http1::Connection;
using wire::http1::Progress;
using wire::http1::RequestParser;
using wire::http1::ResponseHead;
using wire::http1::ResponseWriter;
using wire::http1::Step;
using wire::http1::Version;

Unread unread(wire::http1::Fault fault) noexcept {
  switch (status_of(fault)) {
    case 413:
      return Unread::message_too_long;
    case 414:
    case 431:
      return Unread::head_too_long;
    default:
      return Unread::malformed;
  }
}

void answer_problem(std::string& out, const ResponseHead& head, std::string_view detail) {
  ResponseWriter response(out, head);
  response.content_type(answer::problem_content_type);
  response.finish(answer::problem_text(head.status, detail));
}

}  // namespace

std::string_view DateText::at(Instant now) noexcept {
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  if (second != second_) {
    second_ = second;
    text_ = text::http_date(now);
  }
  return {text_.data(), text_.size()};
}

std::size_t HttpSession::on_input(std::span<char> bytes, net::Output& out) {
  std::size_t done = 0;
  bool more = true;
  while (more && !last_ && !fault_ && !out.full() && !out.paused()) {
    done += read_batch(bytes.subspan(done), more);
    shared_.received.raise(shared_.requests.size());
    if (!shared_.requests.empty()) serve(shared_.requests, out);
    release(out);
    wait_for_turn(out);
  }
  if (!out.paused()) finish(out);
  return last_ || fault_ ? bytes.size() : done;
}

// Returns the number of bytes of the requests read. `more` means that another complete request may follow.
std::size_t HttpSession::read_batch(std::span<char> bytes, bool& more) {
  shared_.requests.clear();
  std::size_t done = 0;
  std::size_t headers = 0;
  std::size_t queries = 0;
  const std::size_t max_headers = parser_.limits().headers;
  while (shared_.requests.size() < HttpLoopState::max_requests && headers + max_headers <= HttpLoopState::max_headers &&
         queries < HttpLoopState::max_queries && !last_) {
    const Progress step = parser_.next(bytes.subspan(done), std::span(shared_.headers).subspan(headers, max_headers));
    if (step.step == Step::refused) fault_ = step.fault;
    if (step.step == Step::need_more) continue_due_ = continue_due_ || step.expects_continue;
    more = step.step == Step::complete;
    if (!more) break;
    done += step.consumed;
    headers += step.request.headers.size();
    queries += queries_in(step.request);
    last_ = !step.request.keep_alive;
    unfinished_since_.reset();
    shared_.requests.push_back(step.request);
  }
  return done;
}

// Answers an incomplete request with 408 before the connection closes.
void HttpSession::on_tick(net::SteadyTime now, net::Output& out) {
  const auto stage = parser_.stage();
  const bool unfinished = stage == RequestParser::Stage::head || stage == RequestParser::Stage::body;
  if (!unfinished || out.paused() || last_ || fault_) return unfinished_since_.reset();
  if (!unfinished_since_) unfinished_since_ = now;
  if (now - *unfinished_since_ < timeout) return;
  last_ = true;
  const ResponseHead head{.status = 408, .connection = Connection::close, .date = shared_.date.at(this->now())};
  answer_problem(out.bytes(), head, "The request was not completed in time.");
  out.close_after();
}

// Writes what follows the responses: 100 Continue, the answer to a malformed request, or the end of the connection.
void HttpSession::finish(net::Output& out) {
  if (std::exchange(continue_due_, false)) wire::http1::append_continue(out.bytes());
  if (fault_) {
    shared_.unevaluated.of(unread(*fault_)).raise();
    const ResponseHead head{
        .status = status_of(*fault_), .connection = Connection::close, .date = shared_.date.at(now())};
    answer_problem(out.bytes(), head, text_of(*fault_));
  }
  if (fault_ || last_) out.close_after();
}

void HttpSession::on_drain(net::Output& out) {
  draining_ = true;
  if (streams_) continue_stream(out);
}

void HttpSession::on_resume(net::Output& out) {
  if (streams_) continue_stream(out);
  answer_done(out);
  release(out);
  wait_for_turn(out);
  if (!out.paused()) finish(out);
}

std::string& HttpSession::reply_at(net::SteadyTime when) {
  delayed_.push_back({delayed_bytes_.size(), when, ++last_ticket_});
  ++shared_.delayed;
  return delayed_bytes_;
}

HttpSession::Ticket HttpSession::reply_later() {
  (void)reply_at(Delayed::unknown);
  return last_ticket_;
}

void HttpSession::fulfil(Ticket ticket, std::string_view answer) {
  const auto awaited = std::ranges::find(delayed_, ticket, &Delayed::ticket);
  if (awaited == delayed_.end()) return;
  delayed_bytes_.insert(awaited->begin, answer);
  awaited->due = net::SteadyTime::min();
  for (auto behind = awaited + 1; behind != delayed_.end(); ++behind) behind->begin += answer.size();
}

// Sends the delayed responses that are due.
void HttpSession::release(net::Output& out) {
  if (delayed_.empty()) return;
  const net::SteadyTime now = net::SteadyTime::clock::now();
  const auto waiting = std::ranges::find_if(delayed_, [&](const Delayed& delayed) { return delayed.due > now; });
  const std::size_t sent = waiting == delayed_.end() ? delayed_bytes_.size() : waiting->begin;
  out.append(std::string_view(delayed_bytes_).substr(0, sent));
  delayed_bytes_.erase(0, sent);
  shared_.delayed -= static_cast<std::size_t>(waiting - delayed_.begin());
  delayed_.erase(delayed_.begin(), waiting);
  for (Delayed& delayed : delayed_) delayed.begin -= sent;
}

void HttpSession::wait_for_turn(net::Output& out) {
  if (in_flight() || streams_) out.pause();
  if (delayed_.empty()) return;
  out.pause();
  if (delayed_.front().due != Delayed::unknown) link_.resume_at(delayed_.front().due);
}

RequestTraits HttpSession::traits_of(const Request& request) const noexcept {
  return {.version = request.version,
          .body = request.method == "HEAD" ? Body::withheld : Body::sent,
          .is_last = &request == &shared_.requests.back()};
}

ResponseHead HttpSession::head(unsigned status, const RequestTraits& traits) {
  if (draining_ && traits.is_last) last_ = true;
  const Connection connection = last_ && traits.is_last               ? Connection::close
                                : traits.version == Version::http_1_0 ? Connection::keep_alive
                                                                      : Connection::implied;
  return {.status = status, .connection = connection, .date = shared_.date.at(now())};
}

void HttpSession::write(std::string& out, const RequestTraits& traits, const HttpAnswer& answer, const Header& field) {
  ResponseWriter response(out, head(answer.status, traits));
  if (!answer.field.name.empty()) response.header(answer.field.name, answer.field.value);
  if (!field.name.empty()) response.header(field.name, field.value);
  response.content_type(answer.content_type);
  response.finish(answer.body, traits.body);
}

HttpAnswer http_problem(unsigned status, std::string_view detail, const Header& field) {
  return {status, answer::problem_text(status, detail), answer::problem_content_type, field};
}

net::ConnectionOptions http_connection_options(const wire::http1::Limits& limits) {
  net::ConnectionOptions options = connection_for(limits.max_request_size());
  options.timeouts.incomplete += std::chrono::seconds(2);
  return options;
}

}  // namespace weir::frontend
