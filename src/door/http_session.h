// HTTP/1.1 below the questions that are asked in it: all requests of one read are served as one batch, what is
// malformed is refused by the book, and answers leave in the order of their requests.
//
// Nothing that a client sends is answered by 5xx, or not at all: a proxy that asks whether a request may pass takes
// that for a failure of ours, and may let it. A request that is refused is answered, and what follows of it is read and
// dropped for a while (net/connection.h), so that the answer arrives.
//
// An answer may wait: for its turn in a queue, for somebody who is to bring it, or with its whole batch for verdicts.
// Meanwhile no more input is taken.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "door/unjudged.h"
#include "engine/counters.h"
#include "net/session.h"
#include "weir/header.h"
#include "weir/time.h"
#include "wire/fields/http_date.h"
#include "wire/http1/request.h"
#include "wire/http1/request_parser.h"
#include "wire/http1/response_writer.h"

namespace weir::door {

// The Date field, written once a second.
class DateText {
 public:
  [[nodiscard]] std::string_view at(Instant now) noexcept;

 private:
  std::chrono::sys_seconds second_{};
  wire::HttpDate text_ = wire::http_date({});
};

// Room for one batch, which the sessions of a loop use in turn.
struct HttpRoom {
  static constexpr std::size_t most_requests = 64;
  static constexpr std::size_t most_headers = 2048;  // of one batch together
  // Of one batch together, unless it is one request: what bounds the answers that wait for a client who does not read
  // is full() of the output, and that is asked between batches.
  static constexpr std::size_t most_questions = 512;

  std::vector<Header> headers = std::vector<Header>(most_headers);
  std::vector<wire::http1::Request> requests;
  DateText date;
  std::size_t held = 0;    // answers that wait, of all sessions
  engine::Count received;  // requests
  UnjudgedCounts unjudged;
};

// Requests of a batch that is answered later. What they view of the input stays where it is.
struct KeptRequests {
  std::vector<Header> headers;
  std::vector<wire::http1::Request> requests;
};

class HttpSession : public net::Session {
 public:
  HttpSession(const net::Link& link, const wire::http1::Limits& limits, HttpRoom& room)
      : parser_(limits), room_(room), link_(link) {}
  ~HttpSession() override { room_.held -= held_.size(); }

  std::size_t on_input(std::span<char> bytes, net::Output& out) final;
  void on_resume(net::Output& out) final;
  void on_tick(net::Moment now, net::Output& out) final;
  void on_drain(net::Output& /*out*/) final { draining_ = true; }
  [[nodiscard]] bool idle() const final { return held_.empty() && !awaits_verdicts(); }

 protected:
  using Request = wire::http1::Request;

  // Answers each of them, in order, into the buffer that reply() or reply_at() gives; or keeps them, and awaits
  // verdicts.
  virtual void serve(std::span<const Request> requests, net::Output& out) = 0;
  // While it does, the output is paused. When that ends, answer_heard() comes first, perhaps before there are verdicts.
  [[nodiscard]] virtual bool awaits_verdicts() const { return false; }
  virtual void answer_heard(net::Output& /*out*/) {}
  // As many questions as the request may hold: its answer grows with them.
  [[nodiscard]] virtual std::size_t questions_in(const Request& /*request*/) const { return 1; }
  // Whether somebody lets requests pass, or not, by the answer to this one.
  [[nodiscard]] virtual bool asks_for_a_decision(const Request& /*request*/) const { return false; }
  [[nodiscard]] virtual Instant now() const = 0;

  // Where the next answer is written: with those that are ready, or behind one that is held.
  [[nodiscard]] std::string& reply(net::Output& out) { return held_.empty() ? out.bytes() : held_bytes_; }
  // The answer waits until then, and those behind it wait with it.
  [[nodiscard]] std::string& reply_at(net::Moment when);
  // The answer is not known yet, and those behind it wait with it until fulfil() brings it.
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket reply_later();
  void fulfil(Ticket ticket, std::string_view answer);

  // The requests that are being served, for later.
  [[nodiscard]] std::span<const Request> keep(std::span<const Request> requests, KeptRequests& room);

  // For one of the requests that are being served, or were kept.
  [[nodiscard]] wire::http1::ResponseHead head(unsigned status, const Request& request);

 private:
  static constexpr Duration patience = std::chrono::seconds(10);  // for a request to be whole

  [[nodiscard]] std::size_t read_batch(std::span<char> bytes, bool& more);
  void finish(net::Output& out);
  void release(net::Output& out);
  void wait_for_turn(net::Output& out);

  // An answer that is not due: from where in held_bytes_, until when.
  struct Held {
    static constexpr net::Moment unknown = net::Moment::max();

    std::size_t begin;
    net::Moment due;
    Ticket ticket;
  };

  wire::http1::RequestParser parser_;
  HttpRoom& room_;
  net::Link link_;
  std::vector<Held> held_;
  std::string held_bytes_;
  Ticket last_ticket_ = 0;
  const Request* final_ = nullptr;           // the last of the requests that are being served
  std::optional<wire::http1::Fault> fault_;  // to be answered behind what is held
  std::optional<net::Moment> unfinished_since_;
  bool continue_due_ = false;
  bool last_ = false;  // no request follows
  bool draining_ = false;
};

// What is wrong, as problem details (RFC 9457).
[[nodiscard]] std::string problem_text(unsigned status, std::string_view detail);

// An answer that is no verdict: what is wrong, as problem details; a HEAD gets no body.
void answer_problem(std::string& out, const wire::http1::ResponseHead& head, std::string_view detail,
                    wire::http1::Body body = wire::http1::Body::sent);

}  // namespace weir::door
