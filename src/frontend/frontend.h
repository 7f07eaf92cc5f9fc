// A protocol that clients ask in, on one loop: it makes the sessions of its connections and counts what they do. The
// server keeps a list of frontends for each loop, and knows them by this interface alone.
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

// Whether the server is ready for requests: every frontend says the same. Read and written from any thread.
class Health {
 public:
  [[nodiscard]] bool serving() const noexcept { return state_.load(std::memory_order_relaxed) == State::serving; }
  // False: the server is about to stop.
  void set_serving(bool serving) noexcept {
    state_.store(serving ? State::serving : State::stopping, std::memory_order_relaxed);
  }

  // The server waits for its store.
  void set_connecting() noexcept { state_.store(State::connecting, std::memory_order_relaxed); }
  // It does not wait any more. A server that is about to stop stays so.
  void end_connecting() noexcept {
    State connecting = State::connecting;
    state_.compare_exchange_strong(connecting, State::serving, std::memory_order_relaxed);
  }

  // Why it is not ready.
  [[nodiscard]] std::string_view reason() const noexcept {
    return state_.load(std::memory_order_relaxed) == State::connecting ? "The server is connecting to its store."
                                                                       : "The server is about to stop.";
  }

 private:
  enum class State : std::uint8_t { connecting, serving, stopping };

  std::atomic<State> state_ = State::serving;
};

// Why a request was denied without having been read. A proxy may let pass what its limiter fails on, so what a client
// can cause is denied, and not an error.
enum class Unread : std::uint8_t { message_too_long, head_too_long, too_many_descriptors, malformed };

inline constexpr std::array<std::string_view, 4> unread_names{"message_too_long", "head_too_long",
                                                              "too_many_descriptors", "malformed"};

// Requests that were answered without an evaluation. One thread counts, any thread reads.
struct UnevaluatedCounts {
  base::Counter failed;  // answered by an error that a proxy takes for a failure, or given up without an answer
  std::array<base::Counter, unread_names.size()> denied;

  [[nodiscard]] base::Counter& of(Unread why) noexcept { return denied[static_cast<std::size_t>(why)]; }
};

// What CL.THROTTLE has answered. One thread counts, any thread reads.
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

  // A session for a connection of this loop. Sessions are gone before their frontend.
  [[nodiscard]] virtual std::unique_ptr<net::Session> open(const net::Peer& peer, const net::Link& link) = 0;

  // What the listener grants each connection, and which protocols it offers by ALPN.
  [[nodiscard]] virtual net::ConnectionOptions connection_options() const = 0;
  [[nodiscard]] virtual std::vector<std::string> alpn_protocols() const = 0;

  // Since the start; from any thread.
  [[nodiscard]] virtual std::uint64_t requests() const noexcept = 0;
  // Null where no proxy lets requests pass by the answers.
  [[nodiscard]] virtual const UnevaluatedCounts* unevaluated() const noexcept { return nullptr; }
};

// A frontend with options of its own.
template <class Options>
class FrontendWith : public Frontend {
 public:
  // From now on, after a reload.
  void change(Options options) { options_ = std::move(options); }

 protected:
  explicit FrontendWith(Options options) : options_(std::move(options)) {}

  Options options_;
};

// A connection that takes messages of that length.
[[nodiscard]] inline net::ConnectionOptions connection_for(std::size_t max_message_size) {
  net::ConnectionOptions options;
  if (options.input_bound < max_message_size) options.input_bound = max_message_size;
  return options;
}

}  // namespace weir::frontend
