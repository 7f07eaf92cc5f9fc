// A protocol served on one event loop. A frontend creates the sessions of its connections and counts their requests.
// The server has a list of frontends per loop and uses only this interface.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counter.h"
#include "net/listener.h"
#include "net/session.h"

namespace weir::frontend {

// The readiness of the server, which all frontends report. Thread-safe.
class Health {
 public:
  [[nodiscard]] bool serving() const noexcept { return state_.load(std::memory_order_relaxed) == State::serving; }
  // False if the server is shutting down.
  void set_serving(bool serving) noexcept {
    state_.store(serving ? State::serving : State::stopping, std::memory_order_relaxed);
  }

  // True if the server is waiting for its store.
  void set_connecting() noexcept { state_.store(State::connecting, std::memory_order_relaxed); }
  // Ends that wait. Has no effect on a server that is shutting down.
  void end_connecting() noexcept {
    State connecting = State::connecting;
    state_.compare_exchange_strong(connecting, State::serving, std::memory_order_relaxed);
  }

  // Explains why the server is not ready.
  [[nodiscard]] std::string_view reason() const noexcept {
    return state_.load(std::memory_order_relaxed) == State::connecting ? "The server is connecting to its store."
                                                                       : "The server is shutting down.";
  }

 private:
  enum class State : std::uint8_t { connecting, serving, stopping };

  std::atomic<State> state_ = State::serving;
};

// The reason for denying a request that could not be read. Proxies may let requests pass when the limiter fails, so
// failures that a client can provoke are denials, not errors.
enum class Unread : std::uint8_t { message_too_long, head_too_long, too_many_descriptors, malformed };

inline constexpr std::array<std::string_view, 4> unread_names{"message_too_long", "head_too_long",
                                                              "too_many_descriptors", "malformed"};

// Counts requests answered without an evaluation. One thread writes, any thread reads.
struct UnevaluatedCounts {
  base::Counter failed;  // answered with an error that a proxy treats as a failure, or abandoned without an answer
  std::array<base::Counter, unread_names.size()> denied;

  [[nodiscard]] base::Counter& of(Unread why) noexcept { return denied[static_cast<std::size_t>(why)]; }
};

// Counts the replies of CL.THROTTLE. One thread writes, any thread reads.
struct ThrottleCounts {
  base::Counter allowed;
  base::Counter limited;
};

class Frontend {
 public:
  Frontend() = default;
  Frontend(const Frontend&) = delete;
  Frontend& operator=(const Frontend&) = delete;
  virtual ~Frontend() = default;

  // Creates the session of a connection on this loop. Sessions must be destroyed before their frontend.
  [[nodiscard]] virtual std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link) = 0;

  [[nodiscard]] virtual net::ConnectionOptions connection_options() const = 0;
  [[nodiscard]] virtual std::vector<std::string> alpn_protocols() const = 0;

  // Counted since startup. Thread-safe.
  [[nodiscard]] virtual std::uint64_t requests() const noexcept = 0;
  // Null for a protocol that proxies do not use.
  [[nodiscard]] virtual const UnevaluatedCounts* unevaluated() const noexcept { return nullptr; }
};

template <class Options>
class FrontendWith : public Frontend {
 public:
  // Applies the options of a reloaded configuration to later requests.
  void change(Options options) { options_ = std::move(options); }

 protected:
  explicit FrontendWith(Options options) : options_(std::move(options)) {}

  Options options_;
};

// Options of a connection that accepts messages of this size.
[[nodiscard]] inline net::ConnectionOptions connection_for(std::size_t max_message_size) {
  net::ConnectionOptions options;
  if (options.input_bound < max_message_size) options.input_bound = max_message_size;
  return options;
}

}  // namespace weir::frontend
