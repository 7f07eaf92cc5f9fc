// A client on its own loop that records the events of its connection. Used from the thread of the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/loop.h"
#include "net/outgoing.h"
#include "tests/net/server.h"

namespace weir::net {

inline Endpoint endpoint_of(const Address& address) {
  if (address.unix_socket()) return {"", 0, address.host()};
  return {address.host(), address.port(), ""};
}

inline OutgoingOptions leading_to(Endpoint endpoint) {
  OutgoingOptions options;
  options.endpoint = std::move(endpoint);
  return options;
}

class Visitor final : private Outgoing::Owner {
 public:
  explicit Visitor(OutgoingOptions options) {
    auto made = Loops::make(1, 5ms);
    EXPECT_TRUE(made.has_value());
    loops_ = std::move(*made);
    outgoing_ = std::make_unique<Outgoing>((*loops_)[0], std::move(options), static_cast<Outgoing::Owner&>(*this));
    EXPECT_TRUE(loops_->start().has_value());
  }
  explicit Visitor(const Address& address) : Visitor(leading_to(endpoint_of(address))) {}
  ~Visitor() override { destroy(); }

  // Additional work in its callbacks; must be set before it connects.
  std::function<void(Outgoing&)> when_connected = [](Outgoing&) {};
  std::function<void(Outgoing&)> when_bytes = [](Outgoing&) {};
  std::function<void(Outgoing&)> when_lost = [](Outgoing&) {};
  bool consumes = true;

  // Runs `work` on the loop.
  void with(const std::function<void(Outgoing&)>& work) {
    (*loops_)[0].run([&] { work(*outgoing_); });
  }
  void connect() {
    with([](Outgoing& outgoing) { outgoing.connect(); });
  }
  void send(std::string_view bytes) {
    with([&](Outgoing& outgoing) { outgoing.send(bytes); });
  }
  void close() {
    with([](Outgoing& outgoing) { outgoing.close(); });
  }
  void destroy() {
    (*loops_)[0].run([&] { outgoing_ = nullptr; });
  }
  // Must be called from a callback.
  void destroy_here() { outgoing_ = nullptr; }

  [[nodiscard]] bool arrives() {
    connect();
    return eventually([&] { return connections() == 1 || !losses().empty(); }) && connections() == 1;
  }

  // Waits for the loss of the connection.
  [[nodiscard]] std::string loss() {
    if (!eventually([&] { return !losses().empty(); })) return "nothing is lost";
    return losses().front();
  }

  // Sends, and waits for as many bytes.
  [[nodiscard]] std::string ask(std::string_view bytes) {
    send(bytes);
    (void)eventually([&] { return received().size() >= bytes.size() || !losses().empty(); });
    return received();
  }

  [[nodiscard]] int connections() const { return locked(connections_); }
  [[nodiscard]] std::vector<std::string> losses() const { return locked(losses_); }
  [[nodiscard]] std::string received() const { return locked(received_); }

 private:
  void on_connected() override {
    {
      const std::lock_guard lock(mutex_);
      ++connections_;
    }
    when_connected(*outgoing_);
  }
  std::size_t on_bytes(std::span<char> bytes) override {
    const std::size_t consumed = consumes ? bytes.size() : 0;
    {
      const std::lock_guard lock(mutex_);
      received_.append(bytes.data(), consumed);
    }
    when_bytes(*outgoing_);
    return consumed;
  }
  void on_lost(const Error& error) override {
    {
      const std::lock_guard lock(mutex_);
      losses_.push_back(error.message());
    }
    when_lost(*outgoing_);
  }

  template <class T>
  [[nodiscard]] T locked(const T& value) const {
    const std::lock_guard lock(mutex_);
    return value;
  }

  mutable std::mutex mutex_;
  int connections_ = 0;
  std::vector<std::string> losses_;
  std::string received_;
  std::unique_ptr<Loops> loops_;
  std::unique_ptr<Outgoing> outgoing_;
};

}  // namespace weir::net
