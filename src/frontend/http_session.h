// The HTTP/1.1 session of the http and admin listeners. All requests of one read are served as one batch, malformed
// requests are rejected as the RFCs require, and responses are sent in the order of their requests.
//
// No input of a client causes a 5xx response or a missing response: a proxy would treat that as a failure of Weir and
// might let the request pass. A rejected request is answered, and the rest of it is read and discarded for a while
// (net/connection.h), so that the response arrives.
//
// A response may be delayed until its turn in a queue, until fulfil() provides it, or, with its whole batch, until the
// store answers. The session reads no input until then.
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

// The Date header, formatted once per second.
class DateText {
 public:
  [[nodiscard]] std::string_view at(Instant now) noexcept;

 private:
  std::chrono::sys_seconds second_{};
  text::HttpDate text_ = text::http_date({});
};

// State shared by the HTTP sessions of one loop. They use its memory in turn, for one batch at a time.
struct HttpLoopState {
  static constexpr std::size_t max_requests = 64;
  static constexpr std::size_t max_headers = 2048;  // in one batch
  // The maximum number of queries in one batch; a single request may have more. Bounds the responses to a client that
  // does not read, since Output::full() is tested only between batches.
  static constexpr std::size_t max_queries = 512;

  std::vector<Header> headers = std::vector<Header>(max_headers);
  std::vector<wire::http1::Request> requests;
  DateText date;
  std::size_t delayed = 0;  // number of delayed responses in all sessions
  base::Counter received;   // number of requests received
  UnevaluatedCounts unevaluated;
};

// The properties of a request that its response needs. The request itself may no longer exist by then.
struct RequestTraits {
  wire::http1::Version version{};
  wire::http1::Body body{};  // whether the response body is sent
  bool is_last = false;      // the last request of its read
};

// A response that does not come from a verdict.
struct HttpAnswer {
  unsigned status = 200;
  std::string body{};
  std::string_view content_type = "application/json";
  Header field{};  // an additional header; none if its name is empty
};

// Creates problem details (answer/problem.h).
[[nodiscard]] HttpAnswer http_problem(unsigned status, std::string_view detail, const Header& field = {});

class HttpSession : public net::Session {
 public:
  HttpSession(const net::Link& link, const wire::http1::Limits& limits, HttpLoopState& shared)
      : link_(link), parser_(limits), shared_(shared) {}
  ~HttpSession() override { shared_.delayed -= delayed_.size(); }

  std::size_t on_input(std::span<char> bytes, net::Output& out) final;
  void on_resume(net::Output& out) final;
  void on_tick(net::SteadyTime now, net::Output& out) final;
  void on_drain(net::Output& out) final;
  [[nodiscard]] bool idle() const final { return delayed_.empty() && !in_flight() && !streams_; }

 protected:
  using Request = wire::http1::Request;

  [[nodiscard]] RequestTraits traits_of(const Request& request) const noexcept;

  // Answers each request, in order, into the buffer returned by reply() or reply_at(). If the store must answer first,
  // in_flight() is true afterwards.
  virtual void serve(std::span<const Request> requests, net::Output& out) = 0;
  // True until the store has answered; until then the output is paused. on_resume() calls answer_done(), possibly
  // before the store has answered.
  [[nodiscard]] virtual bool in_flight() const { return false; }
  virtual void answer_done(net::Output& /*out*/) {}
  // Between begin_stream() and end_stream() the session sends a streaming response and accepts no requests.
  // continue_stream() is called when the link is resumed, and when the server shuts down: then it must end the stream.
  void begin_stream() noexcept { streams_ = true; }
  void end_stream() noexcept { streams_ = false; }
  virtual void continue_stream(net::Output& /*out*/) {}
  [[nodiscard]] bool draining() const noexcept { return draining_; }
  // An upper bound on the number of queries in the request. The size of the response depends on it.
  [[nodiscard]] virtual std::size_t queries_in(const Request& /*request*/) const { return 1; }
  [[nodiscard]] virtual Instant now() const = 0;

  // The buffer for the next response: the output, or the buffer of delayed responses if one is waiting.
  [[nodiscard]] std::string& reply(net::Output& out) { return delayed_.empty() ? out.bytes() : delayed_bytes_; }
  // Delays the response, and all responses after it, until `when`.
  [[nodiscard]] std::string& reply_at(net::SteadyTime when);
  // Delays the response, and all responses after it, until fulfil() provides it. A caller of fulfil() outside serve()
  // and answer_done() must resume the link.
  using Ticket = std::uint64_t;
  [[nodiscard]] Ticket reply_later();
  void fulfil(Ticket ticket, std::string_view answer);

  [[nodiscard]] wire::http1::ResponseHead head(unsigned status, const RequestTraits& traits);
  void write(std::string& out, const RequestTraits& traits, const HttpAnswer& answer, const Header& field = {});

  const net::Link link_;

 private:
  static constexpr Duration timeout = std::chrono::seconds(10);  // for a complete request

  [[nodiscard]] std::size_t read_batch(std::span<char> bytes, bool& more);
  void finish(net::Output& out);
  void release(net::Output& out);
  void wait_for_turn(net::Output& out);

  // A response that is not due yet. It begins at `begin` in delayed_bytes_.
  struct Delayed {
    static constexpr net::SteadyTime unknown = net::SteadyTime::max();

    std::size_t begin;
    net::SteadyTime due;
    Ticket ticket;
  };

  wire::http1::RequestParser parser_;
  HttpLoopState& shared_;
  std::vector<Delayed> delayed_;
  std::string delayed_bytes_;
  Ticket last_ticket_ = 0;
  std::optional<wire::http1::Fault> fault_;  // to be answered after the delayed responses
  std::optional<net::SteadyTime> unfinished_since_;
  bool continue_due_ = false;
  bool last_ = false;  // the connection accepts no further request
  bool draining_ = false;
  bool streams_ = false;
};

// Options for the connections of an HttpSession. Their timeout for incomplete requests is longer than the session's, so
// that the session answers 408 before the connection is closed.
[[nodiscard]] net::ConnectionOptions http_connection_options(const wire::http1::Limits& limits);

}  // namespace weir::frontend
