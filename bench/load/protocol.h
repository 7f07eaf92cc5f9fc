// The protocol of one connection of the load. Requests are numbered from zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "load/requests.h"
#include "load/tally.h"

namespace bench::load {

// The maximum distance between a new request and the oldest one in flight.
inline constexpr std::size_t max_in_flight_requests = 4096;

// Notified of each response.
class AnswerSink {
 public:
  virtual void answered(std::uint64_t number, bool admitted) = 0;

 protected:
  ~AnswerSink() = default;
};

class Protocol {
 public:
  Protocol() = default;
  Protocol(const Protocol&) = delete;
  Protocol& operator=(const Protocol&) = delete;
  virtual ~Protocol() = default;

  // The first request with its preamble.
  [[nodiscard]] virtual std::string opening(Numbers& keys) = 0;

  // The next `count` requests. Valid until the next call for any connection.
  [[nodiscard]] virtual std::string_view next(std::size_t count, Numbers& keys) = 0;

  // How many of `wanted` may be sent now, given those in flight.
  [[nodiscard]] virtual std::size_t may_send(std::size_t wanted, std::size_t /*in_flight*/) const { return wanted; }

  // True if responses come in any order: each then allows a new request, otherwise all in flight must complete first.
  [[nodiscard]] virtual bool out_of_order() const { return false; }

  // Reads all complete responses and returns the number of bytes consumed. Appends protocol frames to send to `out`.
  // Throws WrongAnswer.
  [[nodiscard]] virtual std::size_t read(std::string_view bytes, AnswerSink& sink, std::string& out) = 0;
};

// The request, and how to detect a denial.
struct Question {
  std::string protocol;              // resp, http or grpc
  std::vector<std::string> command;  // resp: its words
  std::string admitted;              // resp: the first integer of a reply that admits; http: a text in the body
  std::string path;                  // http and grpc
  std::string body;                  // http and grpc (a message without its frame)
  std::string denied;                // http: a text in the body of a denial, unless its status is 429
  std::string evaluate = "rls";      // grpc: rls, gubernator or throttlecrab
};

using MakeProtocol = std::function<std::unique_ptr<Protocol>()>;

// `pipeline` is the maximum in flight per connection. Throws std::invalid_argument.
[[nodiscard]] MakeProtocol resp_protocol(const Question& question, std::size_t pipeline);
[[nodiscard]] MakeProtocol http_protocol(const Question& question, std::size_t pipeline);
[[nodiscard]] MakeProtocol grpc_protocol(const Question& question, std::size_t pipeline);

}  // namespace bench::load
