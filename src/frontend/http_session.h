// HTTP/1.1 below what is asked in it: all requests of one read are served as one batch, what is malformed is refused
// as the RFCs say, and answers leave in the order of their requests.
//
// Nothing that a client sends is answered by 5xx, or not at all: a proxy that asks whether a request may pass takes
// that for a failure of ours, and may let the request pass. A request that is refused is answered, and what follows of
// it is read and dropped for a while (net/connection.h), so that the answer arrives.
//
// An answer may wait: for its turn in a queue, for whatever is to fulfil it, or with its whole batch for the store.
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

#include "base/counter.h"
#include "frontend/frontend.h"
#include "net/session.h"
#include "text/date.h"
#include "weir/header.h"
#include "weir/time.h"
#include "wire/http1/request.h"
#include "wire/http1/request_parser.h"
#include "wire/http1/response_writer.h"

namespace weir::frontend {

// The Date field, written once a second.
class DateText {
 public:
  [[nodiscard]] std::string_view at(Instant now) noexcept;

 private:
  std::chrono::sys_seconds second_{};
  text::HttpDate text_ = text::http_date({});
};

// What the HTTP sessions of one loop share. The memory is for one batch, and they use it in turn.
struct HttpLoopState {
  static constexpr std::size_t max_requests = 64;
  static constexpr std::size_t max_headers = 2048;  // of one batch together
  // Of one batch together, unless it is one request: full() of the output bounds the answers that wait for a client
  // that does not read, and that is asked between batches.
  static constexpr std::size_t max_queries = 512;

  std::vector<Header> headers = std::vector<Header>(max_headers);
  std::vector<wire::http1::Request> requests;
  DateText date;
  std::size_t held = 0;    // answers that wait, of all sessions
  base::Counter received;  // requests
  UnevaluatedCounts unevaluated;
};

// What an answer has to know of its request, which may be gone by then.
struct RequestTraits {
  wire::http1::Version version{};
  wire::http1::Body body{};  // of the answer
  bool is_last = false;      // of the requests of its read
};

// An answer that is not read from a verdict.
struct HttpAnswer {
  unsigned status = 200;
  std::string body{};
  std::string_view content_type = "application/json";
  Header field{};  // one more header field; without a name: none
};

// Problem details (answer/problem.h).
[[nodiscard]] HttpAnswer http_problem(unsigned status, std::string_view detail, const Header& field = {});

class HttpSession : public net::Session {
 public:
  HttpSession(const net::Link& link, const wire::http1::Limits& limits, HttpLoopState& shared)
      : link_(link), parser_(limits), shared_(shared) {}
  ~HttpSession() override { shared_.held -= held_.size(); }

  std::size_t on_input(std::span<char> bytes, net::Output& out) final;
  void on_resume(net::Output& out) final;
  void on_tick(net::SteadyTime now, net::Output& out) final;
  void on_drain(net::Output& out) final;
  [[nodiscard]] bool idle() const final { return held_.empty() && !in_flight() && !streams_; }

 protected:
  using Request = wire::http1::Request;

  [[nodiscard]] RequestTraits traits_of(const Request& request) const noexcept;

  // Answers each of them, in order, into the buffer that reply() or reply_at() gives; or is in flight then.
  virtual void serve(std::span<const Request> requests, net::Output& out) = 0;
  // The store has yet to answer. Meanwhile the output is paused; on_resume calls answer_done(), perhaps too early.
  [[nodiscard]] virtual bool in_flight() const { return false; }
  virtual void answer_done(net::Output& /*out*/) {}
  // Between these two the session has an answer that goes on, and takes no more requests. continue_stream() is called
  // whenever the link is resumed, and when the server is going away: then it ends the stream.
  void begin_stream() noexcept { streams_ = true; }
  void end_stream() noexcept { streams_ = false; }
  virtual void continue_stream(net::Output& /*out*/) {}
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  // As many queries as the request may have: its answer grows with them.
  [[nodiscard]] virtual std::size_t queries_in(const Request& /*request*/) const { return 1; }
  [[nodiscard]] virtual Instant now() const = 0;

  // Where the next answer is written: with those that are ready, or behind one that is held.
  [[nodiscard]] std::string& reply(net::Output& out) { return held_.empty() ? out.bytes() : held_bytes_; }
  // The answer waits until then, and those behind it wait with it.
  [[nodiscard]] std::string& reply_at(net::SteadyTime when);
  // The answer is not known yet, and those behind it wait with it until fulfil() brings it. Whatever does that later
  // than serve() or answer_done() resumes the link.
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket reply_later();
  void fulfil(Ticket ticket, std::string_view answer);

  [[nodiscard]] wire::http1::ResponseHead head(unsigned status, const RequestTraits& traits);
  void write(std::string& out, const RequestTraits& traits, const HttpAnswer& answer, const Header& field = {});

  const net::Link link_;

 private:
  static constexpr Duration timeout = std::chrono::seconds(10);  // for a request to be whole

  [[nodiscard]] std::size_t read_batch(std::span<char> bytes, bool& more);
  void finish(net::Output& out);
  void release(net::Output& out);
  void wait_for_turn(net::Output& out);

  // An answer that is not due: from where in held_bytes_, until when.
  struct Held {
    static constexpr net::SteadyTime unknown = net::SteadyTime::max();

    std::size_t begin;
    net::SteadyTime due;
    Ticket ticket;
  };

  wire::http1::RequestParser parser_;
  HttpLoopState& shared_;
  std::vector<Held> held_;
  std::string held_bytes_;
  Ticket last_ticket_ = 0;
  std::optional<wire::http1::Fault> fault_;  // to be answered behind what is held
  std::optional<net::SteadyTime> unfinished_since_;
  bool continue_due_ = false;
  bool last_ = false;  // no request follows
  bool draining_ = false;
  bool streams_ = false;
};

// For a connection whose session it is: the session answers a request that does not end before the connection is closed
// for it.
[[nodiscard]] net::ConnectionOptions http_connection_options(const wire::http1::Limits& limits);

}  // namespace weir::frontend
