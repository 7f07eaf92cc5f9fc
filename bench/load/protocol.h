// A protocol as one connection of the load speaks it. Requests have numbers, from zero.
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

// No request is sent while one so many numbers before it waits for its answer.
inline constexpr std::size_t max_in_flight_requests = 4096;

// Told of each answer.
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

  // What is sent first: the first request, with all that comes before it.
  [[nodiscard]] virtual std::string opening(Numbers& keys) = 0;

  // The next `count` requests. Good until the next call for any connection.
  [[nodiscard]] virtual std::string_view next(std::size_t count, Numbers& keys) = 0;

  // How many of `wanted` may be sent now, with so many in flight.
  [[nodiscard]] virtual std::size_t may_send(std::size_t wanted, std::size_t /*in_flight*/) const { return wanted; }

  // Whether answers come in any order: then each makes room for a request, and otherwise all that are in flight do.
  [[nodiscard]] virtual bool out_of_order() const { return false; }

  // Reads all whole answers, and says how many bytes are done with. Appends to `out` what the protocol itself has to
  // say to them. Throws WrongAnswer.
  [[nodiscard]] virtual std::size_t read(std::string_view bytes, AnswerSink& sink, std::string& out) = 0;
};

// What is asked, and how an answer is told to be a denial.
struct Question {
  std::string protocol;              // resp, http or grpc
  std::vector<std::string> command;  // of resp: its words
  std::string admitted;              // of resp: the first integer of an answer that admits; of http: a text in its body
  std::string path;                  // of http and grpc
  std::string body;                  // the same; of grpc a message without its frame
  std::string denied;                // of http: a text in the body of one that denies. Or its status is 429
  std::string evaluate = "rls";      // of grpc: rls, gubernator or throttlecrab
};

using MakeProtocol = std::function<std::unique_ptr<Protocol>()>;

// For connections with so many in flight at most. Throws std::invalid_argument.
[[nodiscard]] MakeProtocol resp_protocol(const Question& question, std::size_t pipeline);
[[nodiscard]] MakeProtocol http_protocol(const Question& question, std::size_t pipeline);
[[nodiscard]] MakeProtocol grpc_protocol(const Question& question, std::size_t pipeline);

}  // namespace bench::load
